import { describe, expect, it } from 'vitest';
import { createProtected, DEPARTURES, settle } from '#test/support/protected.ts';

describe('responses that are kept', () => {
  it('costs one call for as long as the response is fresh', async () => {
    const { clock, upstream, ask } = createProtected();
    const first = await ask();
    await clock.advance(14_000);
    const second = await ask();
    expect(upstream.calls).toHaveLength(1);
    expect(second.value?.payload).toEqual(first.value?.payload);
    expect(second.value?.retrievedAt).toEqual(first.value?.retrievedAt);
    expect([first, second].map(({ value }) => value?.freshness?.source)).toEqual(['upstream', 'cache']);
  });

  it('reads a kept response as it was read when it arrived, whatever shape its lists have', async () => {
    const { upstream, ask } = createProtected();
    upstream.outcome = () => ({ version: '10', systemMessages: { code: '-8011', text: 5 }, stopEvents: { id: 'a' } });
    const first = await ask();
    const second = await ask();
    expect(second.value?.freshness?.source).toBe('cache');
    expect(second.value?.payload).toEqual(first.value?.payload);
    expect(second.value?.payload.stopEvents).toEqual([{ id: 'a' }]);
  });

  it('asks again when the response is no longer fresh, and does not serve the old one meanwhile', async () => {
    const { clock, upstream, ask } = createProtected();
    await ask();
    await clock.advance(15_000);
    const { value } = await ask();
    expect(upstream.calls).toHaveLength(2);
    expect(value?.payload).toMatchObject({ stopEvents: [{ number: 2 }] });
    expect(value?.freshness?.shortage).toBeNull();
  });

  it('waits for a slow call, and gives up sooner only when a stale response is at hand', async () => {
    const { clock, upstream, ask } = createProtected();
    upstream.latencyMs = 6000;
    const first = await ask();
    expect(first.value?.freshness).toMatchObject({ source: 'upstream', shortage: null });
    await clock.advance(20_000);
    const second = await ask();
    expect(second.value?.freshness).toMatchObject({ source: 'cache', shortage: 'failing' });
  });

  it('makes one call for 500 equal requests at the same instant', async () => {
    const { clock, protection, upstream } = createProtected();
    const asked = Array.from({ length: 500 }, () => settle(protection.ask(DEPARTURES)));
    await clock.advance(1000);
    expect(upstream.calls).toHaveLength(1);
    const sources = asked.map(({ outcome }) => outcome.value?.freshness?.source);
    expect(sources.filter((source) => source === 'upstream')).toHaveLength(1);
    expect(sources.filter((source) => source === 'joined')).toHaveLength(499);
  });

  it('fails all requests that wait for the same call', async () => {
    const { clock, protection, upstream } = createProtected();
    upstream.outcome = () => new RangeError('a bug');
    const asked = Array.from({ length: 50 }, () => settle(protection.ask(DEPARTURES)));
    await clock.advance(1000);
    expect(asked.every(({ outcome }) => outcome.error instanceof RangeError)).toBe(true);
    expect(upstream.calls).toHaveLength(1);
  });

  it('finishes a call for the other requests when one of them gives up', async () => {
    const { clock, protection } = createProtected();
    const leaving = new AbortController();
    const left = settle(protection.ask(DEPARTURES, { signal: leaving.signal }));
    const stayed = settle(protection.ask(DEPARTURES));
    await clock.advance(50);
    leaving.abort();
    await clock.advance(1000);
    expect(left.outcome.error).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(stayed.outcome.value?.payload).toMatchObject({ stopEvents: [{ number: 1 }] });
  });

  it('answers requests that are written differently but ask the same with one call', async () => {
    const { clock, protection, upstream } = createProtected();
    const ask = async (request: Promise<unknown>) => {
      settle(request);
      await clock.advance(1000);
    };
    await ask(protection.ask({ kind: 'departureMonitor', stopId: 'g201023', modes: ['train', 'bus'], at: null }));
    await ask(protection.ask({ kind: 'departureMonitor', stopId: 'G201023', modes: ['bus', 'train'], at: null }));
    expect(upstream.calls).toHaveLength(1);
    await ask(protection.ask({ kind: 'coord', lat: -33.88271, lng: 151.20651, radiusMetres: 500 }));
    await ask(protection.ask({ kind: 'coord', lat: -33.88269, lng: 151.20649, radiusMetres: 500 }));
    expect(upstream.calls).toHaveLength(2);
    await ask(protection.ask({ kind: 'stopFinder', text: 'Town  Hall' }));
    await ask(protection.ask({ kind: 'stopFinder', text: 'town hall' }));
    expect(upstream.calls).toHaveLength(3);
  });
});
