import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { type Answer, json } from '#test/support/upstream.ts';

const URL = '/v1/nearby?lat=-33.88270&lng=151.20650';
const DEAD = '2000004';
const PATIENCE = { timeout: 20_000, interval: 5 };

let service: Awaited<ReturnType<typeof startProtectedApp>>;
let answer: Answer;
/** How many stops there are, in a row. At the fourth nothing leaves at any time. */
let stops: number;

beforeEach(async () => {
  stops = 12;
  answer = authority();
  service = await startProtectedApp({ now: '2026-04-15T06:00:10Z', response: (...args) => answer(...args) });
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

  it('goes on in the background for the stops that were not checked, so that the next answer is certain', async () => {
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
    expect(second.headers['cache-control']).toMatch(/^private, max-age=21600, /);
    expect(asked('coord')).toBe(1);
  });
});

function authority(): Answer {
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
