import { afterAll, beforeAll, describe, it } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { sleep, systemClock } from '#src/core/clock.ts';
import { MAX_ROUND_TRIP_MS } from '#src/core/redis/presence.ts';
import { issueTestKey } from '#test/support/access.ts';
import { startDelayingProxy } from '#test/support/delaying-proxy.ts';
import { buildProbeApp } from '#test/support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '#test/support/redis.ts';
import type { Toxic } from '#test/support/toxic.ts';
import { FAULT_RUNS, TOXICS } from './toxics.ts';

/** The requests of each round: the path, the expected status, and the number of requests charged. */
const REQUESTS = [
  { url: '/v1/probe', status: 200, count: 1 },
  { url: '/v1/probe/five', status: 200, count: 5 },
  { url: '/v1/probe/failing', status: 504, count: 0 },
];
const ROUNDS = 10;
const PAUSE_MS = 30;

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

/** The key check in front of a Redis behind a proxy. */
async function startService() {
  const proxy = await startDelayingProxy(redis.port, 0);
  const store = await openTestStore([`redis://127.0.0.1:${proxy.port}`]);
  const app = await buildProbeApp({ store });
  const statusOf = async (key: string, url?: string) => (await app.send(key, url)).statusCode;
  return {
    proxy,
    statusOf,
    strangerStatus: () => statusOf(generateKey('live', generateAccountId())),
    async close() {
      await app.close();
      await store.close();
      await proxy.close();
    },
  };
}

async function used(key: string): Promise<number | undefined> {
  return (await near.loadUsage(parseKey(key)?.accountId ?? '', [quotaDay(Date.now())]))[0];
}

/** Whether every response of Redis is lost, or so late that Redis counts as unreachable. */
function isUnreachable(toxic: Toxic): boolean {
  if (toxic.kind === 'latency') return toxic.ms > MAX_ROUND_TRIP_MS;
  return ['timeout', 'reset', 'truncate'].includes(toxic.kind);
}

describe.concurrent.each(TOXICS)('$name between the service and Redis', ({ toxic, isHarmless }) => {
  it(
    'a faulty connection to Redis stops no known key, admits no unknown key, delays nobody and loses no count',
    async ({ expect }) => {
      for (let run = 0; run < FAULT_RUNS; run++) {
        const { proxy, statusOf, strangerStatus, close } = await startService();
        const keys = [await issueTestKey(near, { plan: 'developer' }), await issueTestKey(near, { plan: 'pro' })];
        for (const key of keys) expect(await statusOf(key)).toBe(200);

        proxy.toxic = toxic;
        const sent: Promise<{ status: number; expected: number }>[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          for (const key of keys) {
            for (const { url, status: expected } of REQUESTS) {
              sent.push(statusOf(key, url).then((status) => ({ status, expected })));
            }
          }
          await sleep(systemClock, PAUSE_MS);
        }
        for (const { status, expected } of await Promise.all(sent)) expect(status).toBe(expected);
        if (isUnreachable(toxic)) expect(await strangerStatus()).toBe(503);
        else if (isHarmless) await expect.poll(strangerStatus).toBe(401);
        else expect([401, 503]).toContain(await strangerStatus());

        proxy.toxic = null;
        await expect.poll(strangerStatus, { interval: 100 }).toBe(401);
        await close();
        for (const key of keys) expect(await used(key)).toBe(1 + ROUNDS * 6);
      }
    },
    30_000 * FAULT_RUNS,
  );
});
