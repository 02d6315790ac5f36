import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type KeyRecord, normaliseEmail } from '../access/account.ts';
import { grantSchema } from '../access/grant.ts';
import { PLANS, type PlanName } from '../access/plan.ts';
import type { Accounts, OperatorRecords } from '../access/store.ts';
import { openEmbeddedStore } from '../access/stores/open-store.ts';
import { type Command, getWholeNumber, listDays, loadText, UNPRINTABLE, UsageError } from './command.ts';
import { loadRestrictions } from './restriction-commands.ts';

/*
 * Backs up accounts and keys as one JSON document, and restores it into a store. Keys are only hashes, so a backup gives nobody
 * access, but it contains email addresses. It also has daily counts, suspensions and IDs of deleted accounts.
 */

const timestamp = z.iso.datetime();
const printable = z.string().refine((text) => !UNPRINTABLE.test(text), 'must have no control characters');
const accountId = z.string().regex(/^[0-9A-Za-z]{8}$/);
const backupSchema = z.strictObject({
  /** The first version had neither counts nor suspensions nor deleted accounts. */
  format: z.enum(['transit-accounts/1', 'transit-accounts/2']),
  exported_at: timestamp,
  accounts: z.array(
    z.strictObject({
      id: accountId,
      email: z.string().refine((text) => normaliseEmail(text) === text, 'must be an email address'),
      plan: z.enum(Object.keys(PLANS) as [PlanName, ...PlanName[]]),
      created_at: timestamp,
      /** Present only if the owner has switched quota mails off. */
      quota_mails: z.literal('off').optional(),
      usage: z.record(z.string().regex(/^\d{8}$/), z.int().min(0)).optional(),
      keys: z.array(
        z.strictObject({
          hash: z.string().regex(/^[0-9a-f]{64}$/),
          last_four: z.string().regex(/^[0-9A-Za-z]{4}$/),
          label: printable,
          created_at: timestamp,
          revoked_at: timestamp.nullable(),
          /** Present only for publishable keys. */
          grant: grantSchema
            .extend({ origins: z.array(printable).optional(), operations: z.array(printable).optional() })
            .optional(),
        }),
      ),
    }),
  ),
  suspended: z
    .record(printable.regex(/^(account|domain|network):/), z.object({ since: timestamp, reason: printable }))
    .optional(),
  deleted: z.record(accountId, timestamp).optional(),
});

type Backup = z.infer<typeof backupSchema>;
type SavedAccount = Backup['accounts'][number];

