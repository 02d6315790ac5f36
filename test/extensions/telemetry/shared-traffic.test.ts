import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { SharedTraffic } from '#src/extensions/telemetry/shared-traffic.ts';
import { loadReport, toJson } from '#src/extensions/telemetry/status-report.ts';
import type { UpstreamHealth } from '#src/extensions/telemetry/traffic.ts';
import { startRedis, startRedisCluster, type TestRedis } from '../../support/redis.ts';

const TRIPS = '/v1/trips';
const WELL: UpstreamHealth = { budgetLeft: 1, isBreakerOpen: false };
let redis: TestRedis;
let clock: Date;
let closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(() => {
  clock = new Date('2026-11-20T02:00:20Z');
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
});

async function startInstance(health = WELL, source = 'sandbox', url = redis.url): Promise<SharedTraffic> {
  const connection = await openRedis(url.split(','), { info() {}, warn() {} });
  const now = () => clock;
  const traffic = new SharedTraffic({ redis: connection, source, now: () => now().getTime() });
  traffic.health = () => health;
  closers.push(async () => {
    await traffic.close();
    connection.close();
  });
  return traffic;
}

/** Reads the instance's status page. Reports are cached for two seconds, so the clock moves on. */
async function report(traffic: SharedTraffic) {
  clock = new Date(clock.getTime() + 2000);
  const options = {
    operations: [TRIPS],
    traffic,
    upstreamHealth: () => WELL,
    isSandbox: true,
    now: () => clock.getTime(),
  };
  const { at: _, ...rest } = toJson(await loadReport(options));
  return rest;
}

