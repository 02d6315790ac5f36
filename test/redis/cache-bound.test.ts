import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { utcDay } from '#src/access/day.ts';
import { parseKey } from '#src/access/keys.ts';
import { openRedis, type SharedRedis } from '#src/redis/shared-redis.ts';
import { coordinateThrough } from '#src/upstream/protection.ts';
import { createRedisSharedStore, type SharedStore } from '#src/upstream/shared-store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis, startRedisCluster, type TestRedis } from '#test/support/redis.ts';

const MB = 1024 * 1024;
const DAY_MS = 86_400_000;
const silent = { info() {}, warn() {} };

let redis: TestRedis;
let admin: Redis;
let room: SharedRedis;
beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
  room = await openRedis([redis.url], silent);
}, 300_000);
beforeEach(() => admin.flushall());
afterAll(async () => {
  room.close();
  admin.disconnect();
  await redis.stop();
});

const usedBytes = async () => Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1]);

/** Random, because the names and values of callers are. Writes that a busy machine lost are written again. */
async function fill(to: SharedStore, count: number, bytes: number, ttlMs = 8 * DAY_MS): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, n) => `answer:search:${n}:${randomBytes(20).toString('hex')}`);
  for (let n = 0; n < count; n += 100) {
    const some = keys.slice(n, n + 100);
    do for (const key of some) to.set(key, randomBytes(bytes), ttlMs);
    while (!(await to.get(some.at(-1) as string)));
  }
  return keys;
}

/** Longer than a busy machine keeps Redis waiting. */
const found = (from: SharedStore, key: string) =>
  expect.poll(async () => (await from.get(key))?.length ?? 0, { timeout: 5000 });

describe.each([
  ['small values', 300, 8 * DAY_MS],
  ['searches', 4300, 8 * DAY_MS],
  ['positions', 9600, 1.25 * DAY_MS],
  ['trips', 50_000, DAY_MS],
])('%s of %s bytes, more than there is room for', (_name, bytes, ttlMs) => {
  it('take no more of Redis than they may, and another instance finds the newest ones', async () => {
    const store = createRedisSharedStore(room, 'test', 8 * MB);
    const before = await usedBytes();
    const keys = await fill(store, Math.ceil((20 * MB) / (bytes + 800)), bytes, ttlMs);
    const taken = (await usedBytes()) - before;
    expect(taken).toBeLessThan(8 * MB);
    expect(taken).toBeGreaterThan(4 * MB);
    const other = createRedisSharedStore(room, 'test', 8 * MB);
    for (const key of keys.slice(-20)) await found(other, key).toBe(bytes);
    expect(await admin.keys(`*${keys[0]}`)).toEqual([]);
  });
});

it('a value that is replaced counts once', async () => {
  const store = createRedisSharedStore(room, 'test', 4 * MB);
  const [other = ''] = await fill(store, 1, 100);
  for (let n = 0; n < 20; n++) {
    for (let i = 0; i < 100; i++) store.set('same', randomBytes(10_000), DAY_MS);
    await found(store, 'same').toBe(10_000);
  }
  await found(store, other).toBe(100);
});

it.each<[string, string, (name: string) => Promise<unknown>]>([
  ['sizes', 'are lost', (name) => admin.del(name)],
  ['sizes', 'are another type of value', (name) => admin.set(name, 'x')],
  ['sizes', 'have a sum that is no number', (name) => admin.hset(name, 'total', 'x')],
  ['ages', 'are lost', (name) => admin.del(name)],
  ['ages', 'are another type of value', (name) => admin.set(name, 'x')],
])('an index whose %s %s is begun anew, and what it named is dropped', async (half, _how, spoil) => {
  const store = createRedisSharedStore(room, 'test', 4 * MB);
  const before = await usedBytes();
  const lost = await fill(store, 1500, 1000);
  const halves = await admin.keys(`*:${half}`);
  expect(halves).toHaveLength(16);
  for (const name of halves) await spoil(name);
  const kept = await fill(store, 500, 1000);
  expect(await admin.keys('*:answer:*')).toHaveLength(kept.length);
  await found(store, lost.at(-1) as string).toBe(0);
  await fill(store, 5000, 1000);
  expect((await usedBytes()) - before).toBeLessThan(4 * MB);
});

