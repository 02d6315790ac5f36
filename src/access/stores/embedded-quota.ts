import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Log } from '../../core/log.ts';
import { UnavailableError } from '../../core/redis/connection.ts';
import { createPresence, type StoreState } from '../../core/redis/presence.ts';
import { endOfDay, endOfDayText, type QuotaDay, quotaDayFrom } from '../day.ts';
import { parseGrant } from '../grant.ts';
import { PLANS, planFrom } from '../plan.ts';
import {
  type AdmissionReply,
  type AdmissionRequest,
  DAYS_KEPT,
  type KeyLookup,
  type KeyReading,
  type QuotaStore,
} from '../store.ts';
import { createGroupCommit, type FileLock } from './embedded-database.ts';

/** Counts requests in the embedded database. */
export function createEmbeddedQuota(database: DatabaseSync, lock: FileLock, log: Log): QuotaStore {
  const statements = prepareStatements(database);
  for (const read of [statements.findKey, statements.findGrant, statements.readUsage]) read.setReturnArrays(true);
  const writeInGroup = createGroupCommit(database, lock);
  const presence = createPresence({
    storeName: 'the account database',
    whileUnreachable: 'keys are read, and requests are counted later',
    nodeOf: () => '',
    probe: () => orUnavailable(lock.run(() => statements.probe.run())),
    log,
  });
  let tidiedOn: QuotaDay = '';

  function getKey(keyHash: string, accountId: string, day: QuotaDay) {
    const row = loadRow<
      [
        plan: string,
        email: string,
        lastUsedOn: string | null,
        revokedAt: string | null,
        decidedAt: string | null,
        used: number | null,
      ]
    >(statements.findKey, day, keyHash, accountId);
    if (!row) return 'unknown';
    const [plan, email, lastUsedOn, endsAt, decidedAt, used] = row;
    if (endsAt && endsAt < endOfDayText(day)) return 'revoked';
    return {
      plan,
      email,
      lastUsedOn,
      used: used ?? 0,
      ...(endsAt && { ending: { endsAt, decidedAt: decidedAt ?? endsAt } }),
    };
  }

  function loadUsage(counter: string, accountId: string): number {
    return loadRow<[number]>(statements.readUsage, counter, accountId)?.[0] ?? 0;
  }

  /** The group's transaction locks the file, so no other process can count between the read and the write. */
  function admit(request: AdmissionRequest): Promise<AdmissionReply> {
    const { accountId, keyHash, day, count = 1, allowances = [] } = request;
    return writeInGroup((): AdmissionReply => {
      const key = getKey(keyHash, accountId, day);
      if (typeof key === 'string') return { kind: key };
      const { lastUsedOn, used, ...facts } = key;
      if (lastUsedOn !== day) statements.touchKey.run({ keyHash, day });
      tidy(day);
      const before = allowances.map(({ counter }) => loadUsage(counter, accountId));
      const limit = PLANS[planFrom(key.plan)].dailyLimit ?? Number.POSITIVE_INFINITY;
      const isAdmitted =
        used + count <= limit && allowances.every(({ limit }, index) => (before[index] ?? 0) + count <= limit);
      const charged = isAdmitted ? count : 0;
      if (isAdmitted) {
        statements.count.run(day, accountId, count);
        for (const { counter } of allowances) statements.count.run(counter, accountId, count);
      }
      const usedOfAllowances = before.map((used) => used + charged);
      return {
        kind: isAdmitted ? 'admitted' : 'exhausted',
        ...facts,
        used: used + charged,
        usedBySender: 0,
        usedOfAllowances,
      };
    });
  }

  async function loadKey({ accountId, keyHash, day }: KeyLookup) {
    return lock.run((): KeyReading => {
      const key = getKey(keyHash, accountId, day);
      if (typeof key === 'string') return { kind: key };
      const { lastUsedOn: _, ...facts } = key;
      const [grant] = loadRow<[string]>(statements.findGrant, keyHash) ?? [];
      return { kind: 'known', ...facts, grant: parseGrant(grant) };
    });
  }

  async function check(): Promise<StoreState> {
    const works = (run: () => unknown) =>
      lock.run(run).then(
        () => true,
        () => false,
      );
    if (await works(() => statements.probe.run())) return 'writable';
    return (await works(() => statements.readUsage.get('', ''))) ? 'readable' : 'unreachable';
  }

  /** Deletes expired counts once a day. */
  function tidy(day: QuotaDay): void {
    if (day <= tidiedOn) return;
    tidiedOn = day;
    statements.deleteDaysBefore.run(quotaDayFrom(endOfDay(day), -DAYS_KEPT));
    statements.deleteHoursBefore.run(day);
  }

  return {
    isRemote: false,
    presence,
    // Processes sharing a file are not counted.
    instances: () => 1,
    admit: (request) => orUnavailable(admit(request)),
    loadKey: (request) => orUnavailable(loadKey(request)),
    check,
    // The file never loses a response, so counts by sender are unnecessary.
    update: async ({ accountId, day, count }) => {
      await orUnavailable(writeInGroup(() => statements.update.run({ accountId, day, count })));
      return 0;
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    findKey: database.prepare(
      `SELECT account.plan, account.email, api_key.last_used_on, api_key.revoked_at, api_key.revocation_decided_at, usage.used
       FROM api_key JOIN account ON account.id = api_key.account_id LEFT JOIN usage ON usage.account_id = account.id AND usage.day = ?
       WHERE api_key.hash = ? AND api_key.account_id = ?`,
    ),
    findGrant: database.prepare('SELECT value FROM key_grant WHERE hash = ?'),
    touchKey: database.prepare('UPDATE api_key SET last_used_on = :day WHERE hash = :keyHash'),
    // The caller reads the count first: a statement with RETURNING is slower than reading and writing.
    count: database.prepare(
      `INSERT INTO usage (day, account_id, used) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET used = used + ?3`,
    ),
    update: database.prepare(
      `INSERT INTO usage (day, account_id, used) SELECT :day, id, max(0, :count) FROM account WHERE id = :accountId
       ON CONFLICT DO UPDATE SET used = max(0, used + :count)`,
    ),
    readUsage: database.prepare('SELECT used FROM usage WHERE day = ? AND account_id = ?'),
    // Writes, because reads succeed even while the file is locked or the disk is full. The day 00000000 is never read.
    probe: database.prepare(
      `INSERT INTO usage (day, account_id, used) SELECT '00000000', id, 1 FROM account LIMIT 1
       ON CONFLICT DO UPDATE SET used = used + 1`,
    ),
    deleteDaysBefore: database.prepare('DELETE FROM usage WHERE day < ?'),
    // Names with three parts are counters of a visitor's hour or of a token.
    deleteHoursBefore: database.prepare("DELETE FROM usage WHERE day < ? AND day LIKE '%:%:%'"),
  };
}

/** Rows are arrays: creating an object with names is slower than finding the row. */
function loadRow<Row>(statement: StatementSync, ...values: string[]): Row | undefined {
  return statement.get(...values) as Row | undefined;
}

/** For errors such as a locked file or a full disk: nothing was done, and a retry may succeed. */
async function orUnavailable<T>(outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    if (error instanceof UnavailableError) throw error;
    throw new UnavailableError((error as Error).message, 'not-sent', error);
  }
}
