import { type Account, type KeyRecord, MAX_LIVE_KEYS } from './account.ts';
import { generateKey, type KeyKind, parseKey } from './keys.ts';
import type { Register } from './store.ts';

export interface IssuedKey {
  /** The key itself. It is not kept: whoever gets this is the only one to know it. */
  text: string;
  record: KeyRecord;
}

/** A new key of the account, durable when this resolves; null when it has as many valid keys as it may. */
export async function issueKey(
  register: Pick<Register, 'addKey'>,
  options: { account: Pick<Account, 'id'>; kind: KeyKind; label: string; now: Date; maxLive?: number },
): Promise<IssuedKey | null> {
  const { account, kind, label, now, maxLive = MAX_LIVE_KEYS } = options;
  const text = generateKey(kind, account.id);
  const key = parseKey(text);
  if (!key) throw new Error('a generated key is always well-formed');
  const { accountId, hash, lastFour } = key;
  const record = { accountId, hash, lastFour, label, createdAt: now.toISOString() };
  if (!(await register.addKey(record, maxLive))) return null;
  return { text, record: { ...record, revokedAt: null, lastUsedOn: null } };
}
