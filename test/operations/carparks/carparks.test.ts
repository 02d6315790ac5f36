import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { CarParks } from '#src/carparks/car-parks.ts';
import { CarParkClient } from '#src/carparks/client.ts';
import { withCarParks } from '#src/carparks/response.ts';
import { MINUTE_MS } from '#src/core/clock.ts';
import { StopRegister } from '#src/stops/register.ts';
import { tableOf } from '#src/stops/table.ts';
import { freshnessOf } from '#src/transit/freshness.ts';
import { ProcessMeter } from '#src/upstream/budget/meter.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { type FakeUpstream, facilityJson, fakeCarParks } from '#test/support/car-parks.ts';
import { noUpstream } from '#test/support/no-upstream.ts';
import { stopsOfTwoLines } from '#test/support/two-lines.ts';
import { json, startUpstream, type TestUpstream } from '#test/support/upstream.ts';

/** Noon in Sydney, on a Friday. */
const NOON = '2026-11-20T01:00:20Z';
const UNLIMITED = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e9 };
const LOG = { info() {}, warn() {}, error() {} };

/** Car parks over HTTP, whose calls count in the budget of all. */
function connect(url: string, now: () => number) {
  const { callForFeed, counts, state } = protectUpstream({
    callByKey: [noUpstream as never],
    limits: UNLIMITED,
    log: LOG,
  });
  const base = url.replace('/v1/tp', '');
  const client = new CarParkClient({
    url: base,
    apiKeys: ['k'],
    callForFeed,
    timeoutMs: 10_000,
    now: () => now(),
  });
  const meter = new ProcessMeter(UNLIMITED, now);
  const carParks = new CarParks({ client, meter, log: LOG, clock: { now, after: (ms, task) => after(ms, task) } });
  return { carParks, counts, state };
}

function after(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms).unref();
  return () => clearTimeout(timer);
}

interface Body {
  carpark_id: string;
  name: string;
  capacity: number | null;
  spaces_free: number | null;
  reported_at: string | null;
}

