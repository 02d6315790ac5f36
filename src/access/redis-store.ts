import { Cluster, ReplyError } from 'ioredis';
import { connectRedis, lastTrouble, type RedisConnection, whenReady } from '../redis-connection.ts';
import type { Account, KeyRecord } from './account.ts';
import { utcDayFrom } from './day.ts';
import { generateAccountId } from './keys.ts';
import { PLANS, type Plan } from './plan.ts';
import { SCRIPTS } from './redis-script.ts';
import { type AccountStore, StoreAwayError } from './store.ts';

/** The last month can be looked at. */
const DAYS_KEPT = 32;
const COUNTERS_KEPT_SECONDS = DAYS_KEPT * 86_400;
const READY_WITHIN_MS = 1000;
const DURABLE_WITHIN_MS = 3000;
/** Address to account id, of all accounts. */
const ACCOUNTS = 'tis:accounts';

const LIMITS = JSON.stringify(
  Object.fromEntries(Object.entries(PLANS).map(([plan, { dailyLimit }]) => [plan, dailyLimit ?? -1])),
);

/** The braces make everything of an account live in one place of a cluster. */
const accountKey = (accountId: string) => `tis:{${accountId}}:account`;
const keysKey = (accountId: string) => `tis:{${accountId}}:keys`;
const counterKey = (accountId: string, day: string) => `tis:{${accountId}}:used:${day}`;
/** What each process was admitted, and its last batch. */
const sendersKey = (accountId: string, day: string) => `tis:{${accountId}}:senders:${day}`;

/** Accounts, keys and counters for any number of instances. Opens also while Redis is away. */
export async function openRedisStore(urls: readonly string[]): Promise<AccountStore> {
  // Two connections: looking after accounts may wait for the disk, requests never wait behind it.
  const hot = connectRedis(urls, 'fail-fast', SCRIPTS);
  const desk = connectRedis(urls, 'patient', SCRIPTS);
  await whenReady(hot, READY_WITHIN_MS);

  async function readAccount(id: string): Promise<Account | null> {
    const fields = await desk.hgetall(accountKey(id));
    if (!fields.email) return null;
    return { id, email: fields.email, plan: fields.plan as Plan, createdAt: fields.createdAt ?? '' };
  }

  async function durably<T>(write: Promise<T>): Promise<T> {
    const result = await write;
    await waitForDisk(desk);
    return result;
  }

  return {
    isRemote: true,
    // On a cluster one node can be away and the others not.
    partOf: (accountId) => (hot instanceof Cluster ? accountId : ''),

    async admit({ accountId, keyHash, day, sender }) {
      const [kind, plan, used, bySender] = await orAway(hot, () =>
        hot.admitRequest(
          accountKey(accountId),
          keysKey(accountId),
          counterKey(accountId, day),
          sendersKey(accountId, day),
          keyHash,
          LIMITS,
          sender,
          COUNTERS_KEPT_SECONDS,
        ),
      );
      if (kind === 'unknown') return { kind };
      if (kind === 'exhausted') return { kind, plan: plan as Plan, used };
      return { kind: 'admitted', plan: plan as Plan, used, bySender };
    },
    async countBySender({ accountId, day, sender }) {
      return Number((await orAway(hot, () => hot.hget(sendersKey(accountId, day), sender))) ?? 0);
    },
    async add({ accountId, day, count, sender, number }) {
      const [counter, senders] = [counterKey(accountId, day), sendersKey(accountId, day)];
      await orAway(hot, () =>
        hot.addRequests(accountKey(accountId), counter, senders, count, sender, number, COUNTERS_KEPT_SECONDS),
      );
    },
    async ping(accountId) {
      await orAway(hot, () => hot.exists(accountKey(accountId)));
    },

    async openAccount({ email, plan, createdAt, id: wanted }) {
      for (let isFirst = true; ; isFirst = false) {
        const candidate = isFirst && wanted ? wanted : generateAccountId();
        await desk.hsetnx(ACCOUNTS, email, candidate);
        const id = (await desk.hget(ACCOUNTS, email)) ?? candidate;
        const owner = await durably(desk.createAccount(accountKey(id), email, plan, createdAt));
        if (owner === email) return { id, email, plan, createdAt, ...(await readAccount(id)) };
        // The id belongs to another account already: once in a very long while.
        await desk.hdel(ACCOUNTS, email);
      }
    },
    findAccount: readAccount,
    async findAccountByEmail(email) {
      const id = await desk.hget(ACCOUNTS, email);
      return id === null ? null : readAccount(id);
    },
    async listAccounts() {
      const ids = Object.values(await desk.hgetall(ACCOUNTS));
      const accounts = await Promise.all(ids.map(readAccount));
      return accounts.filter((account) => account !== null).sort((a, b) => (a.email < b.email ? -1 : 1));
    },
    setPlan: async (accountId, plan) => (await durably(desk.setPlan(accountKey(accountId), plan))) === 1,
    async deleteAccount(accountId, now) {
      const account = await readAccount(accountId);
      const days = Array.from({ length: DAYS_KEPT + 2 }, (_, index) => utcDayFrom(now, 1 - index));
      const counters = days.flatMap((day) => [counterKey(accountId, day), sendersKey(accountId, day)]);
      const deleted = await desk.del(accountKey(accountId), keysKey(accountId), ...counters);
      if (account) await desk.hdel(ACCOUNTS, account.email);
      await waitForDisk(desk);
      return account !== null && deleted > 0;
    },
    async addKey({ accountId, hash, ...record }, maxLive) {
      const added = desk.addKey(accountKey(accountId), keysKey(accountId), hash, JSON.stringify(record), maxLive);
      return (await durably(added)) === 1;
    },
    async listKeys(accountId) {
      const records = Object.entries(await desk.hgetall(keysKey(accountId)));
      return records
        .map(
          ([hash, record]): KeyRecord => ({
            accountId,
            hash,
            revokedAt: null,
            lastUsedOn: null,
            ...JSON.parse(record),
          }),
        )
        .sort((a, b) => (a.createdAt + a.hash < b.createdAt + b.hash ? -1 : 1));
    },
    async revokeKey(accountId, keyHash, at) {
      return (await durably(desk.revokeKey(keysKey(accountId), keyHash, at.toISOString()))) === 1;
    },
    async readUsage(accountId, days) {
      const counts = await Promise.all(days.map((day) => desk.get(counterKey(accountId, day))));
      return counts.map((count) => Number(count ?? 0));
    },
    async close() {
      hot.disconnect();
      desk.disconnect();
    },
  };
}

/** An answer of Redis that is an error means that nothing was done; without an answer it may have been. */
async function orAway<T>(connection: RedisConnection, ask: () => Promise<T>): Promise<T> {
  if (connection.status !== 'ready') {
    throw new StoreAwayError(`not connected to Redis: ${lastTrouble(connection)}`, { isInDoubt: false });
  }
  try {
    return await ask();
  } catch (cause) {
    throw new StoreAwayError((cause as Error).message, { isInDoubt: !(cause instanceof ReplyError), cause });
  }
}

/** Until what was written is in the append-only file, where there is one and the server can tell (from 7.2). */
async function waitForDisk(connection: RedisConnection): Promise<void> {
  const nodes = connection instanceof Cluster ? connection.nodes('master') : [connection];
  try {
    await Promise.all(nodes.map((node) => node.call('WAITAOF', 1, 0, DURABLE_WITHIN_MS)));
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
  }
}
