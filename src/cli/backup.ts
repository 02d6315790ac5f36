import { z } from 'zod';
import type { KeyRecord } from '../access/account.ts';
import { utcDayFrom } from '../access/day.ts';
import { grantSchema } from '../access/grant.ts';
import { PLANS, type Plan } from '../access/plan.ts';
import { MAINTENANCE } from '../access/restrictions.ts';
import { type Accounts, DAYS_KEPT, type OperatorRecords } from '../access/store.ts';
import { readRestrictions } from './restriction-commands.ts';

/*
 * Accounts and keys as one JSON document, from any store into any other. Keys are in it as hashes, as they are stored, so
 * it lets nobody in; it does hold addresses. Counts of the days that are kept, suspensions and the ids of deleted accounts
 * are in it too.
 */

const timestamp = z.iso.datetime();
const backupSchema = z.strictObject({
  /** The first version had neither counts nor suspensions nor deleted accounts. */
  format: z.enum(['transit-accounts/1', 'transit-accounts/2']),
  exported_at: timestamp,
  accounts: z.array(
    z.strictObject({
      id: z.string().min(1),
      email: z.string().min(1),
      plan: z.enum(Object.keys(PLANS) as [Plan, ...Plan[]]),
      created_at: timestamp,
      /** Only where the owner has switched them off. */
      quota_mails: z.literal('off').optional(),
      usage: z.record(z.string().regex(/^\d{8}$/), z.int().min(0)).optional(),
      keys: z.array(
        z.strictObject({
          hash: z.string().regex(/^[0-9a-f]{64}$/),
          last_four: z.string().length(4),
          label: z.string(),
          created_at: timestamp,
          revoked_at: timestamp.nullable(),
          /** Only of publishable keys. */
          grant: grantSchema.optional(),
        }),
      ),
    }),
  ),
  suspended: z
    .record(z.string().regex(/^(account|domain|network):/), z.object({ since: timestamp, reason: z.string() }))
    .optional(),
  deleted: z.record(z.string(), timestamp).optional(),
});

export type Backup = z.infer<typeof backupSchema>;
type SavedAccount = Backup['accounts'][number];

export interface ImportResult {
  accounts: number;
  keys: number;
  /** Accounts that were not imported, because their address or id belongs to another account. */
  conflicts: string[];
  /** Accounts that were not imported, because they were deleted. */
  deleted: number;
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

export async function exportAccounts(store: Accounts & OperatorRecords, now: Date): Promise<Backup> {
  const accounts = await store.listAccounts();
  const days = keptDays(now);
  const saved = accounts.map(async ({ id, email, plan, createdAt }) => {
    const [keys, isWanted] = [await store.listKeys(id), await store.wantsQuotaMails(id)];
    const quotaMails = isWanted ? {} : { quota_mails: 'off' as const };
    const counts = await store.readUsage(id, days);
    const used = days.map((day, index) => [day, counts[index] ?? 0] as const).filter(([, count]) => count > 0);
    const usage = used.length > 0 ? { usage: Object.fromEntries(used) } : {};
    return { id, email, plan, created_at: createdAt, ...quotaMails, ...usage, keys: keys.map(saveKey) };
  });
  const { [MAINTENANCE]: _, ...suspended } = await readRestrictions(store);
  return {
    format: 'transit-accounts/2',
    exported_at: now.toISOString(),
    accounts: await Promise.all(saved),
    suspended,
    deleted: await store.readDeleted(),
  };
}

/**
 * Adds what is missing and changes nothing that is there, so it can be repeated after it broke off: an account and a key
 * are each written in one step, and a count is raised to that of the backup. An account that was deleted stays so.
 */
export async function importAccounts(
  store: Accounts & OperatorRecords,
  { accounts, suspended = {}, deleted = {} }: Backup,
  { now, restoresDeleted = false }: { now: Date; restoresDeleted?: boolean },
): Promise<ImportResult> {
  const result: ImportResult = { accounts: 0, keys: 0, conflicts: [], deleted: 0 };
  const present = await readRestrictions(store);
  for (const [name, restriction] of Object.entries(suspended)) {
    if (!present[name]) await store.setRestriction(name, JSON.stringify(restriction));
  }
  for (const [id, at] of Object.entries(deleted)) {
    if (!(await store.findAccount(id))) await store.setDeleted(id, at);
  }
  const deletedHere = await store.readDeleted();
  const days = keptDays(now);
  for (const saved of accounts) {
    if (deletedHere[saved.id] && !restoresDeleted) {
      result.deleted++;
      continue;
    }
    const [byId, byEmail] = [await store.findAccount(saved.id), await store.findAccountByEmail(saved.email)];
    if ((byId && byId.email !== saved.email) || (byEmail && byEmail.id !== saved.id)) {
      result.conflicts.push(saved.email);
      continue;
    }
    if (!byId) {
      const { id, email, plan, created_at: createdAt } = saved;
      await store.openAccount({ id, email, plan, createdAt, wantsQuotaMails: saved.quota_mails !== 'off' });
      if (deletedHere[id]) await store.setDeleted(id, null);
      result.accounts++;
    }
    // Which links were used is not in a backup: those that were sent before work no more.
    await store.useLink(saved.id, now);
    result.keys += await importKeys(store, saved);
    for (const day of days) {
      const count = saved.usage?.[day];
      if (count) await store.raiseUsage(saved.id, day, count);
    }
  }
  return result;
}

/** Today and the days before whose counts are kept. */
function keptDays(now: Date): string[] {
  return Array.from({ length: DAYS_KEPT }, (_, index) => utcDayFrom(now, -index));
}

async function importKeys(store: Accounts, { id: accountId, keys }: SavedAccount): Promise<number> {
  const present = new Set((await store.listKeys(accountId)).map(({ hash }) => hash));
  const missing = keys.filter(({ hash }) => !present.has(hash));
  for (const {
    hash,
    last_four: lastFour,
    label,
    created_at: createdAt,
    revoked_at: revokedAt,
    grant = null,
  } of missing) {
    // However many an account has: the limit is for new keys.
    await store.addKey({ accountId, hash, lastFour, label, createdAt, revokedAt, grant }, Number.MAX_SAFE_INTEGER);
  }
  return missing.length;
}

function saveKey({ hash, lastFour, label, createdAt, revokedAt, grant }: KeyRecord): SavedAccount['keys'][number] {
  const own = { hash, last_four: lastFour, label, created_at: createdAt, revoked_at: revokedAt };
  return grant ? { ...own, grant } : own;
}
