import { afterAll, beforeAll, expect, it } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { sleep, systemClock } from '#src/core/clock.ts';
import { issueTestKey } from '#test/support/access.ts';
import { type DelayingProxy, startDelayingProxy } from '#test/support/delaying-proxy.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '#test/support/redis.ts';

/** How long requests have been on their way when their connection breaks. */
const LATE_MS = 1000;

let redis: TestRedis;
let near: AccountStore;
let nearApp: ProbeApp;
/** Stands between Redis and the other instance. */
let proxy: DelayingProxy;
let far: AccountStore;
let farApp: ProbeApp;
beforeAll(async () => {
  redis = await startRedis();
  near = await openTestStore([redis.url]);
  nearApp = await buildProbeApp({ store: near });
  proxy = await startDelayingProxy(redis.port, 0);
  far = await openTestStore([`redis://127.0.0.1:${proxy.port}`]);
  farApp = await buildProbeApp({ store: far });
});
afterAll(async () => {
  await farApp.close();
  await nearApp.close();
  await far.close();
  await near.close();
  await proxy.close();
  await redis.stop();
});

async function used(key: string): Promise<number | undefined> {
  return (await near.loadUsage(parseKey(key)?.accountId ?? '', [quotaDay(Date.now())]))[0];
}

const send = async (app: ProbeApp, key: string) => (await app.send(key)).statusCode;

async function redisIsBack(): Promise<void> {
  await expect.poll(() => send(farApp, generateKey('live', generateAccountId()))).toBe(401);
}

it('requests that reach Redis late, over a broken connection, are counted once', async () => {
  const key = await issueTestKey(near, { plan: 'developer' });
  expect(await send(farApp, key)).toBe(200);

  proxy.roundTripMs = 2 * LATE_MS;
  const sent = [send(farApp, key), send(farApp, key), send(farApp, key)];
  await sleep(systemClock, 50);
  proxy.cut();
  proxy.roundTripMs = 0;
  expect(await Promise.all(sent)).toEqual([200, 200, 200]);

  await redisIsBack();
  expect(await send(farApp, key)).toBe(200);
  expect(await used(key)).toBe(5);
  await sleep(systemClock, LATE_MS);
  expect(await used(key)).toBe(5);
  expect(await send(farApp, key)).toBe(200);
  expect(await used(key)).toBe(6);
});

it('the only instance without Redis admits exactly its share of the remaining requests', async () => {
  const key = await issueTestKey(near);
  const sendUntilRefused = async (app: ProbeApp) => {
    for (let served = 0; ; served++) {
      const status = await send(app, key);
      if (status !== 200) return { served, status };
    }
  };
  expect(await send(farApp, key)).toBe(200);

  proxy.toxic = { kind: 'reset' };
  expect(await sendUntilRefused(farApp)).toEqual({ served: 500, status: 503 });
  // Redis has counted the request whose response was reset, until the instance can report that it admitted it itself.
  expect(await sendUntilRefused(nearApp)).toEqual({ served: 998, status: 429 });

  proxy.toxic = null;
  await redisIsBack();
  expect(await sendUntilRefused(farApp)).toEqual({ served: 0, status: 429 });
  expect(await used(key)).toBe(1499);
});
