import type { DatabaseSync } from 'node:sqlite';
import type { OperatorRecords } from '../store.ts';
import { type Durably, type FileLock, inTransaction } from './embedded-database.ts';

/** The name of no restriction. */
const VERSION = 'version';

/** What operators have decided, in the embedded database. */
export function createEmbeddedOperatorRecords(
  database: DatabaseSync,
  lock: FileLock,
  durably: Durably,
): OperatorRecords {
  const readVersion = database.prepare("SELECT value FROM restriction WHERE name = 'version'");
  const readAll = database.prepare('SELECT name, value FROM restriction');
  const set = database.prepare(
    'INSERT INTO restriction (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const lift = database.prepare('DELETE FROM restriction WHERE name = ?');

  return {
    readRestrictions: (knownVersion) =>
      lock.run(() => {
        const version = String(readVersion.get()?.value ?? '');
        if (version === knownVersion) return null;
        const rows = readAll.all() as { name: string; value: string }[];
        const values = rows.filter(({ name }) => name !== VERSION).map(({ name, value }) => [name, value]);
        return { version, values: Object.fromEntries(values) };
      }),
    setRestriction: (name, value) =>
      durably(() =>
        inTransaction(database, () => {
          if (value === null) lift.run(name);
          else set.run(name, value);
          set.run(VERSION, String(Number(readVersion.get()?.value ?? 0) + 1));
        }),
      ),
  };
}
