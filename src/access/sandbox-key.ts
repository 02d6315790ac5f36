import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '../core/durable-file.ts';
import { MAX_LIVE_KEYS } from './account.ts';
import { LOCAL, makeGrant } from './grant.ts';
import { issueKey, parseKey } from './keys.ts';
import { type Accounts, SANDBOX_EMAIL } from './store.ts';

const FILES = { test: 'sandbox-key', pub: 'sandbox-publishable-key' };
/** The publishable key works for local files and on a developer's machine; it has the limits of any new key. */
const WANTED = {
  origins: LOCAL.map((host) => `http://${host}:*`),
  apps: true,
  operations: [],
  perDay: '',
  perVisitorHour: '',
};
const PLAN = 'developer';
/** Several data directories may share the account. */
const MAX_KEYS = 2 * MAX_LIVE_KEYS;

/**
 * The sandbox's test key or publishable key, the same on every start with the same data directory. These are the only keys
 * stored as text, because they give access only to made-up data.
 */
export async function sandboxKey(
  register: Accounts,
  dataDir: string,
  now: number,
  kind: keyof typeof FILES = 'test',
): Promise<string> {
  const path = join(dataDir, FILES[kind]);
  const storedKey = (await readFile(path, 'utf8').catch(() => '')).trim();
  if (await isValid(register, storedKey)) return storedKey;

  const text = await issue(register, now, kind);
  await makePrivateFolder(dataDir);
  await writeFile(`${path}.new`, `${text}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return text;
}

async function isValid(register: Accounts, text: string): Promise<boolean> {
  const key = parseKey(text);
  if (!key) return false;
  const records = await register.listKeys(key.accountId);
  return records.some(({ hash, revokedAt }) => hash === key.hash && revokedAt === null);
}

/** Each data directory has its own key. If the account has the maximum of keys, the oldest one is revoked. */
async function issue(register: Accounts, now: number, kind: keyof typeof FILES): Promise<string> {
  const account = await register.openAccount({
    email: SANDBOX_EMAIL,
    plan: PLAN,
    createdAt: new Date(now).toISOString(),
  });
  const { grant } = kind === 'pub' ? makeGrant(WANTED, PLAN) : { grant: null };
  const options = { account, kind: 'test', label: 'sandbox', now, maxLive: MAX_KEYS, grant } as const;
  const issued = await issueKey(register, options);
  if (issued) return issued.text;
  const oldest = (await register.listKeys(account.id)).find(({ revokedAt }) => revokedAt === null);
  if (oldest) await register.revokeKey(account.id, oldest.hash, now);
  return issue(register, now, kind);
}
