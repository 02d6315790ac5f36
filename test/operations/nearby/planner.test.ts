import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StopRegister } from '#src/stops/register.ts';
import { noStops, type StopRecord, tableOf } from '#src/stops/table.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { datesFrom, scheduleFile } from '#test/support/schedule-file.ts';
import { currentOf, timetableOf } from '#test/support/timetable.ts';
import { type Handler, json } from '#test/support/upstream.ts';

/** In Canberra, whose local buses are in no timetable. */
const PLACE = { lat: -35.2789, lng: 149.1296 };
const URL = `/v1/nearby?lat=${PLACE.lat}&lng=${PLACE.lng}`;
const UNSERVED = '2000004';
const PATIENCE = { timeout: 20_000, interval: 5 };

let service: Awaited<ReturnType<typeof startProtectedApp>>;
let answer: Handler;
/** The number of stops, in a row. The fourth is unserved. */
let stops: number;

async function start(...listed: StopRecord[]) {
  const timetable = timetableOf(
    scheduleFile('nswtrains', {
      // A TrainLink coach also stops in Canberra.
      stops: [{ id: '8000', name: 'Jolimont Centre', ...PLACE }, { id: '9' }],
      routes: [{ id: '700', mode: 'coach' }],
      trips: [
        {
          id: 't',
          route: '700',
          days: datesFrom('20260401', '20260520'),
          calls: [
            ['8000', '10:00'],
            ['9', '14:00'],
          ],
        },
      ],
    }),
  );
  const load = () => (listed.length === 0 ? noStops() : tableOf(listed, { dataDate: '2026-04-05', source: 'test' }));
  service = await startProtectedApp({
    now: '2026-04-15T06:00:10Z',
    response: (...args) => answer(...args),
    stops: new StopRegister(load, listed.length === 0 ? { timetable: currentOf(timetable) } : {}),
  });
}
beforeEach(() => {
  stops = 12;
  answer = upstreamHandler();
});
afterEach(() => service.app.close());

const get = (url = URL) => service.app.inject({ url });
const ids = (response: { json(): { stops: { stop_id: string }[] } }) =>
  response.json().stops.map(({ stop_id }) => stop_id);
const sent = (endpoint: string) => service.upstream.requests.filter((url) => url.includes(`/${endpoint}?`)).length;

describe('nearby stops from the trip planner', PATIENCE, () => {
  beforeEach(() => start());

  it('nearby outside the timetable requests stops around the exact position and checks the nearest', async () => {
    const response = await get(`${URL}&radius=5000&limit=4`);
    expect(ids(response)).toEqual(['2000001', '2000002', '2000003', '2000005']);
    const [list = ''] = service.upstream.requests;
    const query = new URLSearchParams(list.split('?')[1]);
    expect([query.get('coord'), query.get('radius_1')]).toEqual(['149.1296:-35.2789:EPSG:4326', '2000']);
  });

  it('nearby outside the timetable makes at most ten checks and caches unchecked stops for half a minute', async () => {
    stops = 60;
    const first = await get(`${URL}&radius=2000&limit=50`);
    expect(ids(first)).toHaveLength(50);
    expect(first.headers['cache-control']).toMatch(/^private, max-age=30, /);
    expect([sent('coord'), sent('departure_mon')]).toEqual([1, 10]);
  });

  it('nearby outside the timetable caches its checks for a day, so later requests check other stops', async () => {
    stops = 14;
    await get(`${URL}&limit=14`);
    await service.clock.advance(60_000);
    await get(`${URL}&limit=14`);
    const { length } = service.upstream.requests;
    const response = await get('/v1/nearby?lat=-35.27891&lng=149.12961&limit=14');
    expect(ids(response)).not.toContain(UNSERVED);
    expect(service.upstream.requests).toHaveLength(length);
    expect(sent('coord')).toBe(1);
    await service.clock.advance(24 * 3_600_000);
    await get(`${URL}&limit=14`);
    expect(service.upstream.requests.length).toBeGreaterThan(length);
  });

  it('nearby outside the timetable shows stops whose check failed and checks again after half a minute', async () => {
    const list = upstreamHandler();
    answer = (request, response) => {
      if (request.url.includes('/coord?')) list(request, response);
      else response.writeHead(404).end();
    };
    const first = await get(`${URL}&limit=5`);
    expect(first.statusCode).toBe(200);
    expect(ids(first)).toContain(UNSERVED);
    expect(first.headers['cache-control']).toMatch(/^private, max-age=30, /);
    answer = list;
    await service.clock.advance(60_000);
    expect(ids(await get(`${URL}&limit=5`))).not.toContain(UNSERVED);
    expect(sent('coord')).toBe(1);
  });

  it('nearby outside the timetable is cached for a day, and for a week while upstream is unavailable', async () => {
    await get(`${URL}&limit=1`);
    await service.clock.advance(23 * 3_600_000);
    await get(`${URL}&limit=1`);
    expect(sent('coord')).toBe(1);
    answer = (_request, response) => response.writeHead(503).end();
    await service.clock.advance(6 * 24 * 3_600_000);
    const stale = await get(`${URL}&limit=1`);
    expect(ids(stale)).toEqual(['2000001']);
    expect(stale.headers['cache-status']).toContain('detail=upstream-failing');
  });

  it('nearby fails with upstream when only a few coaches are known there', async () => {
    answer = (_request, response) => response.writeHead(503).end();
    expect((await get()).statusCode).toBe(502);
  });
});