describe('car parks of the sandbox', () => {
  let sandbox: Sandbox;
  let carParks: CarParks;
  let app: TestApp;
  const get = async (url: string) => (await app.inject(url)).json();

  beforeAll(async () => {
    sandbox = await startSandbox({ apiKey: 'k', now: () => new Date(NOON) });
    ({ carParks } = connect(sandbox.url, () => Date.parse(NOON)));
    app = await buildTestApp({ upstream: noUpstream, now: NOON, carParks });
  });
  afterAll(async () => {
    await app.close();
    await carParks.close();
    await sandbox.close();
  });

  it('the sandbox has car parks that are nearly full at noon, and the odd ones of its guide', async () => {
    const { carparks } = (await get('/v1/carparks')) as { carparks: Body[] };
    const byId = new Map(carparks.map((carPark) => [carPark.carpark_id, carPark]));
    expect(carparks.map(({ name }) => name)).toEqual(carparks.map(({ name }) => name).sort());
    const share = (id: string) => (byId.get(id)?.spaces_free ?? 0) / (byId.get(id)?.capacity ?? 1);
    for (const id of ['486', '6', '9', '14', '15', '25']) expect(share(id)).toBeLessThan(0.2);
    expect(byId.get('901')).toMatchObject({ capacity: 120, spaces_free: 0 });
    expect(byId.get('902')).toMatchObject({
      capacity: 80,
      spaces_free: null,
      reported_at: expect.stringMatching(/T23|T22/),
    });
    expect(byId.get('903')).toMatchObject({ capacity: 0, spaces_free: 0 });
    expect(byId.has('904')).toBe(false);
    expect(await get('/v1/carparks/904')).toMatchObject({ error: { code: 'CARPARK_NOT_FOUND' } });
  });

  it('car parks near a position come nearest first, and those of an area are within it', async () => {
    const names = async (query: string) =>
      ((await get(`/v1/carparks?${query}`)) as { carparks: Body[] }).carparks.map(({ name }) => name);
    expect(await names('near=-33.8876,151.1259&radius=10000')).toEqual(['Ashfield', 'Strathfield', 'West Ryde']);
    expect(await names('near=-33.8876,151.1259&radius=100')).toEqual(['Ashfield']);
    expect(await names('bbox=-33.78,151.09,-33.7,151.2')).toEqual(['Gordon Henry St (north)', 'Hornsby']);
    expect(await names('bbox=-33.78,151.09,-33.7,151.2&near=-33.7021,151.0981&radius=1000')).toEqual(['Hornsby']);
  });

  it('car parks as GeoJSON have the longitude first', async () => {
    const response = await app.inject('/v1/carparks?format=geojson&near=-33.8876,151.1259&radius=100');
    expect(response.headers['content-type']).toBe('application/geo+json');
    expect(response.json().features).toMatchObject([
      { type: 'Feature', id: '486', geometry: { coordinates: [151.1266, -33.8881] }, properties: { name: 'Ashfield' } },
    ]);
  });

  it('a search for car parks outside the area covered returns an empty list with a notice', async () => {
    const { headers, body } = await app.inject('/v1/carparks?near=-37.81,144.96');
    expect([headers['x-notice'], JSON.parse(body)]).toEqual([
      expect.stringContaining('outside the area covered'),
      { carparks: [] },
    ]);
  });

  it.each([
    ['/v1/carparks?bbox=1,2', '`bbox` must be south,west,north,east'],
    ['/v1/carparks?near=Ashfield', '`near` must be lat,lng'],
    ['/v1/carparks?near=151.2,-33.8', 'seem to be swapped'],
    ['/v1/carparks?radius=-1&near=-33.8,151.2', '`radius` must be'],
    ['/v1/carparks?stop=213110', 'Unknown parameter `stop`'],
    ['/v1/carparks/a%20b', '`carpark_id` must be the ID of a car park'],
    ['/v1/stops/200060?include=parking', '`include` must be carparks'],
  ])('%s is refused with what is allowed', async (url, message) => {
    expect(await get(url)).toMatchObject({
      error: { code: 'INVALID_PARAMETER', message: expect.stringContaining(message) },
    });
  });
});

describe('car parks of stops', () => {
  let upstream: FakeUpstream;
  let app: TestApp;
  const now = () => Date.parse(NOON);
  const open = async (options: Partial<Parameters<typeof buildTestApp>[0]> = {}) =>
    buildTestApp({ upstream: noUpstream, now: NOON, stops: stopsOfTwoLines(), ...options });

  beforeEach(async () => {
    const fake = fakeCarParks({ now });
    ({ upstream } = fake);
    upstream.facilities.set('1', facilityJson({ id: '1', at: now(), tsn: '200060', lat: '-33.884', lng: '151.206' }));
    app = await open({ carParks: fake.carParks });
  });
  afterEach(() => app.close());

  it('a stop has its car parks only on request, and none if it has none', async () => {
    expect((await app.inject('/v1/stops/200060')).json()).not.toHaveProperty('carparks');
    expect((await app.inject('/v1/stops/200060?include=carparks')).json().carparks).toMatchObject([
      { carpark_id: '1', stop_id: '200060', stop_name: 'Central Station', spaces_free: 180 },
    ]);
    expect((await app.inject('/v1/stops/200070?include=carparks')).json().carparks).toEqual([]);
  });

  it('stops nearby have their car parks on request', async () => {
    const stop = (await app.inject('/v1/stops/200060')).json();
    const url = `/v1/nearby?lat=${stop.lat}&lng=${stop.lng}&modes=all&limit=1&include=carparks`;
    const { stops } = (await app.inject(url)).json();
    expect(stops[0]).toHaveProperty('carparks');
    expect(stops[0].carparks.map(({ carpark_id }: Body) => carpark_id)).toEqual(
      stops[0].stop_id === '200060' ? ['1'] : [],
    );
  });

  it('while car parks are unavailable, a stop has a notice about them and all other fields', async () => {
    upstream.failure = 'not enabled';
    const response = await app.inject('/v1/stops/200060?include=carparks');
    expect([response.statusCode, response.headers['x-notice']]).toEqual([200, expect.stringContaining('not enabled')]);
    expect(response.json()).toMatchObject({ stop_id: '200060', carparks: null });
    expect((await app.inject('/v1/carparks')).json().error.code).toBe('CARPARKS_NOT_ENABLED');
  });

  it('a platform has the car parks of its station', async () => {
    const record = { name: 'Ashfield Station', suburb: '', lat: -33.88, lng: 151.12, modes: [] };
    const stops = new StopRegister(() =>
      tableOf([
        { ...record, stop_id: '213110', parent_id: null, is_platform: false },
        { ...record, stop_id: '2131101', parent_id: '213110', is_platform: true },
      ]),
    );
    const { carParks, upstream: other } = fakeCarParks({ now });
    other.facilities.set('486', facilityJson({ at: now() }));
    const {
      stops: [platform],
    } = await withCarParks([{ stop_id: '2131101' }], freshnessOf({ retrievedAt: now() }), { carParks, stops, now });
    expect(platform?.carparks).toMatchObject([{ carpark_id: '486', stop_name: 'Ashfield Station' }]);
  });
});

