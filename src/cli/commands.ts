import { type Account, isValid, type KeyRecord, MAX_LIVE_KEYS, normaliseEmail } from '../access/account.ts';
import { type Grant, makeGrant } from '../access/grant.ts';
import { issueKey, keyId, parseKey } from '../access/keys.ts';
import { isPlan, PLANS, type PlanName } from '../access/plan.ts';
import { type Accounts, DAYS_KEPT } from '../access/store.ts';
import { BACKUP_COMMANDS } from './backup.ts';
import {
  type Command,
  type CommandInput,
  getAccount,
  getWholeNumber,
  listDays,
  type TableRow,
  UNPRINTABLE,
  UsageError,
} from './command.ts';
import { RESTRICTION_COMMANDS } from './restriction-commands.ts';

export const USAGE = `npm run keys -- COMMAND

  issue --email ADDRESS [--plan PLAN] [--label TEXT]   create a key; it is shown only this once
    --publishable --origin ORIGIN …                    … that anyone may read: for pages of these web origins
    [--apps] [--operation PATH …]                      … also for requests without an origin; for these operations only
    [--per-day N] [--per-visitor N]                    … its requests a day, and those of one visitor an hour
  list [ACCOUNT]                                       list all accounts, or the keys of one
  search TEXT                                          list accounts with that part of an address
  revoke KEY … | ACCOUNT                               revoke keys, given as text or as id (see "list ACCOUNT"), or all of an account
  plan ACCOUNT PLAN                                    change the plan; takes effect everywhere within 10 s
  usage [ACCOUNT] [--days N]                           show the requests of today and yesterday (UTC), most first,
                                                       or of each of N days
  suspend [WHAT] [--reason TEXT] [--lift]              refuse an account, a mail domain (@DOMAIN) or a network (1.2.3.0/24),
                                                       or admit it again; without WHAT, list what is suspended
  delete ACCOUNT                                       delete an account with its keys and counts
  backup [FOLDER] [--keep N]                           write a backup, try to restore it, keep the newest N (30);
                                                       without a folder print it, with --json
  restore FILE [--restore-deleted]                     add what is missing from a backup

ACCOUNT is an email address or an account id. PLAN is ${Object.keys(PLANS).join(', ')}.
--json prints JSON, --csv a table for spreadsheets (use npm run --silent to print nothing else).`;

export const COMMANDS: Record<string, Command> = {
  ...RESTRICTION_COMMANDS,
  ...BACKUP_COMMANDS,

  async issue({ store, options, now }) {
    const { email: address } = options;
    const email = normaliseEmail(address ?? '');
    if (!email)
      throw new UsageError(address ? `"${address}" is not an email address.` : 'issue needs --email ADDRESS.');
    const { label = '' } = options;
    if (UNPRINTABLE.test(label)) throw new UsageError('The label must have no control characters.');
    const plan = options.plan === undefined ? undefined : getPlan(options.plan);
    const account = await store.openAccount({ email, plan: plan ?? 'free', createdAt: new Date(now).toISOString() });
    if (plan !== undefined && account.plan !== plan) {
      throw new UsageError(`${email} is on the plan ${account.plan}. Change it first: plan ${email} ${plan}`);
    }
    const kind = (await store.loadKind()) === 'sandbox' ? 'test' : 'live';
    const grant = parseGrantOptions(options, account.plan);
    const issued = await issueKey(store, { account, kind, label, now, grant });
    if (!issued) throw new UsageError(`${email} has ${MAX_LIVE_KEYS} valid keys already. Revoke one first.`);
    return {
      json: { key: issued.text, ...keyJson(issued.record), account: accountJson(account) },
      rows: [{ key: issued.text, id: keyId(issued.record), email, plan: account.plan }],
      note: 'The key is shown only this once. It cannot be looked up later.',
    };
  },

  async list({ store, operands: [addressOrId], now }) {
    if (addressOrId === undefined) {
      const all = await store.listAccounts();
      return { json: all.map(accountJson), rows: all.map(accountRow) };
    }
    const account = await getAccount(store, addressOrId);
    const keys = await store.listKeys(account.id);
    return {
      json: { ...accountJson(account), keys: keys.map(keyJson) },
      rows: keys.map((key) => ({ ...accountRow(account), ...keyRow(key, now) })),
      note: keys.length === 0 ? `${account.email} (${account.id}, ${account.plan}) has no keys.` : '',
    };
  },

  async search({ store, operands: [part] }) {
    if (!part) throw new UsageError('search needs a part of an address.');
    const all = await store.listAccounts();
    const matches = all.filter(({ email }) => email.includes(part.toLowerCase()));
    return { json: matches.map(accountJson), rows: matches.map(accountRow) };
  },

  async revoke({ store, operands, now }) {
    const keys = await getKeys(store, operands, now);
    for (const { accountId, hash } of keys) await store.revokeKey(accountId, hash, now);
    const revoked = keys.map((key) => ({
      ...key,
      revokedAt: isValid(key, now) ? new Date(now).toISOString() : key.revokedAt,
    }));
    return { json: revoked.map(keyJson), rows: revoked.map((key) => keyRow(key, now)), note: REFUSED };
  },

  async plan({ store, operands: [addressOrId, name] }) {
    const account = await getAccount(store, addressOrId);
    const plan = getPlan(name);
    await store.setPlan(account.id, plan);
    return { json: accountJson({ ...account, plan }), rows: [accountRow({ ...account, plan })] };
  },

  async usage({ store, operands, options, now }) {
    const [addressOrId] = operands;
    const accounts = addressOrId === undefined ? await store.listAccounts() : [await getAccount(store, addressOrId)];
    const days = getWholeNumber('--days', options.days, { min: 1, max: DAYS_KEPT });
    if (days) return usageByDay(store, accounts, { many: days, now });
    const usages = await usageOf(store, accounts, now);
    return { json: usages, rows: usages.map((usage) => ({ ...usage, daily_limit: usage.daily_limit ?? 'unlimited' })) };
  },

  async delete({ store, operands: [addressOrId], now }) {
    const account = await getAccount(store, addressOrId);
    await store.deleteAccount(account.id, now);
    await store.setRestriction(`account:${account.id}`, null);
    const note =
      'The account is deleted, with its keys and counts. No backup brings it back, unless --restore-deleted is set.';
    return { json: accountJson(account), rows: [accountRow(account)], note };
  },
};

