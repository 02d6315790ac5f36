import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { systemClock } from '#src/core/clock.ts';
import type { CallUpstream } from '#src/efa/query-upstream.ts';
import type { DepartureMonitorRequest } from '#src/efa/request.ts';
import { fromSydneyWallClock } from '#src/transit/time.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { createMadeUpUpstream, createTestLog, statusFailure } from '#test/support/made-up-upstream.ts';
import { openStream, type ReadStream } from '../extensions/streams/reading.ts';

const MINUTE_MS = 60_000;
const EVENTS_PER_PAGE = 40;
/** `systemClock` still reads the real clock. */
const clock = { now: () => Date.now(), after: systemClock.after };

let app: TestApp;
let store: ReturnType<typeof openEmbeddedStore>;
let upstream: ReturnType<typeof createMadeUpUpstream>;
let budgetLeft: () => number;
/** Upstream calls other than background work. */
let paidCalls: number;
let streams: ReadStream[];

beforeEach(async () => {
  vi.useFakeTimers({
    now: Date.parse('2026-04-15T06:00:10Z'),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  });
  streams = [];
  store = openEmbeddedStore(':memory:');
  upstream = createMadeUpUpstream(clock, 0);
  upstream.outcome = (request) => boardOf(request as DepartureMonitorRequest);
  const limits = { rps: 5, dailyBudget: 24_000 };
  paidCalls = 0;
  const callUpstream: CallUpstream = (request, options) => {
    if (options?.priority !== 'background') paidCalls++;
    return upstream.callUpstream(request, options);
  };
  const protection = protectUpstream({ callByKey: [callUpstream], limits, log: createTestLog(), clock });
  budgetLeft = () => protection.state().budgetLeft;
  app = await buildTestApp({ upstream: protection.queryUpstream, store, now: () => new Date() });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const stream of streams) stream.close();
  vi.useRealTimers();
  await app.close();
});

/** Stops that begin with 3 are unknown, stops that begin with 9 fail; all others have a full page of departures. */
function boardOf({ stopId, at }: DepartureMonitorRequest): object {
  if (stopId.startsWith('9')) return statusFailure(502);
  if (stopId.startsWith('3')) return { version: '10.2.1.42', locations: [], stopEvents: [] };
  const from = (at && fromSydneyWallClock(at)) || Date.now();
  const leaves = Array.from({ length: EVENTS_PER_PAGE }, (_, index) =>
    new Date(from + (index + 1) * MINUTE_MS).toISOString(),
  );
  return JSON.parse(JSON.stringify(departureMonitor(...leaves)).replaceAll('"200060"', `"${stopId}"`));
}

const get = (key: string, url: string) => app.inject({ url, headers: { authorization: `Bearer ${key}` } });

async function charged(key: string): Promise<number> {
  return (await store.loadUsage(parseKey(key)?.accountId ?? '', ['20260415']))[0] ?? 0;
}

/** Advances the simulated time in steps, so that requests over connections are answered meanwhile. */
async function advance(ms: number): Promise<void> {
  for (let gone = 0; gone < ms; gone += 500) {
    await vi.advanceTimersByTimeAsync(500);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

it('a Pro account that polls gets equally fresh responses with and without accounts that waste upstream calls', {
  timeout: 120_000,
}, async () => {
  const pro = await issueTestKey(store, { plan: 'pro' });
  const misusers = [
    await issueTestKey(store, { plan: 'developer' }),
    ...(await Promise.all(Array.from({ length: 2 }, () => issueTestKey(store)))),
  ];
  let last = 0;
  const stops = (first: string, count: number) =>
    Array.from({ length: count }, () => first + String(++last).padStart(6, '0'));
  const ages: number[] = [];
  const refused: number[] = [];
  let least = 1;
  for (let second = 0; second < 240; second++) {
    for (const key of misusers) {
      get(key, `/v1/boards?stops=${[...stops('3', 10), ...stops('2', 9), ...stops('9', 1)].join()}`);
      get(key, `/v1/departures?stop=${stops('2', 1)}&routes=NOPE&limit=50`);
    }
    if (second % 10 === 0) {
      for (const stop of ['200060', '200070', '200080']) {
        get(pro, `/v1/departures?stop=${stop}`).then(({ statusCode, headers }) =>
          statusCode === 200 ? ages.push(Number(headers.age)) : refused.push(statusCode),
        );
      }
    }
    await advance(1000);
    least = Math.min(least, budgetLeft());
  }
  expect(refused).toEqual([]);
  expect(ages).toHaveLength(72);
  expect(Math.max(...ages)).toBeLessThanOrEqual(10);
  // The other accounts were short of calls.
  expect(least).toBeLessThan(0.3);
});

it.each(['routes=NOPE', 'limit=50'])(
  'streams with %s cause no more upstream calls than their account is charged for, even with background work',
  { timeout: 120_000 },
  async (filter) => {
    const key = await issueTestKey(store);
    for (let stop = 0; stop < 2; stop++) {
      const opening = openStream(app, `/v1/departures/stream?stop=20006${stop}&modes=all&${filter}`, { key });
      // Its first calls wait for the next second.
      await advance(3000);
      streams.push(await opening);
    }
    for (let minute = 0; minute < 12; minute++) {
      await advance(MINUTE_MS);
      // A minute is charged at its end.
      expect(paidCalls).toBeLessThanOrEqual((await charged(key)) + 8);
    }
    expect(paidCalls).toBeGreaterThan(24);
  },
);
