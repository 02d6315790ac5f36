import { expect, it } from 'vitest';
import { FRESHNESS_WINDOWS } from '#src/transit/freshness.ts';
import { type KeptResponse, ResponseCache, unpack } from '#src/upstream/response-cache.ts';
import { departureMonitorResponse } from '#test/contract/payloads.ts';
import { receivedResponse } from '#test/support/received-response.ts';

const QUESTION = { kind: 'departureMonitor', stopId: '200060', modes: ['bus'], at: null } as const;
const WINDOW = FRESHNESS_WINDOWS.departuresNow;
const NOW = new Date('2026-04-15T06:00:00Z');

const createCache = () => new ResponseCache({ maxBytes: 1_000_000, now: () => NOW.getTime() });

it.each([
  ['small', 1],
  ['large', 300],
])('a %s response is available at once, and unchanged when packed', async (_size, copies) => {
  const cache = createCache();
  const response = {
    ...departureMonitorResponse,
    stopEvents: Array(copies).fill(departureMonitorResponse.stopEvents).flat(),
  };
  const received = receivedResponse(QUESTION, response, NOW);
  const read = () => unpack(QUESTION, cache.find('key', WINDOW) as KeptResponse);

  const kept = cache.store('key', received);
  expect(cache.find('key', WINDOW)?.isPacked).toBe(false);
  expect(await read()).toEqual(received.payload);

  await kept;
  expect(await read()).toEqual(received.payload);
  expect(cache.find('key', WINDOW)?.isPacked).toBe(true);
});

it('a packed response does not replace a newer one', async () => {
  const cache = createCache();
  const later = new Date(NOW.getTime() + 1000);
  const first = cache.store('key', receivedResponse(QUESTION, departureMonitorResponse, NOW));
  const second = cache.store('key', receivedResponse(QUESTION, departureMonitorResponse, later));
  await Promise.all([first, second]);
  expect(cache.find('key', WINDOW)).toMatchObject({ retrievedAt: later.getTime(), isPacked: true });
});

it('a response that cannot be packed is not cached, and nothing fails', async () => {
  const cache = createCache();
  const received = receivedResponse(QUESTION, departureMonitorResponse, NOW);
  await cache.store('key', { ...received, json: 0 as unknown as Buffer });
  expect(cache.find('key', WINDOW)).toBeNull();
});

it('the response cache stays within its memory limit', async () => {
  const cache = createCache();
  const response = receivedResponse(QUESTION, departureMonitorResponse, NOW);
  for (let one = 0; one < 2000; one++) await cache.store(`key ${one}`, response);
  const { entries, bytes } = cache.size();
  expect(bytes).toBeLessThanOrEqual(1_000_000);
  expect(entries).toBeGreaterThan(100);
  expect(entries).toBeLessThan(2000);
  expect(cache.find('key 0', WINDOW)).toBeNull();
  expect(cache.find('key 1999', WINDOW)).not.toBeNull();
});
