import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { utcDay } from '#src/access/day.ts';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { type DelayingProxy, startDelayingProxy } from '#test/support/delaying-proxy.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '#test/support/redis.ts';

/** How long questions are on their way when their connection breaks. */
const LATE_MS = 1000;

let redis: TestRedis;
let near: AccountStore;
let proxy: DelayingProxy;
let far: AccountStore;
let app: ProbeApp;
beforeAll(async () => {
  redis = await startRedis();
  near = await openTestStore([redis.url]);
  proxy = await startDelayingProxy(redis.port, 0);
  far = await openTestStore([`redis://127.0.0.1:${proxy.port}`]);
  app = await buildProbeApp({ store: far });
}, 30_000);
afterAll(async () => {
  await app.close();
  await far.close();
  await near.close();
  await proxy.close();
  await redis.stop();
});

const ask = async (key: string) => (await app.ask(key)).statusCode;

it('requests that reach Redis after their connection broke and a new one was in use are counted once', async () => {
  const key = await issueTestKey(near, { plan: 'developer' });
  const used = async () => (await near.readUsage(parseKey(key)?.accountId ?? '', [utcDay(new Date())]))[0];
  expect(await ask(key)).toBe(200);

  proxy.roundTripMs = 2 * LATE_MS;
  const asked = [ask(key), ask(key), ask(key)];
  await sleep(50);
  proxy.cut();
  proxy.roundTripMs = 0;
  expect(await Promise.all(asked)).toEqual([200, 200, 200]);

  while ((await ask(generateKey('live', generateAccountId()))) !== 401) await sleep(20);
  expect(await ask(key)).toBe(200);
  expect(await used()).toBe(5);
  await sleep(LATE_MS);
  expect(await used()).toBe(5);
  expect(await ask(key)).toBe(200);
  expect(await used()).toBe(6);
}, 20_000);
