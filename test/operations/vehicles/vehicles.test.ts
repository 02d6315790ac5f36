import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { Runs } from '#src/boards/runs.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { FailedPoll } from '#src/realtime/polling/feed-client.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import type { FeedId } from '#src/realtime/polling/feed-source.ts';
import { Vehicles } from '#src/realtime/vehicles.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { distanceMetres } from '#src/transit/place.ts';
import { encodeFeed } from '#test/realtime/feed-bytes.ts';
import { createInlineReader } from '#test/realtime/inline-reader.ts';
import { type PlayedSandbox, startPlayedSandbox } from '#test/realtime/service/played-service.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { ids } from '#test/support/ids.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { importSandbox } from '#test/support/sandbox-timetable.ts';
import { currentOf } from '#test/support/timetable.ts';

/** 11:00 in Sydney. */
const NOON = '2026-11-18T00:00:00Z';
const CITY = 'bbox=-33.93,151.15,-33.8,151.3';

interface Body {
  retrieved_at: string;
  vehicles: {
    vehicle_id: string;
    lat: number;
    lng: number;
    bearing: number | null;
    reported_at: string;
    mode: string;
    route: string | null;
    destination: string | null;
    trip_id: string;
    line_id: string | null;
    run_id: string | null;
    next_call: { stop_id: string; name: string | null; arrives_at_realtime: string | null } | null;
    occupancy: string | null;
    carriages: { position: number; occupancy: string | null }[] | null;
    wheelchair_accessible: boolean | null;
  }[];
  total: number;
}

const store = openEmbeddedStore(':memory:');
let sandbox: PlayedSandbox;
let app: TestApp;
let feeds: LiveFeeds;
/** The polls so far, and a replacement for the sandbox's response. */
let polls: FeedId[] = [];
let fetchFeed: (source: FeedId) => Buffer;

beforeAll(async () => {
  sandbox = await startPlayedSandbox(NOON);
  const { clock } = sandbox;
  fetchFeed = sandbox.feed;
  const timetable = currentOf(await importSandbox(indexNetwork(loadNetwork()), clock.now()));
  feeds = new LiveFeeds({
    client: {
      async fetch(source) {
        polls.push(source);
        return fetchFeed(source);
      },
    },
    reader: createInlineReader(),
    timetable: timetable.get,
    sharing: createFeedSharing(null, clock.now),
    clock,
    log: createTestLog(),
  });
  const now = () => new Date(clock.now());
  const vehicles = new Vehicles({ now: clock.now, feeds });
  const runs = new Runs({ now: clock.now, feeds, timetable });
  const stops = new StopRegister(noStops, { timetable });
  app = await buildTestApp({ upstream: sandbox.callUpstream as QueryUpstream, now, vehicles, runs, stops, store });
});
afterAll(async () => {
  await app.close();
  await store.close();
  await feeds.close();
  await sandbox.close();
});

/** The first poll starts within a second, while the request waits for it. */
async function inject(url: string) {
  const response = app.inject(url);
  for (let second = 0; second < 2; second++) await sandbox.clock.advance(1000);
  return response;
}

async function get(query: string) {
  const { statusCode, headers, body } = await inject(`/v1/vehicles?${query}`);
  return { status: statusCode, headers, body: JSON.parse(body) as Body };
}

/** Waits until no caller counts as watching. */
const leave = () => sandbox.clock.advance(310_000);

