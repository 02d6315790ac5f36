import { describe, expect, it, onTestFinished } from 'vitest';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { parseQuery } from '#src/operations/operation.ts';
import { priceOf } from '#src/operations/price.ts';
import { issueTestKey } from '../support/access.ts';
import { buildTestApp } from '../support/app.ts';
import { describedOperations } from '../support/operations.ts';

/** 10:00 in Sydney on Thursday 26 November 2026. */
const NOW = new Date('2026-11-25T23:00:00Z');
const operations = describedOperations();

function priceAt(path: string, query: string): number {
  const operation = operations.find((one) => one.path === path);
  if (!operation) throw new Error(`no operation ${path}`);
  return priceOf(operation, parseQuery(operation, Object.fromEntries(new URLSearchParams(query))), NOW.getTime());
}

const ends = 'from=200060&to=209573';
const stops = (count: number) => Array.from({ length: count }, (_, index) => 200_001 + index).join();

describe('what a request is charged', () => {
  it.each([
    ['/v1/trips', ends],
    ['/v1/trips', `${ends}&limit=6&arrive_by=true`],
    ['/v1/trips', `${ends}&date=20261125&time=2200&arrive_by=true`],
    ['/v1/trips', `${ends}&date=20261127&time=0500&arrive_by=true`],
    ['/v1/trips', `${ends}&time=2026-11-27T09:00`],
    ['/v1/trips', `${ends}&pace=slow&max_walk=300&min_change=5&prefer=less_walking`],
    ['/v1/reachable', 'from=200060&minutes=90'],
    ['/v1/reachable', 'from=200060&minutes=90&pace=fast&max_walk=300'],
    ['/v1/travel-times', `from=200060&to=${stops(5)}`],
    ['/v1/departures', 'stop=200060&modes=all&limit=50&date=20261210'],
  ])('an ordinary request costs one: %s?%s', (path, query) => {
    expect(priceAt(path, query)).toBe(1);
  });

  it.each([
    ['/v1/trips', `${ends}&date=20261128`, 2],
    ['/v1/trips', `${ends}&time=2026-11-28T09:00`, 2],
    ['/v1/trips', `${ends}&date=20261128&arrive_by=true`, 3],
    ['/v1/trips', `${ends}&via=200070&limit=1`, 3],
    ['/v1/trips', `${ends}&via=200070@10,200020&limit=6`, 25],
    ['/v1/trips', `${ends}&via=200070,200020&limit=6&date=20261210`, 26],
    ['/v1/reachable', 'from=200060&limit=1001', 2],
    ['/v1/reachable', 'from=200060&limit=5000&date=20261210', 6],
    ['/v1/reachable', 'from=200060&format=geojson&limit=5000', 3],
    ['/v1/travel-times', `from=200060&to=${stops(10)}`, 2],
    ['/v1/travel-times', `from=200060&to=${stops(10)}&date=20261210`, 3],
    ['/v1/boards', `stops=${stops(20)}`, 20],
    ['/v1/boards', 'near=-33.87,151.2', 2],
    ['/v1/boards', 'near=-33.87,151.2&max_stops=10&radius=2000', 2],
  ])('a request that takes more work costs more: %s?%s', (path, query, price) => {
    expect(priceAt(path, query)).toBe(price);
  });
});

it('a URL that was requested before costs what its day costs now', async () => {
  const store = openEmbeddedStore(':memory:');
  const app = await buildTestApp({
    upstream: async () => Promise.reject(new Error('unused')),
    now: NOW.toISOString(),
    store,
  });
  onTestFinished(async () => {
    await app.close();
    await store.close();
  });
  const authorization = `Bearer ${await issueTestKey(store, { plan: 'free', now: NOW })}`;
  const chargeOn = async (now: string) => {
    app.clock.now = new Date(now);
    const response = await app.inject({
      url: '/v1/reachable?from=200060&date=20261128',
      headers: { authorization },
    });
    return 1000 - Number(response.headers['x-ratelimit-remaining']);
  };
  expect(await chargeOn('2026-11-25T23:00:00Z')).toBe(2);
  expect(await chargeOn('2026-11-26T23:00:00Z')).toBe(1);
});
