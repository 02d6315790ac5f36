import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issueKey, parseKey } from './keys.ts';
import { type Accounts, SANDBOX_EMAIL } from './store.ts';

const FILE = 'sandbox-key';

type SandboxRegister = Pick<Accounts, 'openAccount' | 'addKey' | 'listKeys' | 'revokeKey'>;

/**
 * The test key of the sandbox, the same on every start with the same data directory. It is the only key that is stored
 * as text, because it gives access to made-up data only.
 */
export async function sandboxKey(register: SandboxRegister, dataDir: string, now: Date): Promise<string> {
  const path = join(dataDir, FILE);
  const kept = (await readFile(path, 'utf8').catch(() => '')).trim();
  if (await isValid(register, kept)) return kept;

  const text = await issueTestKey(register, now);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, `${text}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return text;
}

async function isValid(register: SandboxRegister, text: string): Promise<boolean> {
  const key = parseKey(text);
  if (!key) return false;
  const records = await register.listKeys(key.accountId);
  return records.some(({ hash, revokedAt }) => hash === key.hash && revokedAt === null);
}

/** Each data directory has a key of its own. When an account has as many as it may, the oldest key is revoked. */
async function issueTestKey(register: SandboxRegister, now: Date): Promise<string> {
  const account = await register.openAccount({ email: SANDBOX_EMAIL, plan: 'developer', createdAt: now.toISOString() });
  const wanted = { account, kind: 'test', label: 'sandbox', now } as const;
  const issued = await issueKey(register, wanted);
  if (issued) return issued.text;
  const oldest = (await register.listKeys(account.id)).find(({ revokedAt }) => revokedAt === null);
  if (oldest) await register.revokeKey(account.id, oldest.hash, now);
  return issueTestKey(register, now);
}
