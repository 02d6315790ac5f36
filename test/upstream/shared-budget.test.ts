import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openRedis, type SharedRedis } from '#src/redis/shared-redis.ts';
import type { Meter } from '#src/upstream/budget/meter.ts';
import { presumedSpent } from '#src/upstream/budget/pace.ts';
import { createRedisMeter } from '#src/upstream/budget/redis-meter.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';
import { createSimulatedClock, type SimulatedClock } from '#test/support/simulated-clock.ts';

const EVENING = Date.parse('2026-11-21T18:00:00Z');
const HOUR_MS = 3_600_000;
/** No more than these many calls are made at once here, so that only the day matters. */
const LIMITS = { rps: 1000, dailyBudget: 60_000 };
const silent = { info() {}, warn() {} };

let server: TestRedis;
let admin: Redis;
let connections: SharedRedis[];
let clock: SimulatedClock;
let one: Meter;
let other: Meter;

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
  connections = [await openRedis([server.url], silent), await openRedis([server.url], silent)];
}, 300_000);
beforeEach(async () => {
  await admin.flushall();
  clock = createSimulatedClock(EVENING);
  const start = (redis: SharedRedis) => createRedisMeter({ redis, apiKey: 'k', limits: LIMITS, clock });
  [one, other] = connections.map(start) as [Meter, Meter];
});
afterAll(async () => {
  for (const connection of connections) connection.close();
  admin.disconnect();
  await server.stop();
});

/** A call for which nothing of the reserve has to be left. */
const ANY = { floor: 0, advance: 0 };

const spentKey = async () => (await admin.keys('*:spent:*'))[0] ?? '';
const spent = async () => Number(await admin.get(await spentKey()));

it('when Redis has lost the count of the day, it goes on from the highest one that an instance knows', async () => {
  const before = presumedSpent(EVENING, LIMITS.dailyBudget);
  await one.take(ANY);
  await admin.incrby(await spentKey(), 1000);
  await other.take(ANY);
  expect(await spent()).toBe(before + 1002);

  await admin.flushall();
  await one.take(ANY);
  await other.take(ANY);
  expect(await spent()).toBe(before + 1003);
});

it('when the clock is set back, what was handed out ahead of time is taken back', async () => {
  await one.take(ANY);
  clock.set(EVENING - 12 * HOUR_MS);
  expect(await one.take(ANY)).toEqual({ isTaken: true });
  expect(await spent()).toBe(presumedSpent(EVENING - 12 * HOUR_MS, LIMITS.dailyBudget) + 1);
  expect(await other.take(ANY)).toEqual({ isTaken: true });
});

it('calls made while Redis is away are added once when it is back', async () => {
  await one.take(ANY);
  const before = await spent();
  server.signal('SIGSTOP');
  for (let n = 0; n < 3; n++) await one.take(ANY);
  server.signal('SIGCONT');
  while (connections[0]?.presence.isAway('')) await new Promise((resolve) => setTimeout(resolve, 20));
  await one.take(ANY);
  // The first one was sent to Redis too, and its response came too late.
  expect(await spent()).toBe(before + 5);
});
