import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { NOW, tripResponse } from '#test/contract/payloads.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { json } from '#test/support/upstream.ts';

type Service = Awaited<ReturnType<typeof startProtectedApp>>;
const URL = '/v1/departures?stop=200060';
const LEAVES = ['2026-04-15T06:10:00Z', '2026-04-15T08:20:30Z'];

let service: Service;
const started: Service[] = [];

beforeEach(async () => {
  service = await startProtectedApp({ now: '2026-04-15T06:00:10Z', response: json(departureMonitor(...LEAVES)) });
  started.push(service);
});
afterAll(() => Promise.all(started.map(({ app }) => app.close())));

const get = (headers: Record<string, string> = {}, url = URL) => service.app.inject({ url, headers });

describe('the freshness headers', () => {
  it('the freshness headers mark a new response, then give its age and lifetime', async () => {
    const first = await get();
    expect(first.headers).toMatchObject({
      'cache-control': 'private, max-age=15, stale-if-error=180',
      age: '0',
      'cache-status': 'transit; fwd=miss',
      vary: 'Accept-Encoding, Authorization, Origin',
    });
    await service.clock.advance(12_000);
    const second = await get();
    expect(second.headers).toMatchObject({ age: '12', 'cache-status': 'transit; hit; ttl=3' });
    expect(second.json().retrieved_at).toBe(first.json().retrieved_at);
    expect(service.upstream.requests).toHaveLength(1);
  });

  it('a HEAD answered with 304 has no length', async () => {
    const { headers } = await get();
    const again = { 'if-none-match': String(headers.etag) };
    const response = await service.app.inject({ method: 'HEAD', url: URL, headers: again });
    expect(response.statusCode).toBe(304);
    expect(response.headers).not.toHaveProperty('content-length');
  });

  it('the freshness headers distinguish stale from fresh responses', async () => {
    await get();
    await service.clock.advance(100_000);
    service.upstream.respondWith((_request, response) => response.writeHead(502).end());
    const { statusCode, headers, body } = await get();
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({ age: '100', 'cache-status': 'transit; hit; ttl=-85; detail=upstream-failing' });
    expect(JSON.parse(body).retrieved_at).toBe('2026-04-15T06:00:10Z');
  });

  it('`minutes_away` counts from when the response is sent, even if it was cached', async () => {
    expect((await get()).json().departures.map(minutesAway)).toEqual([9, 140]);
    await service.clock.advance(14_000);
    expect((await get()).json().departures.map(minutesAway)).toEqual([9, 140]);
    await service.clock.advanceTo(Date.parse('2026-04-15T06:00:59Z'));
    expect((await get()).json().departures.map(minutesAway)).toEqual([9, 139]);
    await service.clock.advanceTo(Date.parse('2026-04-15T06:01:00.500Z'));
    expect((await get()).json().departures.map(minutesAway)).toEqual([8, 139]);
    expect(service.upstream.requests).toHaveLength(2);
  });

  it('the freshness headers forbid storing errors', async () => {
    for (const url of ['/v1/departures', '/v1/nothing', `${URL}&limit=0`]) {
      expect((await get({}, url)).headers['cache-control']).toBe('no-store');
    }
  });
});

describe('responses that the caller already has', () => {
  it('a response that the caller has is not sent again, whatever form the condition has', async () => {
    const { headers } = await get();
    const etag = String(headers.etag);
    expect(etag).toMatch(/^W\/"/);
    for (const condition of [etag, etag.slice(2), `"other", ${etag}`, '*', `W/"a,b" ,${etag}`]) {
      const { statusCode, body, headers } = await get({ 'if-none-match': condition });
      expect(statusCode, condition).toBe(304);
      expect(body).toBe('');
      expect(headers).toMatchObject({
        etag,
        vary: 'Accept-Encoding, Authorization, Origin',
        'cache-control': expect.any(String),
      });
      expect(headers['content-type']).toBeUndefined();
    }
    for (const condition of ['"other"', 'W/"other"', '']) {
      expect((await get({ 'if-none-match': condition })).statusCode, condition).toBe(200);
    }
  });

  it('a response that the caller has is sent again when a minute has passed', async () => {
    const { headers } = await get();
    await service.clock.advance(55_000);
    expect((await get({ 'if-none-match': String(headers.etag) })).statusCode).toBe(200);
  });

  it('a response is not sent again if only its retrieval time differs, and the 304 gives its freshness', async () => {
    const trips = await startProtectedApp({ now: NOW, response: json(tripResponse) });
    started.push(trips);
    // With a time, because without one, journeys that have left are left out.
    const send = (etag: string) =>
      trips.app.inject({ url: '/v1/trips?from=202091&to=G2095102&time=1600', headers: { 'if-none-match': etag } });
    const first = await send('"other"');
    const etag = String(first.headers.etag);
    const ages = new Set<unknown>();
    for (let poll = 0; poll < 2000; poll++) {
      await trips.clock.advance(7000);
      const { statusCode, headers } = await send(etag);
      expect(statusCode).toBe(304);
      expect(headers).toMatchObject({
        etag,
        date: expect.any(String),
        'cache-control': first.headers['cache-control'],
      });
      ages.add(headers.age);
    }
    expect(trips.upstream.requests.length).toBeGreaterThan(300);
    expect([...ages].toSorted()).toEqual(['0', '14', '21', '28', '7']);
    const { retrieved_at } = (await send('"other"')).json();
    expect(Date.parse(retrieved_at)).toBeGreaterThan(Date.parse(NOW) + 3 * 3_600_000);
  });

  it('a 304 is free only if its response came from the cache', async () => {
    const free: boolean[] = [];
    service.app.addHook('onResponse', async (request) => void free.push(request.outcome.isFree));
    const { headers } = await get();
    await get({ 'if-none-match': String(headers.etag) });
    await service.clock.advance(16_000);
    await get({ 'if-none-match': String(headers.etag) });
    expect(free).toEqual([false, true, false]);
  });
});

const minutesAway = ({ minutes_away }: { minutes_away: number }) => minutes_away;