describe('GET /v1/vehicles', () => {
  it('GET /v1/vehicles filters by bounding box, modes and routes, and gives each vehicle its own time', async () => {
    const { status, headers, body } = await get(CITY);
    expect(status).toBe(200);
    expect(body.total).toBeGreaterThan(50);
    expect(new Set(body.vehicles.map(({ mode }) => mode))).toEqual(
      new Set(['train', 'metro', 'lightrail', 'bus', 'ferry']),
    );
    for (const { lat, lng, reported_at: reportedAt } of body.vehicles) {
      expect([lat >= -33.93, lat <= -33.8, lng >= 151.15, lng <= 151.3]).toEqual([true, true, true, true]);
      expect(sandbox.clock.now() - Date.parse(reportedAt)).toBeLessThanOrEqual(300_000);
    }
    expect(new Set(body.vehicles.map(({ vehicle_id: id }) => id)).size).toBe(body.vehicles.length);
    expect(headers).toMatchObject({ etag: expect.any(String), age: expect.any(String) });
    expect(headers['cache-status']).toBe('transit; fwd=miss');

    const ferries = (await get(`${CITY}&modes=ferry`)).body.vehicles;
    expect(ferries.length).toBeGreaterThan(0);
    expect(ferries).toEqual(body.vehicles.filter(({ mode }) => mode === 'ferry'));
    const line = (await get(`${CITY}&routes=t4,333`)).body.vehicles;
    expect(new Set(line.map(({ route }) => route))).toEqual(new Set(['T4', '333']));
    expect((await get(`${CITY}&limit=2`)).body).toMatchObject({ total: body.total, vehicles: { length: 2 } });
  });

  describe.each([
    ['/v1/departures?stop=200060&modes=all&limit=50', 'departures'],
    ['/v1/alerts?limit=50', 'alerts'],
    [`/v1/vehicles?${CITY}`, 'vehicles'],
  ])('%s', (url, list) => {
    it('GET /v1/vehicles lists the same by the short name of a line and by its ID', async () => {
      const [byName, byId] = [await inject(`${url}&routes=T4`), await inject(`${url}&routes=train_t4`)];
      expect(byName.json()[list].length).toBeGreaterThan(0);
      expect(byId.json()[list]).toEqual(byName.json()[list]);
      expect(byId.headers['x-notice']).toBeUndefined();
    });

    it('GET /v1/vehicles is empty for a line that does not exist, and says so', async () => {
      const { headers, statusCode, ...response } = await inject(`${url}&routes=T44`);
      expect([statusCode, response.json()[list]]).toEqual([200, []]);
      expect(headers['x-notice']).toContain('No line T44; did you mean T4? Find lines with /v1/lines?q=T44.');
    });
  });

  it('a line that does not exist is named in a form that a header can have', async () => {
    const { statusCode, headers } = await inject(
      `/v1/departures?stop=200060&routes=${encodeURIComponent('Ω T4,\u0007')}`,
    );
    expect(statusCode).toBe(200);
    expect(headers['x-notice']).toContain('No line %CE%A9%20T4. Find lines with /v1/lines?q=%CE%A9%20T4.');
    const many = Array.from({ length: 50 }, (_, index) => `X${index}X`);
    const notice = String((await inject(`/v1/alerts?routes=${many}`)).headers['x-notice']);
    expect(notice.match(/No line/g)).toHaveLength(5);
  });

  it('GET /v1/vehicles takes the short name of a line like its ID, and is 404 for one that does not exist', async () => {
    const { vehicles } = (await get('line=T4')).body;
    expect(vehicles.length).toBeGreaterThan(0);
    expect(vehicles).toEqual((await get('line=train_T4')).body.vehicles);
    const unknown = await inject('/v1/vehicles?line=train_T99');
    expect(unknown.json().error).toMatchObject({ code: 'LINE_NOT_FOUND', message: expect.stringContaining('?q=T99.') });
  });

  it('GET /v1/vehicles gives occupancy, carriages and bearing as far as the feeds have them', async () => {
    const { vehicles } = (await get(CITY)).body;
    const trains = vehicles.filter(({ mode }) => mode === 'train');
    expect(trains.every(({ bearing }) => bearing === null)).toBe(true);
    expect(new Set(trains.map(({ carriages }) => carriages?.length))).toEqual(new Set([4, 8]));
    expect(trains.filter(({ occupancy }) => occupancy !== null).length).toBeGreaterThan(0);
    expect(trains.every(({ route }) => /^(T\d|CCN)$/.test(route ?? ''))).toBe(true);
    expect(trains.every(({ destination }) => destination !== null && !destination.endsWith('Station'))).toBe(true);
    const buses = vehicles.filter(({ mode }) => mode === 'bus');
    expect(buses.every(({ bearing }) => bearing !== null && bearing >= 0 && bearing < 360)).toBe(true);
    expect(buses.some(({ wheelchair_accessible: isAccessible }) => isAccessible === true)).toBe(true);
  });

  it('GET /v1/vehicles sorts by distance from a position, and writes longitude first in GeoJSON', async () => {
    const { body } = await get('lat=-33.8731&lng=151.2069&radius=2000');
    const away = body.vehicles.map(({ lat, lng }) => distanceMetres([-33.8731, 151.2069], [lat, lng]));
    expect(away.length).toBeGreaterThan(3);
    expect(away).toEqual(away.toSorted((one, other) => one - other));
    const features = (await get('lat=-33.8731&lng=151.2069&radius=2000&format=geojson')).body;
    const expected = body.vehicles.map(({ lat, lng, ...properties }) => ({
      type: 'Feature',
      id: properties.vehicle_id,
      geometry: { type: 'Point', coordinates: [lng, lat] },
      properties,
    }));
    expect(features).toEqual({
      retrieved_at: body.retrieved_at,
      type: 'FeatureCollection',
      features: expected,
      total: body.total,
    });
  });

  it('a vehicle has the run ID, line, route and headsign of boards, and is found by `run`', async () => {
    const board = await app.inject('/v1/departures?stop=200070&modes=train&include=ids&limit=20');
    const departures: { trip_id: string; route: string; destination: string }[] = board.json().departures;
    const { vehicles } = (await get('bbox=-34.1,150.9,-33.7,151.3&modes=train&limit=1000')).body;
    const joined = vehicles.flatMap((vehicle) => {
      const departure = departures.find((one) => one.trip_id === vehicle.trip_id);
      return departure ? [{ vehicle, departure }] : [];
    });
    expect(joined.length).toBeGreaterThan(2);
    for (const { vehicle, departure } of joined) {
      const { route, destination } = departure;
      expect(vehicle).toMatchObject({ line_id: `train_${route}`, route, destination, run_id: expect.any(String) });
    }
    const [{ vehicle } = { vehicle: undefined }] = joined;
    expect((await get(`run=${vehicle?.run_id}`)).body.vehicles).toEqual([vehicle]);
    expect((await inject(`/v1/runs/${vehicle?.run_id}`)).json()).toMatchObject({ trip_id: vehicle?.trip_id });
  });

  it('`line` lists the vehicles of a line, wherever they are, and no others', async () => {
    const { vehicles } = (await get('line=train_T1')).body;
    expect(new Set(vehicles.map(({ line_id }) => line_id))).toEqual(new Set(['train_T1']));
    expect(vehicles.some(({ lat, lng }) => distanceMetres([lat, lng], [-33.87, 151.21]) > 20_000)).toBe(true);
    const inCity = (await get(`${CITY}&modes=train&routes=T1`)).body.vehicles;
    expect(vehicles).toEqual(expect.arrayContaining(inCity));
    expect((await get(`${CITY}&line=TRAIN_t1`)).body.vehicles).toEqual(inCity);
    expect((await get('line=train_T0')).body).toMatchObject({ error: { code: 'LINE_NOT_FOUND' } });
  });

  it('the next stop of a vehicle equals the next call of its run when trip updates are polled', async () => {
    feeds.request(['buses', 'cbdandsoutheast']);
    await sandbox.clock.advance(2000);
    const { vehicles } = (await get(`${CITY}&modes=bus,lightrail&limit=1000`)).body;
    const timed = vehicles.filter(({ next_call: next }) => next?.arrives_at_realtime);
    expect(timed.length).toBeGreaterThan(vehicles.length / 2);
    const kinds = new Set<string>();
    for (const { mode, run_id: id, next_call: next, trip_id: tripId } of timed.slice(0, 60)) {
      expect(Date.parse(next?.arrives_at_realtime ?? '')).toBeGreaterThanOrEqual(sandbox.clock.now() - 60_000);
      const run = (await app.inject(`/v1/runs/${id}`)).json();
      expect(run).toMatchObject({ trip_id: tripId, mode });
      const calls: Record<string, string>[] = run.calls;
      const call = calls.find(({ stop_id: stopId }) => stopId === next?.stop_id);
      expect(next?.name).toBe(call?.name);
      // A run has no arrival at its first stop.
      if (call?.arrives_at) expect(next?.arrives_at_realtime).toBe(call.arrives_at_realtime);
      kinds.add(`${mode} ${call?.platform === null ? 'stop' : 'platform'}`);
    }
    expect([...kinds]).toEqual(expect.arrayContaining(['bus stop', 'lightrail platform']));
  });

  it.each([
    ['', /^Give one of: `bbox`, `lat` and `lng`, `line`, or `run`\.$/],
    ['lat=-33.87', /^Give one of: `bbox`, `lat` and `lng`, `line`, or `run`\.$/],
    ['lat=151.2&lng=-33.87', /seem to be swapped/],
    ['bbox=-34.5,150.9,-33.7,151.3', /must span at most 0.5 degrees each way/],
    ['bbox=1,2,3', /must be south,west,north,east/],
    ['run=none', /must be a run ID/],
  ])('GET /v1/vehicles refuses `%s`', async (query, message) => {
    const response = await app.inject(`/v1/vehicles?${query}`);
    expect(response.statusCode).toBe(400);
    expect(response.json().error.message).toMatch(message);
  });
});

