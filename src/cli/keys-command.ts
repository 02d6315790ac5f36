import { readFile } from 'node:fs/promises';
import type { ParseArgsConfig } from 'node:util';
import { type Account, type KeyRecord, MAX_LIVE_KEYS, normaliseEmail } from '../access/account.ts';
import { utcDayFrom } from '../access/day.ts';
import { issueKey } from '../access/issue.ts';
import { keyId, parseKey } from '../access/keys.ts';
import { isPlan, PLANS, type Plan } from '../access/plan.ts';
import type { Register } from '../access/store.ts';
import { exportAccounts, importAccounts, readBackup } from './backup.ts';

export const USAGE = `npm run keys -- COMMAND

  issue --email ADDRESS [--plan PLAN] [--label TEXT]   a new key, shown this once
  list                                                 all accounts
  show ACCOUNT                                         an account and its keys
  revoke KEY                                           a key, or its id as "show" tells it
  set-plan ACCOUNT PLAN                                in force everywhere within 10 s
  usage [ACCOUNT]                                      requests of today and yesterday (UTC)
  delete ACCOUNT                                       an account with all that is known of it
  export --json                                        all accounts and keys, for a backup
  import FILE                                          adds what is missing from a backup

ACCOUNT is an e-mail address or an account id. PLAN is ${Object.keys(PLANS).join(', ')}.
--json prints JSON (with npm run --silent, and nothing else).`;

export const OPTIONS = {
  email: { type: 'string' },
  plan: { type: 'string' },
  label: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options'];

/** The command line is not one that can be carried out; the message is for who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Request {
  store: Register;
  /** What follows the command. */
  subject: string | undefined;
  /** What follows that. */
  argument: string | undefined;
  values: { email?: string; plan?: string; label?: string };
  now: Date;
}

interface Answer {
  json: unknown;
  rows: Record<string, string | number>[];
  note?: string;
}

export const COMMANDS: Record<string, (request: Request) => Promise<Answer>> = {
  async issue({ store, values, subject, now }) {
    const email = normaliseEmail(values.email ?? subject ?? '');
    if (!email) throw new UsageError('issue needs --email ADDRESS.');
    const plan = values.plan === undefined ? undefined : readPlan(values.plan);
    const account = await store.openAccount({ email, plan: plan ?? 'free', createdAt: now.toISOString() });
    if (plan !== undefined && account.plan !== plan) {
      throw new UsageError(`${email} is on the plan ${account.plan}. Change it first: set-plan ${email} ${plan}`);
    }
    const issued = await issueKey(store, { account, kind: 'live', label: values.label ?? '', now });
    if (!issued) throw new UsageError(`${email} has ${MAX_LIVE_KEYS} valid keys already. Revoke one first.`);
    return {
      json: { key: issued.text, ...keyJson(issued.record), account: accountJson(account) },
      rows: [{ key: issued.text, id: keyId(issued.record), email, plan: account.plan }],
      note: 'The key is shown this once and cannot be looked up.',
    };
  },

  async list({ store }) {
    const accounts = await store.listAccounts();
    return { json: accounts.map(accountJson), rows: accounts.map(accountRow) };
  },

  async show({ store, subject, values }) {
    const account = await getAccount(store, subject ?? values.email);
    const keys = await store.listKeys(account.id);
    return {
      json: { ...accountJson(account), keys: keys.map(keyJson) },
      rows: keys.map((key) => ({ ...accountRow(account), ...keyRow(key) })),
      ...(keys.length === 0 && { note: `${account.email} (${account.id}, ${account.plan}) has no keys.` }),
    };
  },

  async revoke({ store, subject, now }) {
    const key = await getKey(store, subject);
    await store.revokeKey(key.accountId, key.hash, now);
    const revoked = { ...key, revokedAt: key.revokedAt ?? now.toISOString() };
    return { json: keyJson(revoked), rows: [keyRow(revoked)], note: 'It is refused everywhere within 10 s.' };
  },

  async 'set-plan'({ store, subject, argument, values }) {
    const account = await getAccount(store, subject ?? values.email);
    const plan = readPlan(values.plan ?? argument);
    await store.setPlan(account.id, plan);
    return { json: accountJson({ ...account, plan }), rows: [accountRow({ ...account, plan })] };
  },

  async usage({ store, subject, values, now }) {
    const who = subject ?? values.email;
    const accounts = who === undefined ? await store.listAccounts() : [await getAccount(store, who)];
    const days = [utcDayFrom(now, 0), utcDayFrom(now, -1)];
    const usages = await Promise.all(
      accounts.map(async ({ id, email, plan }) => {
        const [today = 0, yesterday = 0] = await store.readUsage(id, days);
        return { id, email, plan, daily_limit: PLANS[plan].dailyLimit, today, yesterday };
      }),
    );
    return { json: usages, rows: usages.map((usage) => ({ ...usage, daily_limit: usage.daily_limit ?? 'unlimited' })) };
  },

  async delete({ store, subject, values, now }) {
    const account = await getAccount(store, subject ?? values.email);
    await store.deleteAccount(account.id, now);
    return { json: accountJson(account), rows: [accountRow(account)], note: 'Deleted, with its keys and counts.' };
  },

  async export({ store, now }) {
    const backup = await exportAccounts(store, now);
    const keys = backup.accounts.reduce((sum, account) => sum + account.keys.length, 0);
    return {
      json: backup,
      rows: [{ accounts: backup.accounts.length, keys }],
      note: 'The backup itself: --json > FILE',
    };
  },

  async import({ store, subject }) {
    if (!subject) throw new UsageError('Import what? Give the file that export --json has written.');
    const text = await readFile(subject, 'utf8').catch((error: Error) => {
      throw new UsageError(`The file cannot be read: ${error.message}`);
    });
    const { conflicts, ...added } = await importAccounts(store, toBackup(text, subject));
    const note = `Not imported, because the address or the id belongs to another account: ${conflicts.join(', ')}`;
    return { json: { ...added, conflicts }, rows: [added], ...(conflicts.length > 0 && { note }) };
  },
};

