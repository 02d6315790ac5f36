import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { discOf, upstreamMetres } from '#src/nearby/disc.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops, tableOf } from '#src/stops/table.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { type Handler, json } from '#test/support/upstream.ts';

const URL = '/v1/nearby?lat=-33.88270&lng=151.20650';
const DEAD = '2000004';
const PATIENCE = { timeout: 20_000, interval: 5 };

let service: Awaited<ReturnType<typeof startProtectedApp>>;
let answer: Handler;
let register: StopRegister;
/** How many stops there are, in a row. At the fourth nothing leaves at any time. */
let stops: number;

beforeEach(async () => {
  stops = 12;
  answer = authority();
  register = new StopRegister(noStops);
  service = await startProtectedApp({
    now: '2026-04-15T06:00:10Z',
    response: (...args) => answer(...args),
    stops: register,
  });
});
afterEach(() => service.app.close());

const get = (url = URL) => service.app.inject({ url });
const ids = (response: { json(): { stops: { stop_id: string }[] } }) =>
  response.json().stops.map(({ stop_id }) => stop_id);
const asked = (endpoint: string) => service.upstream.requests.filter((url) => url.includes(`/${endpoint}?`)).length;

/** Lets time pass until the authority was asked for so many boards. */
const boardsReach = (count: number) =>
  vi.waitFor(async () => {
    await service.clock.advance(1000);
    expect(asked('departure_mon')).toBe(count);
  }, PATIENCE);

describe('the cost of nearby', PATIENCE, () => {
  it('is at most ten calls while the caller waits, with room for a retry of the list', async () => {
    const response = await get();
    expect(ids(response)).toHaveLength(10);
    expect(ids(response)).not.toContain(DEAD);
    expect(asked('coord')).toBe(1);
    expect(asked('departure_mon')).toBe(8);
  });

  it('is at most ten calls where the list fails at first and every check fails', async () => {
    const list = authority();
    answer = (request, response) => {
      if (request.url.includes('/coord?') && asked('coord') > 1) list(request, response);
      else response.writeHead(500).end();
    };
    const response = await get(`${URL}&radius=2000&limit=50`);
    expect(response.statusCode).toBe(200);
    expect(service.upstream.requests.length).toBeLessThanOrEqual(10);
  });

  it('is at most ten checks where the list is known', async () => {
    stops = 60;
    await get(`${URL}&radius=2000&limit=1`);
    const before = asked('departure_mon');
    await get(`${URL}&radius=2000&limit=50`);
    expect(asked('coord')).toBe(1);
    expect(asked('departure_mon') - before).toBe(10);
  });

  it('goes on in the background for the stops that were not checked, so that the next response is certain', async () => {
    stops = 60;
    const first = await get(`${URL}&radius=2000&limit=50`);
    expect(ids(first)).toHaveLength(50);
    expect(first.headers['cache-control']).toMatch(/^private, max-age=30, /);
    expect(service.upstream.requests.length).toBeLessThanOrEqual(10);

    await boardsReach(51 + 1);
    const { length } = service.upstream.requests;
    await service.clock.advance(30_000);
    const second = await get(`${URL}&radius=2000&limit=49`);
    expect(ids(second)).toHaveLength(49);
    expect(second.headers['cache-control']).toMatch(/^private, max-age=21\d{3}, /);
    expect(service.upstream.requests).toHaveLength(length);
  });

  it('is nothing for hours once the stops are known, also for a caller ten metres away', async () => {
    await get();
    await boardsReach(11);
    await get();
    await boardsReach(12);
    const { length } = service.upstream.requests;
    await get();
    await get('/v1/nearby?lat=-33.88272&lng=151.20652');
    await service.clock.advance(5 * 3_600_000);
    await get(`${URL}&limit=5`);
    expect(service.upstream.requests).toHaveLength(length);
  });

  it('is less where departures were asked for before', async () => {
    for (const stop of ['2000001', '2000002', '2000003']) await service.app.inject(`/v1/departures?stop=${stop}`);
    const before = service.upstream.requests.length;
    await get('/v1/nearby?lat=-33.88270&lng=151.20650&limit=3');
    expect(service.upstream.requests).toHaveLength(before + 1);
  });

  it('is spent again after half a minute when stops could not be checked, and they are shown meanwhile', async () => {
    const list = authority();
    answer = (request, response) => {
      if (request.url.includes('/coord?')) list(request, response);
      else response.writeHead(404).end();
    };
    const first = await get(`${URL}&limit=5`);
    expect(first.statusCode).toBe(200);
    expect(ids(first)).toContain(DEAD);
    expect(first.headers['cache-control']).toMatch(/^private, max-age=30, /);

    answer = list;
    await service.clock.advance(60_000);
    const second = await get(`${URL}&limit=5`);
    expect(ids(second)).not.toContain(DEAD);
    // The list is a minute old, the verdict on the dead stop is good for six hours.
    expect(second.headers['cache-control']).toMatch(/^private, max-age=216\d\d, /);
    expect(asked('coord')).toBe(1);
  });
});

