import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { createSharedMeters } from '#src/upstream/protection.ts';
import { issueTestKey } from '#test/support/access.ts';
import { type DelayingProxy, startDelayingProxy } from '#test/support/delaying-proxy.ts';
import { buildProbeApp, type ProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '#test/support/redis.ts';

const FAR_MS = 230;
let redis: TestRedis;
let near: AccountStore;

beforeAll(async () => {
  redis = await startRedis();
  near = await openTestStore([redis.url]);
});
afterAll(async () => {
  await near.close();
  await redis.stop();
});

async function used(key: string): Promise<number> {
  return (await near.loadUsage(parseKey(key)?.accountId ?? '', [quotaDay(Date.now())]))[0] ?? 0;
}

describe(`accounts in a Redis ${FAR_MS} ms away`, () => {
  let proxy: DelayingProxy;
  let store: AccountStore;
  let app: ProbeApp;

  beforeEach(async () => {
    proxy = await startDelayingProxy(redis.port, FAR_MS);
    store = await openTestStore([`redis://127.0.0.1:${proxy.port}`]);
    app = await buildProbeApp({ store });
    return async () => {
      await app.close();
      await store.close();
      await proxy.close();
    };
  });

  const sendUntil = (key: string, status: number) =>
    expect.poll(async () => (await app.send(key)).statusCode).toBe(status);

  it(`accounts in a Redis ${FAR_MS} ms away are looked up and counted exactly from the first request`, async () => {
    const key = await issueTestKey(near);
    expect((await app.send(key)).headers['x-ratelimit-remaining']).toBe('999');
    expect((await app.send(generateKey('live', generateAccountId()))).statusCode).toBe(401);
    const responses = await Promise.all(Array.from({ length: 1200 }, () => app.send(key)));
    expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(999);
    expect(responses.filter(({ statusCode }) => statusCode === 429)).toHaveLength(201);
    expect(await used(key)).toBe(1000);
  });

  it(`accounts in a Redis ${FAR_MS} ms away work again after an outage, with every request counted once`, async () => {
    const key = await issueTestKey(near);
    await app.send(key);
    redis.signal('SIGSTOP');
    for (let n = 0; n < 5; n++) expect((await app.send(key)).statusCode).toBe(200);
    expect((await app.send(generateKey('live', generateAccountId()))).statusCode).toBe(503);
    redis.signal('SIGCONT');
    await sendUntil(generateKey('live', generateAccountId()), 401);
    expect((await app.send(key)).headers['x-ratelimit-remaining']).toBe('993');
    expect(await used(key)).toBe(7);
  });

  it(`accounts work after their Redis moves ${FAR_MS} ms away while the service is running`, async () => {
    proxy.roundTripMs = 0;
    const [key, other] = [await issueTestKey(near), await issueTestKey(near)];
    await sendUntil(key, 200);
    const before = await used(key);
    proxy.roundTripMs = FAR_MS;
    for (let n = 0; n < 5; n++) expect((await app.send(key)).statusCode).toBe(200);
    await sendUntil(other, 200);
    await app.send(key);
    expect(await used(key)).toBe(before + 6);
  });
});

it(`calls of the shared budget are taken through a Redis ${FAR_MS} ms away`, async () => {
  const proxy = await startDelayingProxy(redis.port, FAR_MS);
  const lines: string[] = [];
  const log = {
    info: (_: object, message: string) => lines.push(message),
    warn: (_: object, m: string) => lines.push(m),
  };
  const room = await openRedis([`redis://127.0.0.1:${proxy.port}`], log);
  const [meter] = createSharedMeters(room, { apiKeys: ['key'], limits: { rps: 5, dailyBudget: 60_000 } });
  expect(await meter?.spend('high')).toEqual({ isTaken: true });
  expect(lines).toEqual([]);
  room.close();
  await proxy.close();
});
