import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { utcDay } from '#src/access/day.ts';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '#test/support/redis.ts';

let redis: TestRedis;
let admin: Redis;
let store: AccountStore;
let app: ProbeApp;
beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis(redis.url);
  store = await openTestStore([redis.url]);
  app = await buildProbeApp({ store });
}, 30_000);
afterAll(async () => {
  await app.close();
  await store.close();
  admin.disconnect();
  await redis.stop();
});

const ask = async (key: string, url?: string) => (await app.ask(key, url)).statusCode;

it.each([
  ['has no memory left', ['maxmemory', '1', '0']],
  ['lacks the replicas that it must have', ['min-replicas-to-write', '1', '0']],
] as const)(
  'Redis %s: keys in use go on and are counted once, others get 503, made-up ones 401',
  async (_name, setting) => {
    const [name, whileInTrouble, afterwards] = setting;
    const notSeenBefore = await issueTestKey(store);
    const keys = [await issueTestKey(store, { plan: 'developer' }), await issueTestKey(store, { plan: 'pro' })];
    for (const key of keys) expect(await ask(key)).toBe(200);

    await admin.config('SET', name, whileInTrouble);
    for (const key of keys) {
      for (let n = 0; n < 5; n++) expect(await ask(key)).toBe(200);
      expect(await ask(key, '/v1/probe/five')).toBe(200);
      expect(await ask(key, '/v1/probe/failing')).toBe(504);
    }
    expect(await ask(notSeenBefore)).toBe(503);
    expect(await ask(generateKey('live', generateAccountId()))).toBe(401);

    await admin.config('SET', name, afterwards);
    expect(await ask(notSeenBefore)).toBe(200);
    for (const key of keys) {
      expect(await ask(key)).toBe(200);
      const used = () => store.readUsage(parseKey(key)?.accountId ?? '', [utcDay(new Date())]);
      await expect.poll(used, { timeout: 5000 }).toEqual([12]);
    }
  },
);
