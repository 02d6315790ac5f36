import { describe, expect, it } from 'vitest';
import { createProtected, DEPARTURES, settle } from '#test/support/protected.ts';

describe('cached responses', () => {
  it('a cached response costs one call while fresh', async () => {
    const { clock, upstream, send } = createProtected();
    const first = await send();
    await clock.advance(14_000);
    const second = await send();
    expect(upstream.calls).toHaveLength(1);
    expect(second.value?.payload).toEqual(first.value?.payload);
    expect(second.value?.retrievedAt).toEqual(first.value?.retrievedAt);
    expect([first, second].map(({ value }) => value?.freshness?.source)).toEqual(['upstream', 'cache']);
  });

  it('a cached response reads as it did on arrival, whatever the shape of its lists', async () => {
    const { upstream, send } = createProtected();
    upstream.outcome = () => ({ version: '10', systemMessages: { code: '-8011', text: 5 }, stopEvents: { id: 'a' } });
    const first = await send();
    const second = await send();
    expect(second.value?.freshness?.source).toBe('cache');
    expect(second.value?.payload).toEqual(first.value?.payload);
    expect(second.value?.payload.stopEvents).toEqual([{ id: 'a' }]);
  });

  it('a stale response is requested again, and not served meanwhile', async () => {
    const { clock, upstream, send } = createProtected();
    await send();
    await clock.advance(15_000);
    const { value } = await send();
    expect(upstream.calls).toHaveLength(2);
    expect(value?.payload).toMatchObject({ stopEvents: [{ number: 2 }] });
    expect(value?.freshness?.shortage).toBeNull();
  });

  it('a stale response is served when a call is slow; without one, the request waits longer', async () => {
    const { clock, upstream, send } = createProtected();
    upstream.latencyMs = 6000;
    const first = await send();
    expect(first.value?.freshness).toMatchObject({ source: 'upstream', shortage: null });
    await clock.advance(20_000);
    const second = await send();
    expect(second.value?.freshness).toMatchObject({ source: 'cache', shortage: 'failing' });
  });

  it('500 identical concurrent requests make one call', async () => {
    const { clock, protection, upstream } = createProtected();
    const sent = Array.from({ length: 500 }, () => settle(protection.queryUpstream(DEPARTURES)));
    await clock.advance(1000);
    expect(upstream.calls).toHaveLength(1);
    const sources = sent.map(({ outcome }) => outcome.value?.freshness?.source);
    expect(sources.filter((source) => source === 'upstream')).toHaveLength(1);
    expect(sources.filter((source) => source === 'joined')).toHaveLength(499);
  });

  it('all requests that share a call fail when it fails', async () => {
    const { clock, protection, upstream } = createProtected();
    upstream.outcome = () => new RangeError('a bug');
    const sent = Array.from({ length: 50 }, () => settle(protection.queryUpstream(DEPARTURES)));
    await clock.advance(1000);
    expect(sent.every(({ outcome }) => outcome.error instanceof RangeError)).toBe(true);
    expect(upstream.calls).toHaveLength(1);
  });

  it('a shared call still responds to the other requests when one gives up', async () => {
    const { clock, protection } = createProtected();
    const leaving = new AbortController();
    const left = settle(protection.queryUpstream(DEPARTURES, { signal: leaving.signal }));
    const stayed = settle(protection.queryUpstream(DEPARTURES));
    await clock.advance(50);
    leaving.abort();
    await clock.advance(1000);
    expect(left.outcome.error).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(stayed.outcome.value?.payload).toMatchObject({ stopEvents: [{ number: 1 }] });
  });

  it('requests that are written differently but mean the same share a cached response', async () => {
    const { clock, protection, upstream } = createProtected();
    const send = async (request: Promise<unknown>) => {
      settle(request);
      await clock.advance(1000);
    };
    await send(
      protection.queryUpstream({ kind: 'departureMonitor', stopId: 'g201023', modes: ['train', 'bus'], at: null }),
    );
    await send(
      protection.queryUpstream({ kind: 'departureMonitor', stopId: 'G201023', modes: ['bus', 'train'], at: null }),
    );
    expect(upstream.calls).toHaveLength(1);
    await send(protection.queryUpstream({ kind: 'coord', lat: -33.88271, lng: 151.20651, radiusMetres: 500 }));
    await send(protection.queryUpstream({ kind: 'coord', lat: -33.88269, lng: 151.20649, radiusMetres: 500 }));
    expect(upstream.calls).toHaveLength(2);
    await send(protection.queryUpstream({ kind: 'stopFinder', text: 'Town  Hall' }));
    await send(protection.queryUpstream({ kind: 'stopFinder', text: 'town hall' }));
    expect(upstream.calls).toHaveLength(3);
  });
});