describe('polling for vehicles', () => {
  it('vehicle feeds are polled for the modes and area requested, while requests continue, and then no longer', async () => {
    // Wait until boards no longer need a feed either.
    await sandbox.clock.advance(3_600_000);
    polls = [];
    await get(`${CITY}&modes=lightrail`);
    const LIGHT_RAIL = ['innerwest', 'cbdandsoutheast', 'parramatta'].map((one) => `${one}-positions`);
    expect(polls.toSorted()).toEqual(LIGHT_RAIL.toSorted());
    for (let quarter = 0; quarter < 8; quarter++) {
      await sandbox.clock.advance(13_000);
      await get(`${CITY}&modes=lightrail`);
    }
    expect(polls.length).toBeGreaterThan(9);
    await leave();
    polls = [];
    await sandbox.clock.advance(600_000);
    expect(polls).toEqual([]);
    expect(feeds.list()).toEqual([]);
  });

  it('a 304 that keeps vehicle feeds polled is charged, and one from the cache is not', async () => {
    const key = await issueTestKey(store);
    const used = async () => (await store.loadUsage(parseKey(key)?.accountId ?? '', ['20261118']))[0];
    const send = async (etag = '') => {
      const headers = { authorization: `Bearer ${key}`, 'if-none-match': etag };
      const response = app.inject({ url: `/v1/vehicles?${CITY}&routes=none`, headers });
      for (let second = 0; second < 2; second++) await sandbox.clock.advance(1000);
      return response;
    };
    // No response outlives its minute.
    await sandbox.clock.advance(60_000 - (sandbox.clock.now() % 60_000));
    const etag = String((await send()).headers.etag);
    await sandbox.clock.advance(48_000);
    expect([(await send(etag)).statusCode, await used()]).toEqual([304, 2]);
    expect([(await send(etag)).statusCode, await used()]).toEqual([304, 2]);
    await leave();
  });
});

