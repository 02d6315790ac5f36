import type { Account, KeyRecord } from './account.ts';
import { utcDayFrom } from './day.ts';
import { openDatabase } from './embedded-schema.ts';
import { generateAccountId } from './keys.ts';
import { isPlan, PLANS } from './plan.ts';
import { type AccountStore, type Batch, type Question, type StoreAnswer, StoreAwayError } from './store.ts';

/** The last month can be looked at. */
const DAYS_KEPT = 31;

/** Accounts, keys and counters in one file on this machine. Any number of processes may have it open. */
export function openEmbeddedStore(path: string): AccountStore {
  const database = openDatabase(path);
  const statements = {
    findKey: database.prepare(
      `SELECT account.plan, api_key.last_used_on FROM api_key JOIN account ON account.id = api_key.account_id
       WHERE api_key.hash = :keyHash AND api_key.account_id = :accountId
       AND (api_key.revoked_at IS NULL OR replace(substr(api_key.revoked_at, 1, 10), '-', '') > :day)`,
    ),
    touchKey: database.prepare('UPDATE api_key SET last_used_on = :day WHERE hash = :keyHash'),
    // Looks at the limit and counts in one statement, so that no other process comes between.
    count: database.prepare(
      `INSERT INTO usage (day, account_id, used) VALUES (:day, :accountId, 1)
       ON CONFLICT DO UPDATE SET used = used + 1 WHERE :limit IS NULL OR used < :limit RETURNING used`,
    ),
    add: database.prepare(
      `INSERT INTO usage (day, account_id, used) SELECT :day, id, max(0, :count) FROM account WHERE id = :accountId
       ON CONFLICT DO UPDATE SET used = max(0, used + :count)`,
    ),
    readUsage: database.prepare('SELECT used FROM usage WHERE day = ? AND account_id = ?'),
    forgetDays: database.prepare('DELETE FROM usage WHERE day < ?'),
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
  };
  let tidiedFor = '';

  function admit({ accountId, keyHash, day }: Question): StoreAnswer {
    const key = statements.findKey.get({ keyHash, accountId, day }) as KeyInUse | undefined;
    if (!key || !isPlan(key.plan)) return { kind: 'unknown' };
    if (key.last_used_on !== day) statements.touchKey.run({ keyHash, day });
    tidy(day);
    const limit = PLANS[key.plan].dailyLimit;
    const counted = statements.count.get({ day, accountId, limit }) as { used: number } | undefined;
    if (counted) return { kind: 'admitted', plan: key.plan, used: counted.used, bySender: 0 };
    return { kind: 'exhausted', plan: key.plan, used: readUsage(accountId, day) };
  }

  /** A new day is a new counter; those of days long gone only take up room. */
  function tidy(day: string): void {
    if (day <= tidiedFor) return;
    tidiedFor = day;
    statements.forgetDays.run(
      utcDayFrom(new Date(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`), -DAYS_KEPT),
    );
  }

  function readUsage(accountId: string, day: string): number {
    return (statements.readUsage.get(day, accountId) as { used: number } | undefined)?.used ?? 0;
  }

  /** A commit that also survives the end of the machine. Counts do not need it, and it costs a wait for the disk. */
  function durably<T>(write: () => T): T {
    database.exec('PRAGMA synchronous = FULL');
    try {
      return write();
    } finally {
      database.exec('PRAGMA synchronous = NORMAL');
    }
  }

  return {
    isRemote: false,
    partOf: () => '',
    admit: async (question) => orAway(() => admit(question)),
    // Whether it counted is never in doubt here.
    countBySender: async () => 0,
    add: async ({ accountId, day, count }: Batch) => orAway(() => void statements.add.run({ accountId, day, count })),
    ping: async () => orAway(() => void database.prepare('SELECT 1').get()),

    async openAccount({ email, plan, createdAt, id: wanted }) {
      for (let isFirst = true; ; isFirst = false) {
        const existing = statements.findAccountByEmail.get(email);
        if (existing) return toAccount(existing);
        try {
          durably(() =>
            statements.openAccount.run(isFirst && wanted ? wanted : generateAccountId(), email, plan, createdAt),
          );
        } catch (error) {
          // Somebody else opened it in this moment, or has the same id: look again.
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
    readUsage: async (accountId, days) => days.map((day) => readUsage(accountId, day)),
    close: async () => database.close(),
  };
}

/** A full disk, a lock that is never given up: nothing was done, and it may pass. */
function orAway<T>(ask: () => T): T {
  try {
    return ask();
  } catch (cause) {
    throw new StoreAwayError((cause as Error).message, { isInDoubt: false, cause });
  }
}

type Row = Record<string, unknown>;

interface KeyInUse {
  plan: string;
  last_used_on: string | null;
}

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