describe('several instances with one Redis', () => {
  it('several instances all show the sum of their numbers', async () => {
    const [one, other] = [await startInstance(), await startInstance()];
    for (let n = 0; n < 6; n++) one.answered(TRIPS, 200, 10);
    for (let n = 0; n < 4; n++) other.answered(TRIPS, n === 0 ? 503 : 200, 1000);
    one.upstreamResponded();
    other.upstreamResponded();
    one.boardMade({ boards: 1, timetableBoards: 0, departures: 10, liveDepartures: 5 });
    other.boardMade({ boards: 4, timetableBoards: 4, departures: 10, liveDepartures: 10 });
    await other.publish();
    const told = await report(one);
    expect(told).toMatchObject({
      status: 'degraded',
      scope: 'all_instances',
      instances: 2,
      upstream: { last_good_answer_at: '2026-11-20T02:00:20Z' },
    });
    for (const window of Object.values(told.windows)) {
      expect(window).toMatchObject({
        live_share: 0.75,
        timetable_share: 0.8,
        operations: { [TRIPS]: { answered: 10, success_rate: 0.9 } },
      });
      expect(window.operations[TRIPS]?.p50_ms).toBeLessThan(13);
      expect(window.operations[TRIPS]?.p95_ms).toBeGreaterThan(900);
    }
    expect(await report(other)).toEqual(told);
  });

  it('several instances report that calls are refused when one of them knows it', async () => {
    const one = await startInstance();
    const other = await startInstance({ ...WELL, shortage: 'refused' });
    await Promise.all([one.publish(), other.publish()]);
    expect((await report(one)).upstream).toMatchObject({ calls_of_the_day: 'refused' });
  });

  it('several instances remember the requests of an instance that has stopped', async () => {
    const [one, other] = [await startInstance(), await startInstance()];
    one.answered(TRIPS, 200, 10);
    await one.close();
    expect(await report(other)).toMatchObject({
      instances: 1,
      windows: { '1h': { operations: { [TRIPS]: { answered: 1 } } } },
    });
  });

  it('each instance also shows its own numbers, and the day in quarters of an hour', async () => {
    const [one, other] = [await startInstance(), await startInstance()];
    for (let n = 0; n < 6; n++) one.answered(TRIPS, 200, 10);
    other.answered(TRIPS, 503, 1000);
    await other.publish();
    const options = { operations: [TRIPS], traffic: one, isSandbox: true, now: () => clock.getTime() };
    const [all, own] = [await loadReport(options), await loadReport(options, { isOwn: true })];
    expect(all.quarters).toHaveLength(96);
    expect(all.quarters.at(-1)).toMatchObject({ from: Date.parse('2026-11-20T02:00:00Z'), answered: 7, failed: 1 });
    expect(own.quarters.at(-1)).toMatchObject({ answered: 6, failed: 0 });
    expect(toJson(own)).toMatchObject({ scope: 'this_instance', status: 'ok' });
  });

  it('several instances stop counting an instance that was killed', async () => {
    const [killed, other] = [await startInstance(), await startInstance()];
    await killed.publish();
    expect((await report(other)).instances).toBe(2);
    clock = new Date(clock.getTime() + 31_000);
    expect((await report(other)).instances).toBe(1);
  });

  it('several instances show the least budget, and an open breaker of any of them', async () => {
    const [one, other] = [await startInstance(), await startInstance({ budgetLeft: 0.2, isBreakerOpen: true })];
    await other.publish();
    expect(await report(one)).toMatchObject({ status: 'degraded', upstream: { budget_left: 0.2, breaker: 'open' } });
  });

  it('the numbers of the sandbox and of upstream stay separate', async () => {
    const [made, real] = [await startInstance(WELL, 'sandbox'), await startInstance(WELL, 'https://upstream.example')];
    made.answered(TRIPS, 200, 10);
    await made.publish();
    expect(await report(real)).toMatchObject({ status: 'idle', instances: 1 });
  });

  it('several instances forget a minute after five, the hour and the day', async () => {
    const traffic = await startInstance();
    traffic.answered(TRIPS, 200, 10);
    await traffic.publish();
    const answered = async () =>
      Object.values((await report(traffic)).windows).map(({ operations }) => operations[TRIPS]?.answered);
    const start = clock.getTime();
    const minutesLater = async (minutes: number) => {
      clock = new Date(start + minutes * 60_000);
      return answered();
    };
    expect(await minutesLater(4)).toEqual([1, 1, 1]);
    expect(await minutesLater(6)).toEqual([0, 1, 1]);
    expect(await minutesLater(61)).toEqual([0, 0, 1]);
    expect(await minutesLater(25 * 60)).toEqual([0, 0, 0]);
  });

  it('the shared numbers stay in Redis for a day and no longer', async () => {
    const traffic = await startInstance();
    traffic.answered(TRIPS, 200, 10);
    traffic.upstreamResponded();
    await traffic.publish();
    const client = new Redis(redis.url);
    const keys = await client.keys('*traffic*');
    const seconds = await Promise.all(keys.map((key) => client.ttl(key)));
    client.disconnect();
    expect(keys.length).toBe(4);
    for (const second of seconds) {
      expect(second).toBeGreaterThan(3600);
      expect(second).toBeLessThanOrEqual(25 * 3600);
    }
  });
});

it('an instance without Redis shows its own numbers and says so, and nothing is lost when Redis is back', async () => {
  const own = await startRedis();
  const [one, other] = [await startInstance(WELL, 'sandbox', own.url), await startInstance(WELL, 'sandbox', own.url)];
  other.answered(TRIPS, 200, 10);
  await other.publish();
  own.signal('SIGSTOP');
  one.answered(TRIPS, 200, 10);
  expect(await report(one)).toMatchObject({
    scope: 'this_instance',
    instances: 1,
    windows: { '5m': { operations: { [TRIPS]: { answered: 1 } } } },
  });
  await own.kill();
  await own.restart();
  await expect.poll(() => one.publish().then(() => 'published', String)).toBe('published');
  expect(await report(one)).toMatchObject({
    scope: 'all_instances',
    windows: { '5m': { operations: { [TRIPS]: { answered: 2 } } } },
  });
  await own.stop();
});

it('the shared numbers work on a Redis cluster', async () => {
  const cluster = await startRedisCluster();
  const traffic = await startInstance(WELL, 'sandbox', cluster.url);
  traffic.answered(TRIPS, 200, 10);
  await traffic.publish();
  expect(await report(traffic)).toMatchObject({
    scope: 'all_instances',
    windows: { '24h': { operations: { [TRIPS]: { answered: 1 } } } },
  });
  for (const close of closers.splice(0)) await close();
  await cluster.stop();
});
