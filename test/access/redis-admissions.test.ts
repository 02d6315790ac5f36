import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import type { AccountStore, AdmissionRequest } from '#src/access/store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { openTestStore, startRedis, startRedisCluster, type TestRedis } from '#test/support/redis.ts';

const DAY = '20261121';

let redis: TestRedis;
let store: AccountStore;
let connection: Redis;

beforeAll(async () => {
  redis = await startRedis();
  store = await openTestStore([redis.url]);
  connection = new Redis(redis.url);
});
afterAll(async () => {
  connection.disconnect();
  await store.close();
  await redis.stop();
});

async function newRequest(accounts = store): Promise<AdmissionRequest> {
  const key = parseKey(await issueTestKey(accounts));
  if (!key) throw new Error('no key');
  return { accountId: key.accountId, keyHash: key.hash, day: DAY, sender: 'a' };
}

const newRequests = (count: number, accounts = store) =>
  Promise.all(Array.from({ length: count }, () => newRequest(accounts)));

async function scriptsRun(): Promise<number> {
  const commands = await connection.info('commandstats');
  const counts = [...commands.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}

it('requests of one event-loop turn are admitted by one command, whatever their accounts', async () => {
  const requests = await newRequests(5);
  const before = await scriptsRun();
  const replies = await Promise.all([...requests, ...requests].map((request) => store.admit(request)));
  expect(await scriptsRun()).toBe(before + 1);
  expect(replies.map((reply) => 'used' in reply && reply.used)).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
});

it('no command admits more than a hundred requests, because Redis serves nobody else meanwhile', async () => {
  const request = await newRequest();
  const before = await scriptsRun();
  const replies = await Promise.all(Array.from({ length: 250 }, () => store.admit(request)));
  expect(await scriptsRun()).toBe(before + 3);
  expect(replies.map((reply) => 'used' in reply && reply.used)).toEqual(Array.from({ length: 250 }, (_, n) => n + 1));
});

it('each request of a turn gets its own reply, with the counts of its own allowances', async () => {
  const [plain, limited, revoked] = (await newRequests(3)) as [AdmissionRequest, AdmissionRequest, AdmissionRequest];
  await store.revokeKey(revoked.accountId, revoked.keyHash, Date.parse('2026-11-20T00:00:00Z'));
  const allowances = [
    { counter: `${DAY}:one`, limit: 5 },
    { counter: `${DAY}:two`, limit: 3 },
  ];
  const replies = await Promise.all([
    store.admit({ ...limited, allowances, count: 2 }),
    store.admit(revoked),
    store.admit({ ...plain, allowances: [{ counter: `${DAY}:one`, limit: 1 }] }),
    store.admit({ ...limited, allowances, count: 2 }),
    store.admit({ ...plain, keyHash: 'other' }),
    store.admit(plain),
  ]);
  expect(replies).toMatchObject([
    { kind: 'admitted', used: 2, usedBySender: 2, usedOfAllowances: [2, 2] },
    { kind: 'revoked' },
    { kind: 'admitted', used: 1, usedOfAllowances: [1] },
    { kind: 'exhausted', used: 2, usedOfAllowances: [2, 2] },
    { kind: 'unknown' },
    { kind: 'admitted', used: 2, usedBySender: 2, usedOfAllowances: [] },
  ]);
});

it('an error of one request refuses no other request of its turn', async () => {
  const [before, closed, after] = (await newRequests(3)) as [AdmissionRequest, AdmissionRequest, AdmissionRequest];
  await store.admit(closed);
  const update = { day: DAY, count: 1, unacknowledged: 1, usedBySenderBefore: 0, sender: 'a', number: 1 };
  await store.update({ ...update, accountId: closed.accountId });
  const outcomes = await Promise.allSettled([before, closed, after].map((request) => store.admit(request)));
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { kind: 'admitted', used: 1 } },
    { status: 'rejected', reason: { name: 'UnavailableError', reason: 'refused' } },
    { status: 'fulfilled', value: { kind: 'admitted', used: 1 } },
  ]);
  expect(await store.loadUsage(closed.accountId, [DAY])).toEqual([1]);
});

it('requests of one turn for accounts on different nodes of a cluster are all admitted', async () => {
  const cluster = await startRedisCluster();
  const shared = await openTestStore(cluster.url.split(','));
  const requests = await newRequests(20, shared);
  const replies = await Promise.all([...requests, ...requests].map((request) => shared.admit(request)));
  expect(new Set(replies.map((reply) => reply.kind))).toEqual(new Set(['admitted']));
  const usage = requests.map(({ accountId }) => shared.loadUsage(accountId, [DAY]));
  expect((await Promise.all(usage)).flat()).toEqual(requests.map(() => 2));
  await shared.close();
  await cluster.stop();
});
