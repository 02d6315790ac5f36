import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { NO_BURST_LIMITS } from '#src/access/limits/burst-limits.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import type { Handler } from '#test/support/upstream.ts';

const NOW = '2026-04-15T06:00:10Z';
const DAY = '20260415';
const NO_STOP = JSON.stringify({ version: '10.2.1.42', locations: [], stopEvents: [] });
const PLENTY = Array.from({ length: 40 }, (_, index) => new Date(Date.parse(NOW) + (index + 1) * 60_000).toISOString());

type Service = Awaited<ReturnType<typeof startProtectedApp>>;

let service: Service;
let store: ReturnType<typeof openEmbeddedStore>;
let key: string;
/** Responses to failing stops wait for this. */
let failing: Promise<void>;

/** Stops that begin with 3 are unknown, and those that begin with 9 fail. */
const upstream: Handler = (request, response) => {
  const stop = new URL(request.url, 'http://upstream.test').searchParams.get('name_dm') ?? '';
  if (stop.startsWith('9')) return void failing.then(() => response.writeHead(502).end());
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(stop.startsWith('3') ? NO_STOP : departureMonitorFor(request.url, ...PLENTY));
};

beforeEach(async () => {
  failing = Promise.resolve();
  store = openEmbeddedStore(':memory:');
  key = await issueTestKey(store);
  service = await startProtectedApp({
    now: NOW,
    store,
    burstLimits: NO_BURST_LIMITS,
    response: upstream,
  });
});
afterEach(async () => {
  await service.app.close();
});

const get = (url: string) => service.app.inject({ url, headers: { authorization: `Bearer ${key}` } });
const calls = () => service.upstream.requests.length;
const used = async () => (await store.loadUsage(parseKey(key)?.accountId ?? '', [DAY]))[0] ?? 0;
let last = 0;
/** Returns stops that no request has named before. */
const stops = (first: string, count: number) =>
  Array.from({ length: count }, () => first + String(++last).padStart(5, '0'));

describe('an account that causes many upstream calls', () => {
  it('an account is charged for boards of unknown stops even if one stop fails', async () => {
    for (let board = 0; board < 10; board++) {
      const { statusCode } = await get(`/v1/boards?stops=${[...stops('3', 19), ...stops('9', 1)].join()}`);
      expect(statusCode).toBe(502);
      // Failures open the circuit breaker, which this test is not about.
      await service.clock.advance(60_000);
      await get(`/v1/departures?stop=${stops('2', 1)}`);
    }
    expect(calls()).toBeGreaterThanOrEqual(200);
    await expect.poll(used).toBeGreaterThanOrEqual(200);
  });

  it('an account is charged for failures once an hour’s refunds are used up', async () => {
    for (let request = 0; request < 160; request++) {
      await get(`/v1/departures?stop=${stops('9', 1)}`);
      await service.clock.advance(5_000);
    }
    expect(calls()).toBeLessThanOrEqual(1.2 * (await used()) + 100);
  });
});

describe('an account whose requests in flight have reserved the rest of its day', () => {
  it('an account whose requests in flight have reserved the rest of its day gets TOO_MANY_REQUESTS', async () => {
    await countRequests(store, key, 940, DAY);
    const { promise, resolve } = Promise.withResolvers<void>();
    failing = promise;
    const boards = Array.from({ length: 3 }, () => get(`/v1/boards?stops=${stops('9', 20).join()}`));
    await expect.poll(used).toBe(1000);
    for (const url of ['/v1/departures?stop=200070', `/v1/boards?stops=${stops('2', 5).join()}`]) {
      const refused = await get(url);
      expect(refused.statusCode).toBe(429);
      expect(refused.json().error.code).toBe('TOO_MANY_REQUESTS');
      expect(refused.json().error.message).toContain('Your 60 requests in flight have reserved');
      expect(refused.headers['retry-after']).toBe('5');
    }
    resolve();
    for (const board of boards) expect((await board).statusCode).toBeGreaterThanOrEqual(500);
    expect(await used()).toBe(940);
    expect((await get('/v1/departures?stop=200070')).statusCode).not.toBe(429);
  });

  it('an account with no requests in flight gets DAILY_LIMIT_EXCEEDED', async () => {
    await countRequests(store, key, 999, DAY);
    expect((await get('/v1/departures?stop=200070')).statusCode).toBe(200);
    const refused = await get('/v1/departures?stop=200070');
    expect(refused.json().error.code).toBe('DAILY_LIMIT_EXCEEDED');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(17 * 3600);
  });
});