it('works on a cluster', async () => {
  const cluster = await startRedisCluster();
  const clustered = await openRedis(cluster.url.split(','), silent);
  const store = createRedisSharedStore(clustered, 'test', 2 * MB);
  const keys = await fill(store, 3000, 2000);
  for (const key of keys.slice(-5)) await found(store, key).toBe(2000);
  const memory = await clustered.memory();
  expect(memory).toHaveLength(3);
  clustered.close();
  await cluster.stop();
}, 60_000);

it('a Redis that others have filled keeps nothing more, and goes on with sign-up, keys and counts', async () => {
  const values = createRedisSharedStore(room, 'test', 64 * MB);
  const store = await openTestStore([redis.url]);
  const app = await buildProbeApp({ store });
  const known = await issueTestKey(store);
  await admin.config('SET', 'maxmemory', '12mb');
  while (await admin.set(`junk:${Math.random()}`, randomBytes(100_000)).catch(() => null));
  // Lower than what is held, so that no buffer that is given back makes room.
  await admin.config('SET', 'maxmemory', '8mb');
  for (let n = 0; n < 200; n++) values.set(`refused:${n}`, randomBytes(10_000), DAY_MS);
  expect(await values.get('refused:199')).toBeNull();
  expect((await room.memory())[0]).toMatchObject({ maxBytes: 8 * MB, evictedKeys: 0 });

  const newcomer = await issueTestKey(store);
  for (const key of [known, newcomer]) {
    expect((await app.ask(key)).headers['x-ratelimit-remaining']).toBe('999');
    expect(await store.readUsage(parseKey(key)?.accountId ?? '', [utcDay(new Date())])).toEqual([1]);
  }
  expect(await store.check()).toBe('readable');
  await admin.config('SET', 'maxmemory', '0');
  await app.close();
  await store.close();
}, 30_000);

it('a Redis of their own that evicts has no index and is never full, and the accounts in the other one stay', async () => {
  const second = await startRedis('--maxmemory', '8mb', '--maxmemory-policy', 'allkeys-lru');
  const cache = { redis: await openRedis([second.url], silent), maxBytes: null };
  const join = () =>
    coordinateThrough(room, { source: 'test', apiKeys: [], limits: { rps: 5, dailyBudget: 1000 }, cache }).store;
  const store = await openTestStore([redis.url]);
  const app = await buildProbeApp({ store });
  const key = await issueTestKey(store);
  const names = await admin.keys('*');

  const kept = await fill(join(), 5000, 4300);
  await found(join(), kept.at(-1) as string).toBe(4300);
  expect((await cache.redis.memory())[0]?.evictedKeys).toBeGreaterThan(0);
  expect((await room.memory())[0]?.evictedKeys).toBe(0);
  expect(await admin.keys('*')).toEqual(expect.arrayContaining(names));
  expect(await admin.keys('*:ages')).toEqual([]);
  expect((await app.ask(key)).headers['x-ratelimit-remaining']).toBe('999');
  await app.close();
  await store.close();
  cache.redis.close();
  await second.stop();
}, 60_000);

it('a Redis with a password takes the one in its URL', async () => {
  const locked = await startRedis();
  const operator = new Redis(locked.url);
  await operator.config('SET', 'requirepass', 'sesame');
  operator.disconnect();
  const opened = await openRedis([locked.url.replace('//', '//:sesame@')], silent);
  const [key = ''] = await fill(createRedisSharedStore(opened, 'test', MB), 1, 100);
  const stranger = await openRedis([locked.url], silent);
  expect(await createRedisSharedStore(stranger, 'test', MB).get(key)).toBeNull();
  stranger.close();
  opened.close();
  await locked.stop();
});