describe('vehicles from hostile or broken feeds', () => {
  const bus = (id: string, position: object, more: object = {}) => ({
    trip: { tripId: `run ${id}` },
    position: position as { latitude: number; longitude: number },
    timestamp: sandbox.clock.now() / 1000 - 10,
    vehicle: { id },
    ...more,
  });
  const serve = (...vehicles: ReturnType<typeof bus>[]) => {
    fetchFeed = () => encodeFeed({ timestamp: Math.floor(sandbox.clock.now() / 1000), vehicles });
  };
  const HERE = { latitude: -33.87, longitude: 151.2 };
  const shown = (body: Body) => body.vehicles.map(({ trip_id: id }) => id);
  const EMPTY_WINDOW = 'bbox=-33.9,151.1,-33.8,151.3&modes=bus';

  it('GET /v1/vehicles shows only vehicles in New South Wales that reported in the last five minutes', async () => {
    await leave();
    const now = sandbox.clock.now() / 1000;
    serve(
      bus('here', HERE),
      bus('old', HERE, { timestamp: now - 72 * 60 }),
      bus('of tomorrow', HERE, { timestamp: now + 86_400 }),
      bus('abroad', { latitude: 51.5, longitude: -0.1 }),
      bus('empty train', HERE, { trip: { tripId: 'run', routeId: 'RTTA_DEF' } }),
    );
    expect(shown((await get(EMPTY_WINDOW)).body)).toEqual(['run here']);
    const run = ids.sign('run', Buffer.from('1 200060 3 0 run abroad').toString('base64url'));
    expect(shown((await get(`run=${run}`)).body)).toEqual([]);
    // The response ends with this report, even if no later poll brings another one.
    fetchFeed = () => {
      throw new FailedPoll('not 200', 'not 200');
    };
    await sandbox.clock.advance(40_000);
  });

  it('GET /v1/vehicles shows a TrainLink train once, although both feeds of trains have it', async () => {
    await leave();
    const trainOf = (tripId: string) => bus(tripId, HERE, { trip: { tripId, routeId: 'SHL_1a' } });
    const [suburban, trainLink] = ['KN35.1257.152.16.N.2.88112171', 'KN35.140126.4.N.2.1200'];
    const electric = 'KN35.1257.152.16.T.8.88112172';
    fetchFeed = (source) => {
      const trips = source === 'nswtrains-positions' ? [trainLink] : [suburban, electric];
      return encodeFeed({ timestamp: Math.floor(sandbox.clock.now() / 1000), vehicles: trips.map(trainOf) });
    };
    const trains = `${EMPTY_WINDOW.replace('bus', 'train')}`;
    expect(shown((await get(trains)).body).sort()).toEqual([electric, trainLink].sort());
    fetchFeed = (source) => {
      if (source === 'nswtrains-positions') throw new FailedPoll('not 200', 'not 200');
      return encodeFeed({ timestamp: Math.floor(sandbox.clock.now() / 1000), vehicles: [trainOf(suburban)] });
    };
    await leave();
    expect(shown((await get(trains)).body)).toEqual([suburban]);
  });

  it('GET /v1/vehicles names a failed feed and shows the vehicles of the others, and is a 503 when all feeds fail', async () => {
    await leave();
    fetchFeed = (source) => {
      if (source === 'buses-positions') throw new FailedPoll('not 200', 'upstream answered 404');
      return sandbox.feed(source);
    };
    const { status, headers, body } = await get(CITY);
    expect([status, headers['x-notice']]).toEqual([200, 'Positions currently unavailable for: bus.']);
    expect(body.vehicles.some(({ mode }) => mode === 'train')).toBe(true);
    expect(body.vehicles.some(({ mode }) => mode === 'bus')).toBe(false);
    const none = await get(EMPTY_WINDOW);
    expect(none.status).toBe(503);
    expect(none.body).toMatchObject({ error: { code: 'UPSTREAM_UNAVAILABLE' } });
    expect(none.headers['retry-after']).toBe('15');
  });

  it('GET /v1/vehicles is empty with a notice when the service reads no feeds', async () => {
    const without = await buildTestApp({ upstream: sandbox.callUpstream as QueryUpstream, now: NOON });
    const response = await without.inject(`/v1/vehicles?${CITY}`);
    await without.close();
    expect(response.headers['x-notice']).toBe('This service has no vehicle positions.');
    expect(response.json()).toMatchObject({ vehicles: [], total: 0 });
  });
});
