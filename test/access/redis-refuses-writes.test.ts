import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { runKeys } from '#src/cli/keys.ts';
import { createStoreProbe } from '#src/http/readiness.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '#test/support/redis.ts';

let redis: TestRedis;
let admin: Redis;
let store: AccountStore;
let app: ProbeApp;
const START = '2026-11-21T10:00:00Z';
const MINUTE_MS = 60_000;

beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
  store = await openTestStore([redis.url]);
  app = await buildProbeApp({ store, now: START });
});
afterAll(async () => {
  await app.close();
  await store.close();
  admin.disconnect();
  await redis.stop();
});

const send = async (key: string, url?: string) => (await app.send(key, url)).statusCode;
const used = (key: string) => store.loadUsage(parseKey(key)?.accountId ?? '', [quotaDay(app.clock.now.getTime())]);

const FULL = { begin: ['CONFIG', 'SET', 'maxmemory', '1'], end: ['CONFIG', 'SET', 'maxmemory', '0'] };
const ALONE = {
  begin: ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
  end: ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
};
const REPLICA = { begin: ['REPLICAOF', '127.0.0.1', '1'], end: ['REPLICAOF', 'NO', 'ONE'] };
const call = ([name = '', ...values]: string[]) => admin.call(name, ...values);

it.each([
  ['has no memory left', FULL],
  ['lacks the replicas that it must have', ALONE],
  ['is a replica since a failover', REPLICA],
])('keys still work and are counted once when Redis %s, and invalid keys get 401', async (_name, { begin, end }) => {
  const { state, servesKnownKeys } = createStoreProbe(store.check, { graceMs: 0 });
  expect(await state()).toBe('writable');
  const notSeenBefore = await issueTestKey(store);
  const keys = [await issueTestKey(store, { plan: 'developer' }), await issueTestKey(store, { plan: 'pro' })];
  for (const key of keys) expect(await send(key)).toBe(200);

  await call(begin);
  expect(await state()).toBe('readable');
  expect(await servesKnownKeys()).toBe(true);
  for (const minutes of [0, 11, 30]) {
    app.clock.now = new Date(app.clock.now.getTime() + minutes * MINUTE_MS);
    for (const key of keys) {
      for (let n = 0; n < 5; n++) expect(await send(key)).toBe(200);
      expect(await send(key, '/v1/probe/five')).toBe(200);
      expect(await send(key, '/v1/probe/failing')).toBe(504);
    }
    expect(await send(notSeenBefore)).toBe(200);
    expect(await send(generateKey('live', generateAccountId()))).toBe(401);
  }

  await call(end);
  expect(await state()).toBe('writable');
  for (const key of keys) {
    expect(await send(key)).toBe(200);
    await expect.poll(() => used(key), { timeout: 5000 }).toEqual([32]);
  }
  await expect.poll(() => used(notSeenBefore), { timeout: 5000 }).toEqual([3]);
});

it('a daily limit holds while Redis refuses writes', async () => {
  const key = await issueTestKey(store);
  const { accountId } = parseKey(key) as { accountId: string };
  await admin.set(`tis:{${accountId}}:used:${quotaDay(app.clock.now.getTime())}`, '995');
  await call(REPLICA.begin);
  const statuses = [];
  for (let n = 0; n < 7; n++) statuses.push(await send(key));
  await call(REPLICA.end);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
});

it('a full Redis still stores accounts, keys and revocations; if it refuses them, the command says why', async () => {
  const env = { REDIS_URL: redis.url };
  await call(FULL.begin);
  const key = await issueTestKey(store);
  expect(await send(key)).toBe(200);
  expect((await runKeys(['revoke', key], env)).code).toBe(0);
  // The command uses the real clock.
  app.clock.now = new Date(Date.now() + MINUTE_MS);
  expect(await send(key)).toBe(401);
  const { accountId = '' } = parseKey(key) ?? {};
  expect((await runKeys(['delete', accountId], env)).code).toBe(0);
  await call(FULL.end);

  const other = await issueTestKey(store);
  await call(REPLICA.begin);
  const { code, stderr } = await runKeys(['revoke', other], env);
  await call(REPLICA.end);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The account store could not be used: .*read only replica/i);
});