describe('a disc of stops', PATIENCE, () => {
  const coords = () => service.upstream.requests.filter((url) => url.includes('/coord?'));
  const shown = async (url: string): Promise<{ stop_id: string; distance_metres: number }[]> =>
    (await get(url)).json().stops;

  it('holds the circle of every request from its cell, near a corner too', () => {
    const radians = Math.PI / 180;
    for (const [lat, lng] of [
      [-33.8827, 151.2065],
      [-28.1, 153.5],
      [-37.3, 149.9],
      [89.9999, 179.9999],
      [0, 0],
    ] as const) {
      for (const radius of [1, 500, 501, 1000, 2000]) {
        for (let step = 0; step < 200; step++) {
          const place = { lat: Math.min(90, lat + step * 7e-5), lng: Math.min(180, lng + step * 1.3e-4) };
          const disc = discOf({ ...place, radius });
          const away = upstreamMetres([place.lat, place.lng], [disc.lat, disc.lng]);
          if (Math.cos(lat * radians) > 0.1) expect(away + radius).toBeLessThan(disc.radiusMetres);
        }
      }
    }
  });

  it('is asked for once for phones at any place of a cell, also when they ask at the same time', async () => {
    const places = ['-33.8827,151.2065', '-33.8829,151.2047', '-33.8841,151.2061', '-33.8765,151.2038'];
    const urls = places.map((place) => place.replace(',', '&lng=')).map((place) => `/v1/nearby?lat=${place}&limit=1`);
    await Promise.all(urls.map((url) => get(url)));
    for (const radius of [50, 300, 500]) await get(`${urls[1]}&radius=${radius}`);
    expect(coords()).toHaveLength(1);
  });

  it('is asked for with a larger radius where the caller wants one', async () => {
    await get(`${URL}&radius=500`);
    await get(`${URL}&radius=501`);
    await get(`${URL}&radius=1000`);
    await get(`${URL}&radius=5000`);
    const radii = coords().map((url) => new URLSearchParams(url.split('?')[1]).get('radius_1'));
    expect(radii).toEqual(['1230', '1730', '2730']);
  });

  it('gives the stops of the circle alone, by the distance from the very place', async () => {
    stops = 60;
    const near = await shown('/v1/nearby?lat=-33.8807&lng=151.2065&radius=50&limit=50');
    expect(near.map(({ distance_metres }) => distance_metres)).toEqual([0, 11, 11, 22, 22, 33, 33, 44, 44]);
    expect(near[0]?.stop_id).toBe('2000021');
    const moved = await shown('/v1/nearby?lat=-33.8806&lng=151.2065&radius=50&limit=50');
    expect(moved[0]).toMatchObject({ stop_id: '2000022', distance_metres: 0 });
    expect(coords()).toHaveLength(1);
  });

  it('takes the position of a stop from the register where upstream gives none', async () => {
    const { coord: _, ...without } = STOPS[0] as (typeof STOPS)[number];
    answer = (request, response) =>
      (request.url.includes('/coord?') ? json({ locations: [without] }) : authority())(request, response);
    register.learn(known('2000001', -33.8828, 151.2065));
    expect(await shown(URL)).toMatchObject([{ stop_id: '2000001', distance_metres: 11, lat: -33.8828 }]);
  });

  it('is fresh for a day, and serves for a week while upstream is away', async () => {
    await get(`${URL}&limit=1`);
    await service.clock.advance(23 * 3_600_000);
    await get(`${URL}&limit=1`);
    expect(coords()).toHaveLength(1);
    answer = (_request, response) => response.writeHead(503).end();
    await service.clock.advance(6 * 24 * 3_600_000);
    const stale = await get(`${URL}&limit=1`);
    expect(ids(stale)).toEqual(['2000001']);
    expect(stale.headers['cache-status']).toContain('detail=upstream-failing');
  });
});