/** Option names by grant field. */
const GRANT_OPTIONS = {
  origins: 'origin',
  apps: 'apps',
  operations: 'operation',
  perDay: 'per-day',
  perVisitorHour: 'per-visitor',
} as const;

/** Returns the grant of a new publishable key; null for a secret key. */
function parseGrantOptions(options: CommandInput['options'], plan: PlanName): Grant | null {
  const { origin = [], apps = false, operation = [], 'per-day': perDay = '', 'per-visitor': perVisitor = '' } = options;
  if (!options.publishable) {
    if (Object.values(GRANT_OPTIONS).some((name) => options[name]))
      throw new UsageError('--origin, --apps, --operation, --per-day and --per-visitor need --publishable.');
    return null;
  }
  const choices = { origins: origin, apps, operations: operation, perDay, perVisitorHour: perVisitor };
  const { grant, problems } = makeGrant(choices, plan);
  if (grant) return grant;
  const lines = Object.entries(problems).map(([name, text]) => [GRANT_OPTIONS[name as keyof typeof choices], text]);
  throw new UsageError(lines.map(([option, text]) => `--${option}: ${text}`).join('\n'));
}

const REFUSED = 'Refused everywhere within 10 s.';

/** The usage of each account, those with most requests today first. */
async function usageOf(store: Accounts, accounts: Account[], now: number) {
  const days = listDays(now, 2);
  const usages = await Promise.all(
    accounts.map(async ({ id, email, plan }) => {
      const [today = 0, yesterday = 0] = await store.loadUsage(id, days);
      return { id, email, plan, daily_limit: PLANS[plan].dailyLimit, today, yesterday };
    }),
  );
  return usages.sort((a, b) => b.today - a.today);
}

async function usageByDay(store: Accounts, accounts: Account[], { many, now }: { many: number; now: number }) {
  const days = listDays(now, many);
  const used = await Promise.all(accounts.map(({ id }) => store.loadUsage(id, days)));
  const rows = accounts.flatMap(({ id, email, plan }, place) =>
    days
      .map((day, index) => ({
        id,
        email,
        plan,
        day: day.replace(/(....)(..)(..)/, '$1-$2-$3'),
        requests: used[place]?.[index] ?? 0,
      }))
      .filter(({ requests }) => requests > 0),
  );
  return { json: rows, rows };
}

function getPlan(text: string | undefined): PlanName {
  if (text !== undefined && isPlan(text)) return text;
  throw new UsageError(`The plan must be one of ${Object.keys(PLANS).join(', ')}.`);
}

/** Finds keys by text or ID, or all valid keys of an account. A key's ID starts with its account's ID. */
async function getKeys(accounts: Accounts, operands: readonly string[], now: number): Promise<KeyRecord[]> {
  const [first] = operands;
  if (!first) throw new UsageError('Name the keys by their texts or ids, or an account by its address or id.');
  if (first.includes('@') || !/[-_]/.test(first)) {
    const { id } = await getAccount(accounts, first);
    return (await accounts.listKeys(id)).filter((key) => isValid(key, now));
  }
  return Promise.all(
    operands.map(async (keyOrId) => {
      const parsed = parseKey(keyOrId);
      const id = parsed ? keyId(parsed) : keyOrId;
      const keys = await accounts.listKeys(id.split('-', 1)[0] ?? '');
      const key = keys.find((candidate) => keyId(candidate) === id);
      if (!key) throw new UsageError(`There is no key ${id}.`);
      return key;
    }),
  );
}

function accountJson({ id, email, plan, createdAt }: Account) {
  return { id, email, plan, daily_limit: PLANS[plan].dailyLimit, created_at: createdAt };
}

function accountRow({ id, email, plan, createdAt }: Account): TableRow {
  return { account: id, email, plan, created: createdAt.slice(0, 10) };
}

function keyJson(key: KeyRecord) {
  const { label, lastFour, createdAt, revokedAt, grant } = key;
  const facts = { id: keyId(key), label, last_four: lastFour, created_at: createdAt, revoked_at: revokedAt };
  return grant ? { ...facts, publishable: grantJson(grant) } : facts;
}

function grantJson({ origins, apps, operations, perDay, perVisitorHour }: Grant) {
  return { origins, apps, operations: operations ?? 'all', per_day: perDay, per_visitor_hour: perVisitorHour };
}

function keyRow(key: KeyRecord, now: number): TableRow {
  return {
    key: keyId(key),
    'last four': key.lastFour,
    label: key.label,
    issued: key.createdAt.slice(0, 10),
    state: keyState(key, now),
    for: key.grant ? [...(key.grant.origins ?? []), ...(key.grant.apps ? ['apps'] : [])].join(' ') : 'secret',
  };
}

function keyState({ revokedAt }: KeyRecord, now: number): string {
  if (revokedAt === null) return 'valid';
  const [day, time = ''] = revokedAt.split('T');
  return Date.parse(revokedAt) > now ? `valid until ${day} ${time.slice(0, 5)} UTC` : `revoked ${day}`;
}
