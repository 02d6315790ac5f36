import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSandboxApp, type TestApp } from '#test/support/app.ts';

const AT = '-33.8731,151.2069';
let app: TestApp;
beforeAll(async () => {
  app = await buildSandboxApp('2026-11-20T02:00:20Z');
});
afterAll(() => app.close());
const get = (query: string) => app.inject(`/v1/boards?${query}`);

describe('boards around a position', () => {
  it('`near` lists the nearest stops with their distance, position and departures', async () => {
    const { boards } = (await get(`near=${AT}&max_stops=2&limit=3&modes=all`)).json();
    expect(boards).toMatchObject([
      { stop_id: '200070', stop_name: 'Town Hall Station', distance_metres: 51, lat: -33.873844, lng: 151.206956 },
      { stop_id: '2000171', distance_metres: 132, lat: -33.871692, lng: 151.206656 },
    ]);
    for (const { distance_metres, lat, lng, ...board } of boards) {
      expect(board.departures).toHaveLength(3);
      expect(board).toEqual((await app.inject(`/v1/departures?stop=${board.stop_id}&limit=3&modes=all`)).json());
    }
  });

  it('`near` lists five stops within 500 m, as nearby does, and `radius` and `max_stops` change that', async () => {
    for (const [around, nearby] of [
      ['', 'limit=5&radius=500'],
      ['radius=200', 'limit=5&radius=200'],
      ['radius=2000&max_stops=10', 'limit=10&radius=2000'],
    ]) {
      const [lat, lng] = AT.split(',');
      const { stops } = (await app.inject(`/v1/nearby?lat=${lat}&lng=${lng}&modes=all&${nearby}`)).json();
      const { boards } = (await get(`near=${AT}&modes=all&${around}`)).json();
      const idOf = ({ stop_id, distance_metres }: { stop_id: string; distance_metres: number }) => [
        stop_id,
        distance_metres,
      ];
      expect(boards.map(idOf)).toEqual(stops.map(idOf));
    }
  });

  it('the filters of departures apply to each stop around', async () => {
    const { boards } = (await get(`near=${AT}&modes=train&routes=T4&per_route=1`)).json();
    expect(boards[0].stop_id).toBe('200070');
    const lines = boards.flatMap((board: { departures: { route: string }[] }) => board.departures);
    expect(new Set(lines.map(({ route }: { route: string }) => route))).toEqual(new Set(['T4']));
    const headsigns = boards[0].departures.map(({ destination }: { destination: string }) => destination);
    expect(new Set(headsigns).size).toBe(headsigns.length);
  });

  it('a place without stops has no boards, and a notice says why', async () => {
    const outside = await get('near=-37.81,144.96');
    expect([outside.statusCode, outside.json()]).toEqual([200, { boards: [] }]);
    expect(outside.headers['x-notice']).toContain('outside the area covered');
    const empty = await get(`near=-33.8731,151.2300&radius=1`);
    expect([empty.statusCode, empty.json().boards]).toEqual([200, []]);
    const numbers = await get(`near=${AT}&radius=9000&max_stops=99`);
    expect(numbers.headers['x-notice']).toContain('`radius` is at most 2000');
    expect(numbers.headers['x-notice']).toContain('`max_stops` is at most 10');
  });

  it.each([
    ['', 'Give one of: `stops` or `near`.'],
    [`near=${AT}&stops=200070`, 'Give one of: `stops` or `near`.'],
    ['stops=200070&radius=300', '`radius` works only with `near`.'],
    ['stops=200070&max_stops=3', '`max_stops` works only with `near`.'],
    ['near=151.2069,-33.8731', 'seem to be swapped'],
    [`lat=-33.8731&lng=151.2069`, '`near`'],
  ])('the query %s is refused with what is wrong', async (query, told) => {
    const response = await get(query);
    expect(response.statusCode).toBe(400);
    expect(response.json().error.message).toContain(told);
  });
});
