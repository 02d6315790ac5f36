import type { DatabaseSync } from 'node:sqlite';
import type { Account, KeyRecord } from '../account.ts';
import { generateAccountId } from '../keys.ts';
import type { Register } from '../store.ts';

/** Accounts and keys in the embedded database. */
export function createEmbeddedAccounts(database: DatabaseSync): Register {
  const statements = prepareStatements(database);

  /** A commit that also survives a power cut. It waits for the disk, so counts are written without it. */
  function durably<T>(write: () => T): T {
    database.exec('PRAGMA synchronous = FULL');
    try {
      return write();
    } finally {
      database.exec('PRAGMA synchronous = NORMAL');
    }
  }

  return {
    async openAccount({ email, plan, createdAt }) {
      for (;;) {
        const existing = statements.findAccountByEmail.get(email);
        if (existing) return toAccount(existing);
        try {
          durably(() => statements.openAccount.run(generateAccountId(), email, plan, createdAt));
        } catch (error) {
          // Another process has just opened it, or another account has the same id: look again.
          if (!/UNIQUE/.test((error as Error).message)) throw error;
        }
      }
    },
    findAccount: async (id) => toAccountOrNull(statements.findAccount.get(id)),
    findAccountByEmail: async (email) => toAccountOrNull(statements.findAccountByEmail.get(email)),
    listAccounts: async () => statements.listAccounts.all().map(toAccount),
    setPlan: async (accountId, plan) => durably(() => statements.setPlan.run(plan, accountId)).changes === 1,
    deleteAccount: async (accountId) => durably(() => statements.deleteAccount.run(accountId)).changes === 1,
    async addKey({ hash, accountId, lastFour, label, createdAt }, maxLive) {
      const key = { hash, accountId, lastFour, label, createdAt, maxLive };
      return durably(() => statements.addKey.run(key)).changes === 1;
    },
    listKeys: async (accountId) => statements.listKeys.all(accountId).map(toKeyRecord),
    async revokeKey(accountId, keyHash, at) {
      return durably(() => statements.revokeKey.run({ at: at.toISOString(), keyHash, accountId })).changes === 1;
    },
    async readUsage(accountId, days) {
      const counts = days.map((day) => statements.readUsage.get(day, accountId) as { used: number } | undefined);
      return counts.map((count) => count?.used ?? 0);
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    openAccount: database.prepare('INSERT INTO account (id, email, plan, created_at) VALUES (?, ?, ?, ?)'),
    findAccount: database.prepare('SELECT id, email, plan, created_at FROM account WHERE id = ?'),
    findAccountByEmail: database.prepare('SELECT id, email, plan, created_at FROM account WHERE email = ?'),
    listAccounts: database.prepare('SELECT id, email, plan, created_at FROM account ORDER BY email'),
    setPlan: database.prepare('UPDATE account SET plan = ? WHERE id = ?'),
    deleteAccount: database.prepare('DELETE FROM account WHERE id = ?'),
    addKey: database.prepare(
      `INSERT INTO api_key (hash, account_id, last_four, label, created_at)
       SELECT :hash, :accountId, :lastFour, :label, :createdAt
       WHERE (SELECT count(*) FROM api_key WHERE account_id = :accountId AND revoked_at IS NULL) < :maxLive`,
    ),
    listKeys: database.prepare('SELECT * FROM api_key WHERE account_id = ? ORDER BY created_at, hash'),
    revokeKey: database.prepare(
      `UPDATE api_key SET revoked_at = min(coalesce(revoked_at, :at), :at)
       WHERE hash = :keyHash AND account_id = :accountId`,
    ),
    readUsage: database.prepare('SELECT used FROM usage WHERE day = ? AND account_id = ?'),
  };
}

type Row = Record<string, unknown>;

function toAccount({ id, email, plan, created_at: createdAt }: Row): Account {
  return { id, email, plan, createdAt } as Account;
}

function toAccountOrNull(row: Row | undefined): Account | null {
  return row ? toAccount(row) : null;
}

function toKeyRecord(row: Row): KeyRecord {
  const { hash, account_id: accountId, last_four: lastFour, label, created_at: createdAt } = row;
  const { revoked_at: revokedAt, last_used_on: lastUsedOn } = row;
  return { hash, accountId, lastFour, label, createdAt, revokedAt, lastUsedOn } as KeyRecord;
}
