import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { startProtectedApp } from '#test/support/protected-app.ts';
import { type Answer, json } from '#test/support/upstream.ts';

const URL = '/v1/nearby?lat=-33.88270&lng=151.20650';
const DEAD = '2000004';

let service: Awaited<ReturnType<typeof startProtectedApp>>;
let answer: Answer;

beforeEach(async () => {
  answer = authority();
  service = await startProtectedApp({ now: '2026-04-15T06:00:10Z', answer: (...args) => answer(...args) });
});
afterEach(() => service.app.close());

const get = (url = URL) => service.app.inject({ url });
const ids = (response: { json(): { stops: { stop_id: string }[] } }) =>
  response.json().stops.map(({ stop_id }) => stop_id);
const asked = (endpoint: string) => service.upstream.requests.filter((url) => url.includes(`/${endpoint}?`)).length;

describe('the cost of nearby', () => {
  it('is one call for the list and one for each candidate checked, and one more for a stop that seems dead', async () => {
    const response = await get();
    expect(ids(response)).not.toContain(DEAD);
    expect(ids(response)).toHaveLength(10);
    expect(asked('coord')).toBe(1);
    expect(asked('departure_mon')).toBe(11 + 1);
  });

  it('is nothing the second time, for whoever is about ten metres off too, and for hours', async () => {
    await get();
    const { length } = service.upstream.requests;
    await get();
    await get('/v1/nearby?lat=-33.88272&lng=151.20652');
    await service.clock.advance(5 * 3_600_000);
    await get(`${URL}&limit=5`);
    expect(service.upstream.requests).toHaveLength(length);
  });

  it('is less where departures were asked for before', async () => {
    await service.app.inject({ url: '/v1/departures?stop=2000001' });
    await service.app.inject({ url: '/v1/departures?stop=2000002' });
    const before = service.upstream.requests.length;
    await get();
    expect(service.upstream.requests).toHaveLength(before + 1 + 9 + 1);
  });

  it('keeps a stop of which nothing can be known, and such an answer only briefly', async () => {
    const list = authority();
    answer = (request, response) => {
      if (request.url.includes('/coord?')) list(request, response);
      else response.writeHead(404).end();
    };
    const first = await get();
    expect(first.statusCode).toBe(200);
    expect(ids(first)).toContain(DEAD);
    expect(first.headers['cache-control']).toMatch(/^private, max-age=30, /);

    answer = list;
    await service.clock.advance(60_000);
    const second = await get();
    expect(ids(second)).not.toContain(DEAD);
    expect(second.headers['cache-control']).toMatch(/^private, max-age=21600, /);
    expect(asked('coord')).toBe(1);
  });
});

/** Twelve stops in a row; at the fourth nothing ever leaves. */
function authority(): Answer {
  return (request, response) => {
    const query = new URLSearchParams(request.url.split('?')[1]);
    if (request.url.includes('/coord?')) return json({ locations: STOPS })(request, response);
    const stopId = query.get('name_dm') ?? '';
    const board = departureMonitor(...(stopId === DEAD ? [] : ['2026-04-15T06:10:00Z']));
    json({ ...board, locations: [{ id: stopId, name: stopId, type: 'stop', isBest: true }] })(request, response);
  };
}

const STOPS = Array.from({ length: 12 }, (_, index) => ({
  id: String(2_000_001 + index),
  name: `Stop ${index}`,
  type: 'stop',
  coord: [-33.8827 + index / 10_000, 151.2065],
  productClasses: [5],
  properties: { distance: 10 * index, STOP_NAME_WITH_PLACE: `Stop ${index}, Sydney` },
}));
