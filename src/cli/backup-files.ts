import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { openEmbeddedStore } from '../access/stores/open-store.ts';
import { type Backup, exportAccounts, importAccounts, readBackup } from './backup.ts';
import { type Command, getWholeNumber, UsageError } from './command.ts';

const KEPT = 30;
/** Names sort by age. */
const NAME = /^accounts-[\dTZ-]+\.json$/;

/** Backups in a folder, and the drill that shows that one can be restored. */
export const BACKUP_COMMANDS: Record<string, Command> = {
  async backup({ store, operands: [folder], options, now }) {
    if (!folder) throw new UsageError('backup needs the folder that backups are kept in.');
    const keep = getWholeNumber('--keep', options.keep, { least: 1, most: 10_000 }) ?? KEPT;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `accounts-${now.toISOString().slice(0, 19).replaceAll(':', '-')}Z.json`);
    const unfinished = `${file}.unfinished`;
    await writeFile(unfinished, JSON.stringify(await exportAccounts(store, now)), { mode: 0o600, flush: true });
    const drilled = await drill(unfinished, now);
    // A backup that cannot be restored stays beside the others for a look at it, and makes none of them go.
    if (!drilled.isRestorable) return { ...report(unfinished, drilled), changed: 'a backup that cannot be restored' };
    await rename(unfinished, file);
    const backups = (await readdir(folder)).filter((name) => NAME.test(name)).sort();
    const old = backups.slice(0, -keep);
    for (const name of old) await rm(join(folder, name));
    return { ...report(file, drilled), changed: `${drilled.accounts} accounts, ${old.length} old backups removed` };
  },

  async drill({ operands: [file], now }) {
    if (!file) throw new UsageError('drill needs the file of a backup.');
    await stat(file).catch((error: Error) => {
      throw new UsageError(`The file cannot be read: ${error.message}`);
    });
    return report(file, await drill(file, now));
  },
};

interface Drill {
  accounts: number;
  keys: number;
  /** Null for a file that is no backup. */
  exportedAt: string | null;
  isRestorable: boolean;
  reason: string;
}

function report(file: string, { reason, ...drilled }: Drill) {
  const { accounts, keys, exportedAt, isRestorable } = drilled;
  const json = { file, accounts, keys, exported_at: exportedAt, restorable: isRestorable };
  const row = { file, accounts, keys, exported: exportedAt ?? '', restorable: isRestorable ? 'yes' : 'no' };
  return { json, rows: [row], isIncomplete: !isRestorable, ...(reason && { note: reason }) };
}

/** Restores the file into a store in memory, and compares what is there then with what the file says. */
async function drill(file: string, now: Date): Promise<Drill> {
  const store = openEmbeddedStore(':memory:');
  try {
    const backup = readBackup(await readFile(file, 'utf8'));
    const { conflicts } = await importAccounts(store, backup, { now });
    const restored = await exportAccounts(store, now);
    const isSame = isDeepStrictEqual(comparable(restored), comparable(backup));
    return {
      accounts: restored.accounts.length,
      keys: restored.accounts.reduce((sum, { keys }) => sum + keys.length, 0),
      exportedAt: backup.exported_at,
      isRestorable: isSame && conflicts.length === 0,
      reason: isSame ? '' : 'What was restored differs from what the file says.',
    };
  } catch (error) {
    return { accounts: 0, keys: 0, exportedAt: null, isRestorable: false, reason: (error as Error).message };
  } finally {
    await store.close();
  }
}

/** Counts go with their days, and keys have no order. */
function comparable({ accounts, suspended = {}, deleted = {} }: Backup) {
  const sorted = accounts.map(({ usage: _, keys, ...account }) => ({
    ...account,
    keys: keys.toSorted((one, other) => (one.hash < other.hash ? -1 : 1)),
  }));
  return { accounts: sorted.sort((one, other) => (one.id < other.id ? -1 : 1)), suspended, deleted };
}
