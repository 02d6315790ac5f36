import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSandbox } from '#sandbox/server.ts';
import { CarParks } from '#src/carparks/car-parks.ts';
import { parseReport } from '#src/carparks/facility.ts';
import { redisCarParks } from '#src/carparks/store.ts';
import { MINUTE_MS, systemClock } from '#src/core/clock.ts';
import { openRedis, type SharedRedis } from '#src/core/redis/shared-redis.ts';
import { openCarParks } from '#src/server/open-car-parks.ts';
import { createSharedMeters } from '#src/upstream/protection.ts';
import { facilityJson } from '#test/support/car-parks.ts';
import { startRedis } from '#test/support/redis.ts';

const LOG = { info() {}, warn() {}, error() {} };
const WAIT = { waitMs: 20_000 };
let server: Awaited<ReturnType<typeof startRedis>>;
const connections: SharedRedis[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  for (const redis of connections) redis.close();
  await server.stop();
});

/** An instance with a day of `dailyBudget` calls for all. */
async function open(source: string, dailyBudget: number) {
  const redis = await openRedis([server.url], LOG as never);
  connections.push(redis);
  const calls: string[] = [];
  const [meter] = createSharedMeters(redis, {
    apiKeys: [source],
    limits: { rps: 50, dailyBudget },
    clock: systemClock,
  });
  const client = {
    async fetchList() {
      calls.push('list');
      return new Map([['1', 'One']]);
    },
    async fetchReport(id: string) {
      calls.push(id);
      return parseReport(id, facilityJson({ id })) ?? Promise.reject(new Error('no report'));
    },
    close: async () => {},
  };
  const store = redisCarParks({ redis, source });
  if (!meter) throw new Error('no meter');
  return { carParks: new CarParks({ client, meter, store, log: LOG }), calls };
}

it('instances share readings, so that each car park is read once', async () => {
  const [one, other] = [await open('shared', 1_000_000), await open('shared', 1_000_000)];
  const [first] = (await one.carParks.fetch(() => true, WAIT)).carParks;
  await expect.poll(async () => (await other.carParks.fetch(() => true, WAIT)).carParks).toEqual([first]);
  expect([one.calls, other.calls]).toEqual([['list', '1'], []]);
});

it('instances share the calls of the day', async () => {
  // Noon, so that no day ends during the test.
  let now = Date.UTC(2026, 10, 20, 12);
  const clock = { ...systemClock, now: () => now };
  const sandbox = await startSandbox({ apiKey: 'k', now: () => new Date(now) });
  const instances = await Promise.all(
    ['one', 'other'].map(async () => {
      const redis = await openRedis([server.url], LOG as never);
      connections.push(redis);
      const callForFeed = <Result>(call: (key: number) => Promise<Result>) => call(0);
      const options = {
        url: sandbox.url,
        source: 'day',
        isSandbox: false,
        dataDir: 'unused',
        timeoutMs: 20_000,
        log: LOG,
      };
      return openCarParks({
        ...options,
        apiKeys: ['k'],
        redis: { ...redis, clockAheadMs: () => 0 },
        callForFeed,
        clock,
      });
    }),
  );
  const [one, other] = instances as [CarParks, CarParks];
  await one.fetch(() => true, WAIT);
  const { callsLeft } = one.status();
  now += 5 * MINUTE_MS;
  await other.get('486', WAIT);
  expect(other.status().callsLeft).toBe(callsLeft - 1);
  for (const carParks of instances) await carParks.close();
  await sandbox.close();
});