describe('the calls for car parks', () => {
  let upstream: TestUpstream;
  let now = Date.parse(NOON);
  const opened: CarParks[] = [];

  beforeAll(async () => {
    upstream = await startUpstream(json({}));
  });
  afterEach(async () => {
    for (const carParks of opened.splice(0)) await carParks.close();
  });
  afterAll(() => upstream.close());

  const open = () => {
    const connected = connect(upstream.url, () => now);
    opened.push(connected.carParks);
    return connected;
  };

  it.each([401, 403])(
    'a key that gets %d may not use the product, and no other call is made for 30 minutes',
    async (status) => {
      upstream.respondWith(json({ ErrorDetails: { Message: 'not permitted' } }, status));
      const { carParks } = open();
      const before = upstream.requests.length;
      for (let minute = 0; minute < 29; minute++, now += MINUTE_MS) {
        const found = carParks.fetch(() => true, { waitMs: 10_000 });
        await expect(found).rejects.toMatchObject({ code: 'CARPARKS_NOT_ENABLED', unavailable: 'product' });
      }
      expect(upstream.requests.slice(before)).toEqual(['/v1/carpark']);
      expect(carParks.status().state).toBe('not enabled');
    },
  );

  it('a quota of the car parks stops no call for boards', async () => {
    upstream.respondWith((_request, response) => {
      response.writeHead(403, { 'x-error-detail': 'Account Over Queries Per Second Limit: over quota' }).end();
    });
    const { carParks, counts, state } = open();
    await expect(carParks.fetch(() => true, { waitMs: 10_000 })).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
    expect([counts.calls, counts.rateRefusals, state().shortage]).toEqual([1, 0, null]);
  });

  it.each([
    ['another form', json(['nothing'])],
    [
      'no JSON',
      ((_request, response) => void response.writeHead(200).end('<html>')) as Parameters<
        TestUpstream['respondWith']
      >[0],
    ],
    ['an error', json({}, 500)],
  ])('a list that is %s is an error for callers, and read again later', async (_case, answer) => {
    upstream.respondWith(answer);
    const { carParks } = open();
    await expect(carParks.fetch(() => true, { waitMs: 10_000 })).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
    upstream.respondWith((request, response) => {
      const isList = request.url === '/v1/carpark';
      const body = isList ? { 486: 'Park&Ride - Ashfield' } : facilityJson({ at: now });
      response.writeHead(200).end(JSON.stringify(body));
    });
    now += 5 * MINUTE_MS;
    const { carParks: found } = await carParks.fetch(() => true, { waitMs: 10_000 });
    expect(found).toMatchObject([{ id: '486', spacesFree: 180 }]);
  });
});