describe('the register in place of a disc', PATIENCE, () => {
  beforeEach(() => {
    answer = (_request, response) => response.writeHead(503).end();
    const around = [known('2000001', -33.8827, 151.2066), known('2000002', -33.8828, 151.2065, 'G20')];
    register.replace(tableOf([...around, known('9', -33.884, 151.2065)], { dataDate: '2026-04-05', source: 'test' }));
    register.learn({ ...known('G20', -33.8929, 151.2065), name: 'Town Hall', suburb: 'Sydney', modes: ['train'] });
  });

  it('answers while upstream is away, and says how old it is', async () => {
    const response = await get(`${URL}&radius=100&include=ids`);
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
        lat: -33.8828,
        lng: 151.2065,
        modes: ['train', 'bus'],
        routes: [],
        children: ['2000002'],
      },
    ]);
    expect(response.headers['cache-status']).toContain('detail=upstream-failing');
    expect(response.headers.age).toBe(String(10 * 24 * 3600 + 6 * 3600 + 10));
    expect(asked('departure_mon')).toBe(0);
  });

  it('leaves out a stop with the verdict that it is dead', async () => {
    const failing = answer;
    answer = authority();
    await get(`${URL}&limit=4`);
    expect(asked('departure_mon')).toBeGreaterThan(0);
    answer = failing;
    register.learn(known(DEAD, -33.8877, 151.2065));
    register.learn(known('7', -33.8878, 151.2065));
    // Another cell, of which there is no disc.
    const response = await get('/v1/nearby?lat=-33.8917&lng=151.2065&radius=500');
    expect(ids(response)).toContain('7');
    expect(ids(response)).not.toContain(DEAD);
  });

  it('leaves the error where it does not know the surroundings', async () => {
    expect((await get('/v1/nearby?lat=-31.5&lng=141.5')).statusCode).toBe(502);
    register.learn(known('8', -35.2789, 149.1296));
    expect((await get('/v1/nearby?lat=-35.2789&lng=149.1296')).statusCode).toBe(502);
  });

  it('says that nothing is near where it knows the surroundings', async () => {
    const response = await get('/v1/nearby?lat=-33.8827&lng=151.2165&radius=100');
    expect([response.statusCode, response.json().stops]).toEqual([200, []]);
  });
});

function known(stop_id: string, lat: number, lng: number, parent_id: string | null = null) {
  const name = `Stop ${stop_id}`;
  return { stop_id, name, suburb: '', lat, lng, modes: ['bus' as const], parent_id, is_platform: parent_id !== null };
}

function authority(): Handler {
  return (request, response) => {
    const query = new URLSearchParams(request.url.split('?')[1]);
    if (request.url.includes('/coord?')) return json({ locations: STOPS.slice(0, stops) })(request, response);
    const stopId = query.get('name_dm') ?? '';
    const board = departureMonitor(...(stopId === DEAD ? [] : ['2026-04-15T06:10:00Z']));
    json({ ...board, locations: [{ id: stopId, name: stopId, type: 'stop', isBest: true }] })(request, response);
  };
}

const STOPS = Array.from({ length: 60 }, (_, index) => ({
  id: String(2_000_001 + index),
  name: `Stop ${index}`,
  type: 'stop',
  coord: [-33.8827 + index / 10_000, 151.2065],
  productClasses: [5],
  properties: { distance: 10 * index, STOP_NAME_WITH_PLACE: `Stop ${index}, Sydney` },
}));
