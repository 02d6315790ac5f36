import { readFile } from 'node:fs/promises';
import { type Account, type KeyRecord, MAX_LIVE_KEYS, normaliseEmail } from '../access/account.ts';
import { utcDayFrom } from '../access/day.ts';
import { issueKey, keyId, parseKey } from '../access/keys.ts';
import { isPlan, PLANS, type Plan } from '../access/plan.ts';
import { type Accounts, STORE_KINDS } from '../access/store.ts';
import { type Backup, exportAccounts, importAccounts, readBackup } from './backup.ts';
import { type Command, getAccount, type Row, UsageError } from './command.ts';
import { RESTRICTION_COMMANDS } from './restriction-commands.ts';

export const USAGE = `npm run keys -- COMMAND

  issue --email ADDRESS [--plan PLAN] [--label TEXT]   create a key; it is shown only this once
  list                                                 list all accounts
  show ACCOUNT                                         show an account and its keys
  revoke KEY                                           revoke a key, given as text or as id (see "show")
  set-plan ACCOUNT PLAN                                change the plan; takes effect everywhere within 10 s
  usage [ACCOUNT]                                      show the requests of today and yesterday (UTC)
  delete ACCOUNT                                       delete an account with its keys and counts
  suspend WHAT [--reason TEXT]                         refuse an account, a mail domain (@DOMAIN) or a network (1.2.3.0/24)
  resume WHAT                                          admit it again
  suspended                                            list what is suspended
  maintenance [on|off] [--minutes N] [--reason TEXT]   refuse all requests with 503
  export --json                                        print a backup of all accounts and keys
  import FILE                                          add what is missing from a backup
  store [real|sandbox]                                 show, or say, whose accounts the store has

ACCOUNT is an e-mail address or an account id. PLAN is ${Object.keys(PLANS).join(', ')}.
--json prints JSON (use npm run --silent to print nothing else).`;

export const COMMANDS: Record<string, Command> = {
  ...RESTRICTION_COMMANDS,

  async issue({ store: accounts, options, operands, now }) {
    const given = options.email ?? operands[0];
    const email = normaliseEmail(given ?? '');
    if (!email) throw new UsageError(given ? `"${given}" is not an e-mail address.` : 'issue needs --email ADDRESS.');
    const plan = options.plan === undefined ? undefined : getPlan(options.plan);
    const account = await accounts.openAccount({ email, plan: plan ?? 'free', createdAt: now.toISOString() });
    if (plan !== undefined && account.plan !== plan) {
      throw new UsageError(`${email} is on the plan ${account.plan}. Change it first: set-plan ${email} ${plan}`);
    }
    const kind = (await accounts.readKind()) === 'sandbox' ? 'test' : 'live';
    const issued = await issueKey(accounts, { account, kind, label: options.label ?? '', now });
    if (!issued) throw new UsageError(`${email} has ${MAX_LIVE_KEYS} valid keys already. Revoke one first.`);
    return {
      json: { key: issued.text, ...keyJson(issued.record), account: accountJson(account) },
      rows: [{ key: issued.text, id: keyId(issued.record), email, plan: account.plan }],
      note: 'The key is shown only this once. It cannot be looked up later.',
    };
  },

  async list({ store: accounts }) {
    const all = await accounts.listAccounts();
    return { json: all.map(accountJson), rows: all.map(accountRow) };
  },

  async show({ store: accounts, operands, options, now }) {
    const account = await getAccount(accounts, operands[0] ?? options.email);
    const keys = await accounts.listKeys(account.id);
    return {
      json: { ...accountJson(account), keys: keys.map(keyJson) },
      rows: keys.map((key) => ({ ...accountRow(account), ...keyRow(key, now) })),
      ...(keys.length === 0 && { note: `${account.email} (${account.id}, ${account.plan}) has no keys.` }),
    };
  },

  async revoke({ store: accounts, operands, now }) {
    const key = await getKey(accounts, operands[0]);
    await accounts.revokeKey(key.accountId, key.hash, now);
    const wasRevoked = key.revokedAt !== null && new Date(key.revokedAt) <= now;
    const revoked = { ...key, revokedAt: wasRevoked ? key.revokedAt : now.toISOString() };
    return { json: keyJson(revoked), rows: [keyRow(revoked, now)], note: 'The key is refused everywhere within 10 s.' };
  },

  async 'set-plan'({ store: accounts, operands, options }) {
    const account = await getAccount(accounts, operands[0] ?? options.email);
    const plan = getPlan(options.plan ?? operands[1]);
    await accounts.setPlan(account.id, plan);
    return { json: accountJson({ ...account, plan }), rows: [accountRow({ ...account, plan })] };
  },

  async usage({ store: accounts, operands, options, now }) {
    const wanted = operands[0] ?? options.email;
    const chosen = wanted === undefined ? await accounts.listAccounts() : [await getAccount(accounts, wanted)];
    const days = [utcDayFrom(now, 0), utcDayFrom(now, -1)];
    const usages = await Promise.all(
      chosen.map(async ({ id, email, plan }) => {
        const [today = 0, yesterday = 0] = await accounts.readUsage(id, days);
        return { id, email, plan, daily_limit: PLANS[plan].dailyLimit, today, yesterday };
      }),
    );
    return { json: usages, rows: usages.map((usage) => ({ ...usage, daily_limit: usage.daily_limit ?? 'unlimited' })) };
  },

  async delete({ store: accounts, operands, options, now }) {
    const account = await getAccount(accounts, operands[0] ?? options.email);
    await accounts.deleteAccount(account.id, now);
    const note = 'The account is deleted, with its keys and counts.';
    return { json: accountJson(account), rows: [accountRow(account)], note };
  },

  async export({ store: accounts, now }) {
    const backup = await exportAccounts(accounts, now);
    const keys = backup.accounts.reduce((sum, account) => sum + account.keys.length, 0);
    const note = 'Use --json > FILE to write the backup itself.';
    return { json: backup, rows: [{ accounts: backup.accounts.length, keys }], note };
  },

  async import({ store: accounts, operands, now }) {
    const { conflicts, ...added } = await importAccounts(accounts, await readBackupFile(operands[0]), now);
    const note = `Not imported, because the address or the id belongs to another account: ${conflicts.join(', ')}`;
    return { json: { ...added, conflicts }, rows: [added], ...(conflicts.length > 0 && { note }) };
  },

  async store({ store: accounts, operands: [wanted] }) {
    const kind = STORE_KINDS.find((candidate) => candidate === wanted);
    if (wanted !== undefined && !kind) throw new UsageError(`The store is of one of ${STORE_KINDS.join(', ')}.`);
    if (kind) await accounts.markKind(kind, { replace: true });
    const found = await accounts.readKind();
    return { json: { store: found }, rows: [{ store: found ?? 'empty' }] };
  },
};

