import type { DatabaseSync } from 'node:sqlite';
import { AUDIT_KEPT, type OperatorRecords } from '../store.ts';
import { type Durably, type FileLock, inTransaction } from './embedded-database.ts';

/** The name of no restriction. */
const VERSION = 'version';

/** The decisions of operators, in the embedded database. */
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

  const addEntry = database.prepare('INSERT INTO audit (entry) VALUES (?)');
  const forgetEntries = database.prepare('DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - ?');
  const readEntries = database.prepare('SELECT entry FROM audit ORDER BY number DESC LIMIT ?');
  const readDeleted = database.prepare('SELECT id AS name, deleted_at AS value FROM deleted_account');
  const noteDeleted = database.prepare(
    'INSERT INTO deleted_account (id, deleted_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const forgetDeleted = database.prepare('DELETE FROM deleted_account WHERE id = ?');
  const claim = database.prepare(
    "INSERT INTO mailing (mailing, account_id, state) VALUES (?, ?, 'claimed') ON CONFLICT DO NOTHING",
  );
  const noteSent = database.prepare("UPDATE mailing SET state = 'sent' WHERE mailing = ? AND account_id = ?");
  const release = database.prepare('DELETE FROM mailing WHERE mailing = ? AND account_id = ?');
  const readMails = database.prepare('SELECT account_id AS name, state AS value FROM mailing WHERE mailing = ?');

  return {
    readRestrictions: (knownVersion) =>
      lock.run(() => {
        const version = String(readVersion.get()?.value ?? '');
        if (version === knownVersion) return null;
        const { [VERSION]: _, ...values } = toRecord(readAll.all());
        return { version, values };
      }),
    setRestriction: (name, value) =>
      durably(() =>
        inTransaction(database, () => {
          if (value === null) lift.run(name);
          else set.run(name, value);
          set.run(VERSION, String(Number(readVersion.get()?.value ?? 0) + 1));
        }),
      ),
    addToAudit: (entry) =>
      durably(() =>
        inTransaction(database, () => {
          addEntry.run(entry);
          forgetEntries.run(AUDIT_KEPT);
        }),
      ),
    readAudit: (most) => lock.runPatiently(() => readEntries.all(most).map(({ entry }) => String(entry))),
    readDeleted: () => lock.runPatiently(() => toRecord(readDeleted.all())),
    setDeleted: async (accountId, at) =>
      void (await durably(() => (at === null ? forgetDeleted.run(accountId) : noteDeleted.run(accountId, at)))),
    claimMail: (mailing, accountId) => durably(() => claim.run(mailing, accountId).changes === 1),
    finishMail: async (mailing, accountId, isSent) =>
      void (await durably(() => (isSent ? noteSent : release).run(mailing, accountId))),
    readMailing: (mailing) => lock.runPatiently(() => toRecord<'claimed' | 'sent'>(readMails.all(mailing))),
  };
}

function toRecord<Value = string>(rows: Record<string, unknown>[]): Record<string, Value> {
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}
