import { z } from 'zod';
import type { KeyRecord } from '../access/account.ts';
import { PLANS, type Plan } from '../access/plan.ts';
import type { Accounts } from '../access/store.ts';

/*
 * Accounts and keys as one JSON document, from any store into any other. Keys are in it as hashes, as they are stored, so
 * it lets nobody in; it does hold addresses. Counts are not in it: a restored account begins its day anew.
 */

const timestamp = z.iso.datetime();
const backupSchema = z.strictObject({
  format: z.literal('transit-accounts/1'),
  exported_at: timestamp,
  accounts: z.array(
    z.strictObject({
      id: z.string().min(1),
      email: z.string().min(1),
      plan: z.enum(Object.keys(PLANS) as [Plan, ...Plan[]]),
      created_at: timestamp,
      /** Only where the owner has switched them off. */
      quota_mails: z.literal('off').optional(),
      keys: z.array(
        z.strictObject({
          hash: z.string().regex(/^[0-9a-f]{64}$/),
          last_four: z.string().length(4),
          label: z.string(),
          created_at: timestamp,
          revoked_at: timestamp.nullable(),
        }),
      ),
    }),
  ),
});

export type Backup = z.infer<typeof backupSchema>;
type SavedAccount = Backup['accounts'][number];

export interface ImportResult {
  accounts: number;
  keys: number;
  /** Accounts that were not imported, because their address or id belongs to another account. */
  conflicts: string[];
}

/** Throws an `Error` with a message for the operator when the text is not a backup. */
export function readBackup(text: string): Backup {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('it is not JSON.');
  }
  const read = backupSchema.safeParse(json);
  if (!read.success) throw new Error(`it is not a backup of accounts.\n${z.prettifyError(read.error)}`);
  return read.data;
}

export async function exportAccounts(store: Accounts, now: Date): Promise<Backup> {
  const accounts = await store.listAccounts();
  const saved = accounts.map(async ({ id, email, plan, createdAt }) => {
    const [keys, isWanted] = [await store.listKeys(id), await store.wantsQuotaMails(id)];
    const quotaMails = isWanted ? {} : { quota_mails: 'off' as const };
    return { id, email, plan, created_at: createdAt, ...quotaMails, keys: keys.map(saveKey) };
  });
  return { format: 'transit-accounts/1', exported_at: now.toISOString(), accounts: await Promise.all(saved) };
}

/**
 * Adds what is missing and changes nothing that is there, so it can be repeated after it broke off: an account and a key
 * are each written in one step.
 */
export async function importAccounts(store: Accounts, { accounts }: Backup, now: Date): Promise<ImportResult> {
  const result: ImportResult = { accounts: 0, keys: 0, conflicts: [] };
  for (const saved of accounts) {
    const [byId, byEmail] = [await store.findAccount(saved.id), await store.findAccountByEmail(saved.email)];
    if ((byId && byId.email !== saved.email) || (byEmail && byEmail.id !== saved.id)) {
      result.conflicts.push(saved.email);
      continue;
    }
    if (!byId) {
      const { id, email, plan, created_at: createdAt } = saved;
      await store.openAccount({ id, email, plan, createdAt, wantsQuotaMails: saved.quota_mails !== 'off' });
      result.accounts++;
    }
    // Which links were used is not in a backup: those that were sent before work no more.
    await store.useLink(saved.id, now);
    result.keys += await importKeys(store, saved);
  }
  return result;
}

async function importKeys(store: Accounts, { id: accountId, keys }: SavedAccount): Promise<number> {
  const present = new Set((await store.listKeys(accountId)).map(({ hash }) => hash));
  const missing = keys.filter(({ hash }) => !present.has(hash));
  for (const { hash, last_four: lastFour, label, created_at: createdAt, revoked_at: revokedAt } of missing) {
    // However many an account has: the limit is for new keys.
    await store.addKey({ accountId, hash, lastFour, label, createdAt, revokedAt }, Number.MAX_SAFE_INTEGER);
  }
  return missing.length;
}

function saveKey({ hash, lastFour, label, createdAt, revokedAt }: KeyRecord): SavedAccount['keys'][number] {
  return { hash, last_four: lastFour, label, created_at: createdAt, revoked_at: revokedAt };
}
