import type { DatabaseSync } from 'node:sqlite';
import type { Account, KeyRecord } from '../account.ts';
import { parseGrant } from '../grant.ts';
import { generateAccountId } from '../keys.ts';
import { planFrom } from '../plan.ts';
import { type Accounts, type OperatorRecords, SANDBOX_EMAIL, type StoreKind } from '../store.ts';
import { createDurably, type FileLock } from './embedded-database.ts';

/** Marks the kind of store in the file header, which versions before this mark ignore. */
const APPLICATION_IDS: Readonly<Record<StoreKind, number>> = { real: 0x54495352, sandbox: 0x54495353 };

/** The row with this name counts changes of restrictions; no restriction has this name. */
const VERSION = 'version';

/** Accounts, keys and operators' decisions in the embedded database. */
export function createEmbeddedAccounts(database: DatabaseSync, lock: FileLock): Accounts & OperatorRecords {
  const runPatiently = <T>(task: () => T) => lock.runPatiently(task);
  const durably = createDurably(database, lock);
  const statements = prepareStatements(database);
  const loadVersion = () => String(statements.readVersion.get()?.value ?? '');

  function loadMark(): StoreKind | null {
    const { application_id: mark } = database.prepare('PRAGMA application_id').get() as { application_id: number };
    if (mark === 0) return null;
    return mark === APPLICATION_IDS.sandbox ? 'sandbox' : 'real';
  }

  return {
    loadKind: () =>
      runPatiently(() => {
        const { accounts, own: sandboxAccounts } = statements.countAccounts.get(SANDBOX_EMAIL) as {
          accounts: number;
          own: number;
        };
        return loadMark() ?? (accounts === 0 ? null : accounts === sandboxAccounts ? 'sandbox' : 'real');
      }),
    markKind: (kind) =>
      durably(() => {
        if (loadMark() === null) database.exec(`PRAGMA application_id = ${APPLICATION_IDS[kind]}`);
      }),
    openAccount: ({ email, plan, createdAt, id: wantedId, wantsQuotaMails = true }) =>
      durably(() => {
        for (let id = wantedId ?? generateAccountId(); ; id = generateAccountId()) {
          const existing = statements.findAccountByEmail.get(email);
          if (existing) return toAccount(existing);
          // Inserts nothing if another process just created the account, or another account has the same ID.
          statements.openAccount.run(id, email, plan, createdAt, Number(wantsQuotaMails));
        }
      }),
    loadAccount: (id) => runPatiently(() => toAccountOrNull(statements.findAccount.get(id))),
    loadAccountByEmail: (email) => runPatiently(() => toAccountOrNull(statements.findAccountByEmail.get(email))),
    listAccounts: () => runPatiently(() => statements.listAccounts.all().map(toAccount)),
    setPlan: (accountId, plan) => durably(() => statements.setPlan.run(plan, accountId).changes === 1),
    deleteAccount: (accountId, now) =>
      durably(() => {
        const isDeleted = statements.deleteAccount.run(accountId).changes === 1;
        if (isDeleted) statements.noteDeleted.run(accountId, new Date(now).toISOString());
        return isDeleted;
      }),
    addKey: ({ hash, accountId, lastFour, label, createdAt, revokedAt = null, grant }, maxLive) =>
      durably(() => {
        const key = { hash, accountId, lastFour, label, createdAt, revokedAt, maxLive };
        const isAdded = statements.addKey.run(key).changes === 1;
        if (isAdded && grant) statements.addGrant.run(hash, JSON.stringify(grant));
        return isAdded;
      }),
    listKeys: (accountId) => runPatiently(() => statements.listKeys.all(accountId).map(toKeyRecord)),
    revokeKey: (accountId, keyHash, at, decidedAt = at) =>
      durably(() => {
        const moments = { at: new Date(at).toISOString(), decidedAt: new Date(decidedAt).toISOString() };
        return statements.revokeKey.run({ ...moments, keyHash, accountId }).changes === 1;
      }),
    useLink: (accountId, issuedAt) => durably(() => statements.useLink.run({ accountId, issuedAt }).changes === 1),
    loadUsage: (accountId, days) =>
      runPatiently(() => {
        const counts = days.map((day) => statements.readUsage.get(day, accountId) as { used: number } | undefined);
        return counts.map((count) => count?.used ?? 0);
      }),
    raiseUsage: async (accountId, day, count) =>
      void (await durably(() => statements.raiseUsage.run({ accountId, day, count }))),
    wantsQuotaMails: (accountId) =>
      runPatiently(() => statements.wantsQuotaMails.get(accountId)?.wants_quota_mails !== 0),
    setQuotaMails: (accountId, isWanted) =>
      durably(() => statements.setQuotaMails.run(Number(isWanted), accountId).changes === 1),
    claimQuotaMail: (accountId, day, percent) =>
      runPatiently(() => statements.claimQuotaMail.run({ accountId, day, percent }).changes === 1),
    loadRestrictions: (knownVersion) =>
      lock.run(() => {
        const version = loadVersion();
        if (version === knownVersion) return null;
        const { [VERSION]: _, ...values } = toRecord(statements.readRestrictions.all());
        return { version, values };
      }),
    setRestriction: (name, value) =>
      durably(() => {
        if (value === null) statements.liftRestriction.run(name);
        else statements.setRestriction.run(name, value);
        statements.setRestriction.run(VERSION, String(Number(loadVersion()) + 1));
      }),
    loadDeleted: () => runPatiently(() => toRecord(statements.readDeleted.all())),
    setDeleted: async (accountId, at) =>
      void (await durably(() =>
        at === null ? statements.forgetDeleted.run(accountId) : statements.noteDeleted.run(accountId, at),
      )),
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    openAccount: database.prepare(
      'INSERT INTO account (id, email, plan, created_at, wants_quota_mails) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    countAccounts: database.prepare(
      'SELECT count(*) AS accounts, count(*) FILTER (WHERE email = ?) AS own FROM account',
    ),
    findAccount: database.prepare('SELECT id, email, plan, created_at FROM account WHERE id = ?'),
    findAccountByEmail: database.prepare('SELECT id, email, plan, created_at FROM account WHERE email = ?'),
    listAccounts: database.prepare('SELECT id, email, plan, created_at FROM account ORDER BY email'),
    setPlan: database.prepare('UPDATE account SET plan = ? WHERE id = ?'),
    deleteAccount: database.prepare('DELETE FROM account WHERE id = ?'),
    addKey: database.prepare(
      `INSERT INTO api_key (hash, account_id, last_four, label, created_at, revoked_at, revocation_decided_at)
       SELECT :hash, :accountId, :lastFour, :label, :createdAt, :revokedAt, :revokedAt
       WHERE (SELECT count(*) FROM api_key WHERE account_id = :accountId AND revoked_at IS NULL) < :maxLive`,
    ),
    addGrant: database.prepare('INSERT INTO key_grant (hash, value) VALUES (?, ?)'),
    listKeys: database.prepare(
      `SELECT api_key.*, key_grant.value AS grant_value FROM api_key LEFT JOIN key_grant ON key_grant.hash = api_key.hash
       WHERE account_id = ? ORDER BY created_at, api_key.hash`,
    ),
    revokeKey: database.prepare(
      `UPDATE api_key SET revoked_at = min(coalesce(revoked_at, :at), :at),
       revocation_decided_at = coalesce(revocation_decided_at, :decidedAt)
       WHERE hash = :keyHash AND account_id = :accountId`,
    ),
    useLink: database.prepare(
      'UPDATE account SET link_used_at = :issuedAt WHERE id = :accountId AND link_used_at < :issuedAt',
    ),
    noteDeleted: database.prepare('INSERT INTO deleted_account (id, deleted_at) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    raiseUsage: database.prepare(
      `INSERT INTO usage (day, account_id, used) SELECT :day, id, :count FROM account WHERE id = :accountId
       ON CONFLICT DO UPDATE SET used = max(used, :count)`,
    ),
    readUsage: database.prepare('SELECT used FROM usage WHERE day = ? AND account_id = ?'),
    wantsQuotaMails: database.prepare('SELECT wants_quota_mails FROM account WHERE id = ?'),
    setQuotaMails: database.prepare('UPDATE account SET wants_quota_mails = ? WHERE id = ?'),
    claimQuotaMail: database.prepare(
      `UPDATE usage SET mailed_percent = :percent
       WHERE day = :day AND account_id = :accountId AND mailed_percent < :percent
       AND (SELECT wants_quota_mails FROM account WHERE id = :accountId) = 1`,
    ),
    readVersion: database.prepare(`SELECT value FROM restriction WHERE name = '${VERSION}'`),
    readRestrictions: database.prepare('SELECT name, value FROM restriction'),
    setRestriction: database.prepare(
      'INSERT INTO restriction (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    ),
    liftRestriction: database.prepare('DELETE FROM restriction WHERE name = ?'),
    readDeleted: database.prepare('SELECT id AS name, deleted_at AS value FROM deleted_account'),
    forgetDeleted: database.prepare('DELETE FROM deleted_account WHERE id = ?'),
  };
}

function toAccount({ id, email, plan, created_at: createdAt }: Record<string, unknown>): Account {
  return { id, email, plan: planFrom(String(plan)), createdAt } as Account;
}

function toAccountOrNull(row: Record<string, unknown> | undefined): Account | null {
  return row ? toAccount(row) : null;
}

function toKeyRecord(row: Record<string, unknown>): KeyRecord {
  const { hash, account_id: accountId, last_four: lastFour, label, created_at: createdAt } = row;
  const { revoked_at: revokedAt, last_used_on: lastUsedOn, grant_value: storedGrant } = row;
  const grant = parseGrant(storedGrant as string | null);
  return { hash, accountId, lastFour, label, createdAt, revokedAt, lastUsedOn, grant } as KeyRecord;
}

function toRecord(rows: Record<string, unknown>[]): Record<string, string> {
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}
