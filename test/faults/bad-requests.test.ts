import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { stopFinderResponse } from '#test/contract/payloads.ts';
import { issueTestKey } from '#test/support/access.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { type Handler, json } from '#test/support/upstream.ts';

/** Upstream's response to a request whose text begins with 8 or "fail", or contains an apostrophe. */
const DECLINED = { version: '10.2.1.42', systemMessages: [{ type: 'error', module: 'BROKER', code: -77, text: 'no' }] };
const BAD_STOPS: Record<string, Handler> = {
  '404': json({}, 404),
  '400': json({}, 400),
  '500': json({}, 500),
  'a message of an unknown kind': json(DECLINED),
};

let service: Awaited<ReturnType<typeof startProtectedApp>>;
let badStop: Handler;
let free: string;
let pro: string;
let bystander: string;

beforeEach(async () => {
  badStop = json({}, 404);
  const store = openEmbeddedStore(':memory:');
  service = await startProtectedApp({
    now: '2026-04-15T06:00:00Z',
    store,
    response: (request, response) => {
      const query = new URL(request.url, 'http://upstream.test').searchParams;
      const name = query.get('name_sf');
      if (query.get('name_dm')?.startsWith('8')) badStop(request, response);
      else if (name?.startsWith('fail') || name?.includes("'")) json({}, 500)(request, response);
      else if (name) json(stopFinderResponse)(request, response);
      else response.writeHead(200).end(departureMonitorFor(request.url, '2026-04-15T06:10:00Z'));
    },
  });
  free = await issueTestKey(store, { plan: 'free' });
  pro = await issueTestKey(store, { plan: 'pro' });
  bystander = await issueTestKey(store, { plan: 'free' });
});
afterEach(() => service.app.close());

const get = async (url: string, key: string) => {
  const { statusCode } = await service.app.inject({ url, headers: { authorization: `Bearer ${key}` } });
  return statusCode;
};

describe('bad requests of one account', () => {
  it.each(Object.keys(BAD_STOPS))('five unknown stops answered with %s affect no valid stop', async (kind) => {
    badStop = BAD_STOPS[kind] as Handler;
    for (let stop = 0; stop < 5; stop++) expect(await get(`/v1/departures?stop=8000${stop}`, free)).toBe(502);
    for (let stop = 0; stop < 10; stop++) expect(await get(`/v1/departures?stop=2000${stop}`, free)).toBe(200);
  });

  it('three failing searches, repeated, affect no other search or board', async () => {
    const names = ["o'connell", "d'arcy", "king's cross"].map(encodeURIComponent);
    for (let round = 0; round < 20; round++) {
      for (const name of names) expect(await get(`/v1/stops/search?q=${name}`, free)).toBe(502);
      await service.clock.advance(1000);
    }
    for (const key of [free, pro]) {
      expect(await get(`/v1/stops/search?q=central+${key.slice(-4)}`, key)).toBe(200);
      expect(await get('/v1/departures?stop=200060', key)).toBe(200);
    }
    // Each was requested six or seven times in these twenty seconds, with a retry each.
    const sent = service.upstream.requests.filter((url) => url.includes('%27')).length;
    expect(sent).toBeLessThan(45);
  });

  it('nine different failing searches a second affect nothing else', async () => {
    const statuses: number[] = [];
    for (let second = 0; second < 30; second++) {
      for (let one = 0; one < 9; one++) await get(`/v1/stops/search?q=fail+${second}+${one}`, free);
      statuses.push(await get(`/v1/departures?stop=20${second}`, pro));
      statuses.push(await get(`/v1/stops/search?q=town+${second}`, pro));
      statuses.push(await get(`/v1/departures?stop=30${second}`, bystander));
      await service.clock.advance(1000);
    }
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});