function toBackup(text: string, file: string) {
  try {
    return readBackup(text);
  } catch (error) {
    throw new UsageError(`${file} cannot be imported: ${(error as Error).message}`);
  }
}

function readPlan(text: string | undefined): Plan {
  if (text !== undefined && isPlan(text)) return text;
  throw new UsageError(`The plan must be one of ${Object.keys(PLANS).join(', ')}.`);
}

async function getAccount(store: Register, who: string | undefined): Promise<Account> {
  if (!who) throw new UsageError('Which account? Give its e-mail address or id.');
  const email = normaliseEmail(who);
  const account = email ? await store.findAccountByEmail(email) : await store.findAccount(who);
  if (!account) throw new UsageError(`There is no account ${who}.`);
  return account;
}

/** By the key itself or by its id, which begins with the account's. */
async function getKey(store: Register, which: string | undefined): Promise<KeyRecord> {
  if (!which) throw new UsageError('Which key? Give the key or its id.');
  const id = idOf(which);
  const keys = await store.listKeys(id.split('-', 1)[0] ?? '');
  const key = keys.find((candidate) => keyId(candidate) === id);
  if (!key) throw new UsageError(`There is no key ${id}.`);
  return key;
}

function idOf(which: string): string {
  const key = parseKey(which);
  return key ? keyId(key) : which;
}

function accountJson({ id, email, plan, createdAt }: Account) {
  return { id, email, plan, daily_limit: PLANS[plan].dailyLimit, created_at: createdAt };
}

function accountRow({ id, email, plan, createdAt }: Account) {
  return { account: id, email, plan, created: createdAt.slice(0, 10) };
}

function keyJson(key: KeyRecord) {
  const { label, lastFour, createdAt, revokedAt } = key;
  return { id: keyId(key), label, last_four: lastFour, created_at: createdAt, revoked_at: revokedAt };
}

function keyRow(key: KeyRecord) {
  return {
    key: keyId(key),
    'last four': key.lastFour,
    label: key.label,
    issued: key.createdAt.slice(0, 10),
    state: key.revokedAt ? `revoked ${key.revokedAt.slice(0, 10)}` : 'valid',
  };
}
