import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sleep, systemClock } from '#src/core/clock.ts';
import { openRedis, type SharedRedis } from '#src/core/redis/shared-redis.ts';
import type { Ticket } from '#src/core/turn-queue.ts';
import { Budget } from '#src/upstream/budget/budget.ts';
import { type Meter, RATE_WINDOW_MS } from '#src/upstream/budget/meter.ts';
import { presumedSpent } from '#src/upstream/budget/pace.ts';
import { createRedisMeter } from '#src/upstream/budget/redis-meter.ts';
import { startDelayingProxy } from '#test/support/delaying-proxy.ts';
import { startRedis, type TestRedis } from '#test/support/redis.ts';
import { createSimulatedClock, type SimulatedClock } from '#test/support/simulated-clock.ts';

const EVENING = Date.parse('2026-11-21T18:00:00Z');
const HOUR_MS = 3_600_000;
/** The rate never limits calls here, so that only the day matters. */
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
});
beforeEach(async () => {
  server.signal('SIGCONT');
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

/** Resumes Redis and waits until the instances notice. */
async function comeBack(): Promise<void> {
  server.signal('SIGCONT');
  await expect.poll(() => connections.some(({ presence }) => presence.isUnreachable(''))).toBe(false);
}

const spentKey = async () => (await admin.keys('*:spent:*'))[0] ?? '';
const spent = async () => Number(await admin.get(await spentKey()));

it('a day’s count lost by Redis continues from the highest count that an instance knows', async () => {
  const before = presumedSpent(EVENING, LIMITS);
  await one.spend('high');
  await admin.incrby(await spentKey(), 1000);
  await other.spend('high');
  expect(await spent()).toBe(before + 1002);

  await admin.flushall();
  await one.spend('high');
  await other.spend('high');
  expect(await spent()).toBe(before + 1003);
});

it('calls granted in advance are withdrawn when the clock is set back', async () => {
  await one.spend('high');
  clock.set(EVENING - 12 * HOUR_MS);
  expect(await one.spend('high')).toEqual({ isTaken: true });
  expect(await spent()).toBe(presumedSpent(EVENING - 12 * HOUR_MS, LIMITS) + 1);
  expect(await other.spend('high')).toEqual({ isTaken: true });
});

it('calls made while Redis is unreachable are added once when it is back', async () => {
  await one.spend('high');
  const before = await spent();
  server.signal('SIGSTOP');
  await one.spend('high');
  await clock.advance(2 * RATE_WINDOW_MS);
  for (let n = 0; n < 3; n++) expect(await one.spend('high')).toEqual({ isTaken: true });
  await comeBack();
  await clock.advance(2 * RATE_WINDOW_MS);
  await Promise.all([one.spend('high'), one.spend('high')]);
  // The first call was also sent to Redis, and its response came too late.
  expect(await spent()).toBe(before + 6);
});

it('all instances together keep to the rate when Redis dies while calls are taken', async () => {
  const limits = { rps: 5, dailyBudget: 60_000 };
  const [meter, another] = connections.map((redis) =>
    createRedisMeter({ redis: { ...redis, instances: () => 2 }, apiKey: 'd', limits, clock }),
  );
  const takeFive = async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => (meter as Meter).spend('high')));
    return results.filter(({ isTaken }) => isTaken).length;
  };
  await meter?.spend('high');
  // Redis has a clock of its own.
  await sleep(systemClock, RATE_WINDOW_MS);
  await clock.advance(RATE_WINDOW_MS);
  const others = Promise.all(Array.from({ length: 5 }, () => another?.spend('high')));
  server.signal('SIGSTOP');
  // Redis may have granted them to the other instance.
  expect(await takeFive()).toBe(0);
  await others;
  await clock.advance(RATE_WINDOW_MS);
  // The share of one of two instances.
  expect(await takeFive()).toBe(2);
  await comeBack();
  // The two calls made meanwhile count as made now.
  expect(await takeFive()).toBeLessThanOrEqual(3);
});

/** A call of a new account. */
const ticket = (): Ticket => ({ priority: 'low', accounts: [new Set([randomUUID()])] });

it.each([1, 2])('a Redis 250 ms away still allows exactly five calls a second with %i instances', async (count) => {
  const proxy = await startDelayingProxy(server.port, 250);
  const urls = [`redis://127.0.0.1:${proxy.port}`];
  const far = await Promise.all(Array.from({ length: count }, () => openRedis(urls, silent)));
  const starts: number[] = [];
  const monitor = await admin.monitor();
  monitor.on('monitor', (_time: string, [command = '', key = '', moment = '']: string[]) => {
    if (command.toUpperCase() === 'LPUSH' && key.endsWith(':starts')) starts.push(Number(moment));
  });
  const limits = { rps: 5, dailyBudget: 60_000 };
  const budgets = far.map((redis) => {
    const meters = [createRedisMeter({ redis, apiKey: 'far', limits, clock: systemClock })];
    return new Budget({ meters, limits, clock: systemClock });
  });
  // This many may wait two seconds for their call; one after another would take longer.
  const tickets = Array.from({ length: 10 }, (_, index) => budgets[index % count]?.spend(ticket()));
  await expect(Promise.all(tickets)).resolves.toHaveLength(10);
  await expect.poll(() => starts.length).toBe(10);
  const gaps = starts.slice(5).map((start, index) => start - (starts[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(RATE_WINDOW_MS);
  monitor.disconnect();
  for (const redis of far) redis.close();
  await proxy.close();
});