async function readBackupFile(file: string | undefined): Promise<Backup> {
  if (!file) throw new UsageError('import needs the file that "export --json" has written.');
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`The file cannot be read: ${error.message}`);
  });
  try {
    return readBackup(text);
  } catch (error) {
    throw new UsageError(`${file} cannot be imported: ${(error as Error).message}`);
  }
}

function getPlan(text: string | undefined): Plan {
  if (text !== undefined && isPlan(text)) return text;
  throw new UsageError(`The plan must be one of ${Object.keys(PLANS).join(', ')}.`);
}

/** The id of a key begins with the id of its account. */
async function getKey(accounts: Accounts, keyOrId: string | undefined): Promise<KeyRecord> {
  if (!keyOrId) throw new UsageError('Name the key by its text or id.');
  const parsed = parseKey(keyOrId);
  const id = parsed ? keyId(parsed) : keyOrId;
  const keys = await accounts.listKeys(id.split('-', 1)[0] ?? '');
  const key = keys.find((candidate) => keyId(candidate) === id);
  if (!key) throw new UsageError(`There is no key ${id}.`);
  return key;
}

function accountJson({ id, email, plan, createdAt }: Account) {
  return { id, email, plan, daily_limit: PLANS[plan].dailyLimit, created_at: createdAt };
}

function accountRow({ id, email, plan, createdAt }: Account): Row {
  return { account: id, email, plan, created: createdAt.slice(0, 10) };
}

function keyJson(key: KeyRecord) {
  const { label, lastFour, createdAt, revokedAt } = key;
  return { id: keyId(key), label, last_four: lastFour, created_at: createdAt, revoked_at: revokedAt };
}

function keyRow(key: KeyRecord, now: Date): Row {
  return {
    key: keyId(key),
    'last four': key.lastFour,
    label: key.label,
    issued: key.createdAt.slice(0, 10),
    state: keyState(key, now),
  };
}

function keyState({ revokedAt }: KeyRecord, now: Date): string {
  if (revokedAt === null) return 'valid';
  const day = revokedAt.slice(0, 10);
  return new Date(revokedAt) > now ? `valid until ${day} 00:00 UTC` : `revoked ${day}`;
}