describe('the bundled list of stops', PATIENCE, () => {
  const AT = '/v1/nearby?lat=-33.88270&lng=151.20650';
  beforeEach(async () => {
    answer = (_request, response) => response.writeHead(503).end();
    const group = {
      ...known('G20', -33.8929, 151.2065),
      name: 'Town Hall',
      suburb: 'Sydney',
      modes: ['train' as const],
    };
    const around = [known('2000001', -33.8827, 151.2066), known('2000002', -33.8828, 151.2065, 'G20')];
    await start(...around, known('9', -33.884, 151.2065), group);
  });

  it('nearby falls back to the bundled list while upstream is unavailable, and gives its age', async () => {
    const response = await get(`${AT}&radius=100&include=ids`);
    expect(response.statusCode).toBe(200);
    expect(response.json().stops).toEqual([
      {
        stop_id: '2000001',
        name: 'Stop 2000001',
        distance_metres: 9,
        lat: -33.8827,
        lng: 151.2066,
        modes: ['bus'],
        routes: [],
        children: [],
      },
      {
        stop_id: 'G20',
        name: 'Town Hall, Sydney',
        distance_metres: 11,
        lat: -33.8929,
        lng: 151.2065,
        modes: ['train', 'bus'],
        routes: [],
        children: ['2000002'],
      },
    ]);
    expect(response.headers['cache-status']).toContain('detail=upstream-failing');
    expect(response.headers.age).toBe(String(10 * 24 * 3600 + 6 * 3600 + 10));
    expect(sent('departure_mon')).toBe(0);
  });

  it('nearby says that its stops come from a stored list, also when none of them is near', async () => {
    const noticeOf = async (url: string) => (await get(url)).headers['x-notice'] ?? '';
    const unavailable = 'Transport for NSW is unavailable';
    expect(await noticeOf(`${AT}&radius=100`)).toBe(`${unavailable}. These stops come from a stored list.`);
    expect(await noticeOf('/v1/nearby?lat=-33.8827&lng=151.2165&radius=100')).toBe(
      `${unavailable}, and the stored list has no such stop.`,
    );
  });

  it('nearby returns the upstream error where the bundled list has no stops', async () => {
    expect((await get('/v1/nearby?lat=-31.5&lng=141.5')).statusCode).toBe(502);
  });

  it('nearby is empty where the bundled list covers the area and has no stop in the radius', async () => {
    const response = await get('/v1/nearby?lat=-33.8827&lng=151.2165&radius=100');
    expect([response.statusCode, response.json().stops]).toEqual([200, []]);
  });

  it('nearby takes the position of a stop from the bundled list when upstream gives none', async () => {
    const { coord: _, ...without } = STOPS[0] as (typeof STOPS)[number];
    answer = (request, response) =>
      (request.url.includes('/coord?') ? json({ locations: [without] }) : upstreamHandler())(request, response);
    expect((await get(AT)).json().stops).toMatchObject([{ stop_id: '2000001', distance_metres: 9, lat: -33.8827 }]);
  });
});

function known(stop_id: string, lat: number, lng: number, parent_id: string | null = null) {
  const name = `Stop ${stop_id}`;
  return { stop_id, name, suburb: '', lat, lng, modes: ['bus' as const], parent_id, is_platform: parent_id !== null };
}

function upstreamHandler(): Handler {
  return (request, response) => {
    const query = new URLSearchParams(request.url.split('?')[1]);
    if (request.url.includes('/coord?')) return json({ locations: STOPS.slice(0, stops) })(request, response);
    const stopId = query.get('name_dm') ?? '';
    const board = departureMonitor(...(stopId === UNSERVED ? [] : ['2026-04-15T06:10:00Z']));
    json({ ...board, locations: [{ id: stopId, name: stopId, type: 'stop', isBest: true }] })(request, response);
  };
}

const STOPS = Array.from({ length: 60 }, (_, index) => ({
  id: String(2_000_001 + index),
  name: `Stop ${index}`,
  type: 'stop',
  coord: [PLACE.lat + index / 10_000, PLACE.lng],
  productClasses: [5],
  properties: { distance: 10 * index, STOP_NAME_WITH_PLACE: `Stop ${index}, Sydney` },
}));