/** Parses a backup. Throws an `Error` with a message for the operator if it is invalid. */
function parseBackup(text: string): Backup {
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

export async function exportAccounts(store: Accounts & OperatorRecords, now: number): Promise<Backup> {
  const accounts = await store.listAccounts();
  const days = listDays(now);
  const saved = accounts.map(async ({ id, email, plan, createdAt }) => {
    const [keys, isWanted] = [await store.listKeys(id), await store.wantsQuotaMails(id)];
    const quotaMails = isWanted ? {} : { quota_mails: 'off' as const };
    const counts = await store.loadUsage(id, days);
    const used = days.map((day, index) => [day, counts[index] ?? 0] as const).filter(([, count]) => count > 0);
    const usage = used.length > 0 ? { usage: Object.fromEntries(used) } : {};
    return { id, email, plan, created_at: createdAt, ...quotaMails, ...usage, keys: keys.map(saveKey) };
  });
  return {
    format: 'transit-accounts/2',
    exported_at: new Date(now).toISOString(),
    accounts: await Promise.all(saved),
    suspended: Object.fromEntries(await loadRestrictions(store)),
    deleted: await store.loadDeleted(),
  };
}

/**
 * Adds missing accounts and keys without changing existing ones, so it can be repeated after an interruption. Accounts and keys
 * are each written in one step, and counts are raised to the backup's. Deleted accounts stay deleted.
 */
export async function importAccounts(
  store: Accounts & OperatorRecords,
  { accounts, suspended = {}, deleted = {} }: Backup,
  { now, restoresDeleted = false }: { now: number; restoresDeleted?: boolean },
) {
  const result = {
    accounts: 0,
    keys: 0,
    /** Accounts that were not imported, because their address or id belongs to another account. */
    conflicts: [] as string[],
    /** Accounts that were not imported, because they were deleted. */
    deleted: 0,
  };
  const present = await loadRestrictions(store);
  for (const [name, restriction] of Object.entries(suspended)) {
    if (!present.has(name)) await store.setRestriction(name, JSON.stringify(restriction));
  }
  for (const [id, at] of Object.entries(deleted)) {
    if (!(await store.loadAccount(id))) await store.setDeleted(id, at);
  }
  const deletedHere = new Set(Object.keys(await store.loadDeleted()));
  const days = listDays(now);
  for (const saved of accounts) {
    if (deletedHere.has(saved.id) && !restoresDeleted) {
      result.deleted++;
      continue;
    }
    const [byId, byEmail] = [await store.loadAccount(saved.id), await store.loadAccountByEmail(saved.email)];
    if ((byId && byId.email !== saved.email) || (byEmail && byEmail.id !== saved.id)) {
      result.conflicts.push(saved.email);
      continue;
    }
    if (!byId) {
      const { id, email, plan, created_at: createdAt } = saved;
      await store.openAccount({ id, email, plan, createdAt, wantsQuotaMails: saved.quota_mails !== 'off' });
      if (deletedHere.has(id)) await store.setDeleted(id, null);
      result.accounts++;
    }
    // A backup does not record used links, so links sent before it are disabled.
    await store.useLink(saved.id, now);
    result.keys += await importKeys(store, saved);
    for (const day of days) {
      const count = saved.usage?.[day];
      if (count) await store.raiseUsage(saved.id, day, count);
    }
  }
  return result;
}

async function importKeys(store: Accounts, { id: accountId, keys }: SavedAccount): Promise<number> {
  const present = new Set((await store.listKeys(accountId)).map(({ hash }) => hash));
  const missing = keys.filter(({ hash }) => !present.has(hash));
  for (const { hash, label, grant = null, ...key } of missing) {
    const { last_four: lastFour, created_at: createdAt, revoked_at: revokedAt } = key;
    // An account may have any number of restored keys: `MAX_LIVE_KEYS` applies only to new ones.
    await store.addKey({ accountId, hash, lastFour, label, createdAt, revokedAt, grant }, Number.MAX_SAFE_INTEGER);
  }
  return missing.length;
}

function saveKey({ hash, lastFour, label, createdAt, revokedAt, grant }: KeyRecord): SavedAccount['keys'][number] {
  const facts = { hash, last_four: lastFour, label, created_at: createdAt, revoked_at: revokedAt };
  return grant ? { ...facts, grant } : facts;
}

const KEPT = 30;
/** Names of backups. Their alphabetical order is their order in time. */
const NAME = /^accounts-[\dTZ-]+\.json$/;

export const BACKUP_COMMANDS: Record<string, Command> = {
  async restore({ store, operands, options, now }) {
    const backup = await loadBackupFile(operands[0]);
    const restoresDeleted = options['restore-deleted'] ?? false;
    const { conflicts, ...added } = await importAccounts(store, backup, { now, restoresDeleted });
    const notes = [
      conflicts.length > 0 &&
        `Not restored, because the address or the id belongs to another account: ${conflicts.join(', ')}`,
      added.deleted > 0 &&
        `${added.deleted} accounts were deleted after the backup and were not restored (--restore-deleted restores them).`,
    ];
    return { json: { ...added, conflicts }, rows: [added], note: notes.filter(Boolean).join('\n') };
  },

  async backup({ store, operands: [folder], options, now }) {
    if (!folder) {
      const backup = await exportAccounts(store, now);
      return { json: backup, rows: [countsOf(backup)], note: 'Use --json > FILE to write the backup itself.' };
    }
    const keep = getWholeNumber('--keep', options.keep, { min: 1, max: 10_000 }) ?? KEPT;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `accounts-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}Z.json`);
    const unfinished = `${file}.unfinished`;
    const saved = await exportAccounts(store, now);
    await writeFile(unfinished, JSON.stringify(saved), { mode: 0o600, flush: true });
    const problem = await tryRestore(await loadText(unfinished), now);
    const restorable = problem === null;
    // A backup that cannot be restored is kept for inspection, and no older one is removed.
    if (restorable) {
      await rename(unfinished, file);
      const backups = (await readdir(folder)).filter((name) => NAME.test(name)).sort();
      for (const name of backups.slice(0, -keep)) await rm(join(folder, name));
    }
    const summary = { file: restorable ? file : unfinished, ...countsOf(saved) };
    return {
      json: { ...summary, exported_at: saved.exported_at, restorable },
      rows: [{ ...summary, restorable: restorable ? 'yes' : 'no' }],
      note: problem ?? '',
      isIncomplete: !restorable,
    };
  },
};

async function loadBackupFile(file: string | undefined): Promise<Backup> {
  if (!file) throw new UsageError('restore needs the file that "backup" has written.');
  const text = await loadText(file);
  try {
    return parseBackup(text);
  } catch (error) {
    throw new UsageError(`${file} cannot be restored: ${(error as Error).message}`);
  }
}

function countsOf({ accounts }: Backup) {
  return { accounts: accounts.length, keys: accounts.reduce((sum, { keys }) => sum + keys.length, 0) };
}

/** Tests a backup by restoring it into a store in memory and comparing. Returns why it cannot be restored; null if it can. */
async function tryRestore(text: string, now: number): Promise<string | null> {
  const store = openEmbeddedStore(':memory:');
  try {
    const backup = parseBackup(text);
    await importAccounts(store, backup, { now });
    const isSame = isDeepStrictEqual(comparable(await exportAccounts(store, now)), comparable(backup));
    return isSame ? null : 'The restored accounts differ from the file.';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await store.close();
  }
}

/** Normalises a backup for comparison: sorts keys and drops expired counts. */
function comparable({ accounts, suspended = {}, deleted = {} }: Backup) {
  const sorted = accounts.map(({ usage: _, keys, ...account }) => ({
    ...account,
    keys: keys.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)),
  }));
  return { accounts: sorted.sort((a, b) => (a.id < b.id ? -1 : 1)), suspended, deleted };
}
