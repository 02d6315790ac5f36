import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { NameSearch } from '#src/stops/name-search.ts';
import { StopRegister } from '#src/stops/register.ts';
import { type StopRecord, tableOf } from '#src/stops/table.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { noTimetable } from '#src/timetable/update/keep-current.ts';
import { buildSandboxApp, buildTestApp, type TestApp } from '#test/support/app.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { currentOf, timetableOf } from '#test/support/timetable.ts';

const NOW = '2026-11-20T02:00:20Z';

let app: TestApp;
beforeAll(async () => {
  app = await buildSandboxApp(NOW);
});
afterAll(() => app.close());

it.each([
  ['G201023', 'G201023'],
  ['g201023', 'G201023'],
  ['200070', '200070'],
])('stop search for the ID %s finds that stop, and departures accept it', async (q, stopId) => {
  const { results } = (await app.inject(`/v1/stops/search?q=${q}`)).json();
  expect(results).toMatchObject([{ stop_id: stopId }]);
  expect((await app.inject(`/v1/departures?stop=${stopId}`)).statusCode).toBe(200);
});

describe('stop search when upstream finds few stops', () => {
  const stop = (stop_id: string, name: string, lat: number, modes: StopRecord['modes']): StopRecord => ({
    stop_id,
    name,
    suburb: '',
    lat,
    lng: 151.2,
    modes,
    parent_id: null,
    is_platform: false,
  });
  const known = [
    stop('1', 'Town Hall Station', -33.87, ['train']),
    stop('2', 'Paddington Town Hall, Oxford St', -33.88, ['bus']),
    stop('3', 'Hall St opp Town Rd', -33.9, ['bus']),
    stop('4', 'Parramatta Station', -33.82, ['train']),
    stop('5', 'Rosebery Hospital, Botany Rd', -33.91, ['bus']),
    stop('6', 'QVB, York St', -33.87, ['bus']),
    stop('7', 'Central Station', -33.88, ['train']),
    stop('8', 'Wharf Rd at Bay St', -33.8, ['bus']),
    stop('9', 'Wharf Rd at Hill St', -32.9, ['bus']),
    { ...stop('71', 'Central Station, Platform 1', -33.88, ['train']), parent_id: '7', is_platform: true },
    { ...stop('81', 'Orphan Bay, Stand A', -33.88, ['bus']), parent_id: '80', is_platform: true },
  ];
  const stops = new StopRegister(() => tableOf(known, { dataDate: '2026-08-21', source: 'a test' }));
  const search = async (query: string, upstream: QueryUpstream) => {
    const app = await buildTestApp({ upstream, now: NOW, stops });
    try {
      return await app.inject(`/v1/stops/search?${query}`);
    } finally {
      await app.close();
    }
  };
  const finds = (locations: unknown[]) =>
    (async () => ({
      payload: { systemMessages: [], locations },
      retrievedAt: Date.parse(NOW),
    })) as unknown as QueryUpstream;
  const away = (async () => {
    throw new ApiError('UPSTREAM_UNAVAILABLE', 'no calls', { unavailable: 'day' });
  }) as unknown as QueryUpstream;

  it.each([
    ['townhall', '1'],
    ['twn hall', '1'],
    ['hall town', '1'],
    ['paramatta', '4'],
    ['roseberry hosp', '5'],
    ['queen victoria building', '6'],
    ['centr', '7'],
    ['cen tral', '7'],
    ['nothing like this central', '7'],
  ])('stop search for %s finds the right stop of the register first', async (q, stopId) => {
    const { results } = (await search(`q=${encodeURIComponent(q)}`, finds([]))).json();
    expect(results[0].stop_id).toBe(stopId);
  });

  it.each([
    ['central', ['7']],
    ['orphan bay', ['81']],
  ])('stop search for %s lists no platform of a known station', async (q, stopIds) => {
    const { results } = (await search(`q=${encodeURIComponent(q)}`, finds([]))).json();
    expect(results.map(({ stop_id }: { stop_id: string }) => stop_id)).toEqual(stopIds);
  });

  it.each(['stops', 'places'])('%s/search gives a stop the position that every other list gives it', async (list) => {
    const match = {
      id: '1',
      type: 'stop',
      name: 'Town Hall',
      matchQuality: 10,
      coord: [-33.8701, 151.2004],
      modes: [1],
    };
    const app = await buildTestApp({ upstream: finds([match]), now: NOW, stops });
    const { results } = (await app.inject(`/v1/${list}/search?q=town`)).json();
    expect(results[0]).toMatchObject({ lat: -33.87, lng: 151.2 });
    await app.close();
  });

  it('stop search has a notice when a suburb is not known yet', async () => {
    const found = await search('q=hospital', finds([]));
    expect(found.json().results).toMatchObject([{ stop_id: '5', suburb: '' }]);
    expect(found.headers['x-notice']).toBe('Some suburbs are empty because they are not known yet.');
  });

  it('stop search ranks stops with a known suburb first', async () => {
    const order = async (suburb: string) => {
      const table = known.map((one) => (one.stop_id === '9' ? { ...one, suburb } : one));
      const register = new StopRegister(() => tableOf(table, { dataDate: '2026-08-21', source: 'a test' }));
      const found = await new NameSearch(register).search(
        { text: 'wharf rd', limit: 5, isLoose: false },
        Date.parse(NOW),
      );
      return found.map(({ stop_id }) => stop_id);
    };
    expect([await order(''), await order('Hill')]).toEqual([
      ['8', '9'],
      ['9', '8'],
    ]);
  });

  it('stop search lists no stop that matches fewer words than another', async () => {
    const { results } = (await search('q=1%20town%20hall%20bay', finds([]))).json();
    expect(results.map(({ stop_id }: { stop_id: string }) => stop_id)).toEqual(['1', '2', '3']);
  });

  it('stop search lists the matches from upstream first', async () => {
    const hit = {
      id: '99',
      type: 'stop',
      name: 'Hall of Towns, Hay',
      matchQuality: 10,
      coord: [-34.5, 144.8],
      modes: [5],
    };
    const { results } = (await search('q=town%20hall', finds([hit]))).json();
    expect(results.map(({ stop_id }: { stop_id: string }) => stop_id)).toEqual(['99', '1', '2', '3']);
    expect(results[1]).toEqual({
      stop_id: '1',
      name: 'Town Hall Station',
      suburb: '',
      lat: -33.87,
      lng: 151.2,
      modes: ['train'],
    });
  });

  it('stop search ranks stops near `near` first', async () => {
    const first = async (near: string) =>
      (await search(`q=wharf%20rd&near=${near}`, finds([]))).json().results[0].stop_id;
    expect([await first('-33.8,151.2'), await first('-32.9,151.2')]).toEqual(['8', '9']);
  });

  it('stop search lets `near` reorder good upstream matches, never a good and a poor one', async () => {
    const hit = (id: string, matchQuality: number, lat: number) => ({
      id,
      type: 'stop',
      name: `Wharf ${id}`,
      matchQuality,
      coord: [lat, 151.2],
      modes: [5],
    });
    const upstream = finds([hit('1', 980, -32.9), hit('2', 970, -33.8), hit('3', 600, -33.8)]);
    const order = async (path: string) =>
      (await search(path, upstream)).json().results.map(({ stop_id }: { stop_id: string }) => stop_id);
    expect(await order('q=wharf')).toEqual(['1', '2', '3']);
    expect(await order('q=wharf&near=-33.8,151.2')).toEqual(['2', '1', '3']);
  });

  it('stop search uses the register while upstream is unavailable, with a notice', async () => {
    const found = await search('q=paramatta', away);
    expect(found.json().results.map(({ stop_id }: { stop_id: string }) => stop_id)).toEqual(['4']);
    expect(found.headers['x-notice']).toContain('Transport for NSW is unavailable');
    expect(found.headers['cache-status']).toContain('upstream-busy');
    expect(Number(found.headers.age)).toBeGreaterThan(86_400);
    const none = await search('q=xyzzy', away);
    expect([none.statusCode, none.json().results]).toEqual([200, []]);
    expect(none.headers['x-notice']).toContain('has no such stop');
    expect(none.headers['cache-status']).toContain('upstream-busy');
  });

  it('stop search ranks stops of the timetable above stops of the bundled list', async () => {
    const timetable = timetableOf(
      scheduleFile('buses', {
        stops: [{ id: '9', name: 'Wharf Rd at Hill St' }, { id: '99' }],
        trips: [
          {
            id: 't',
            days: ['20261120'],
            calls: [
              ['9', '10:00'],
              ['99', '10:10'],
            ],
          },
        ],
      }),
    );
    const register = new StopRegister(() => tableOf(known), { timetable: currentOf(timetable) });
    const found = await new NameSearch(register).search(
      { text: 'wharf rd', limit: 5, isLoose: false },
      Date.parse(NOW),
    );
    expect(found.map(({ stop_id }) => stop_id)).toEqual(['9', '8']);
  });

  it('stop search finds the stops of a timetable that was loaded later', async () => {
    let timetable: Timetable | null = null;
    const listeners: (() => void)[] = [];
    const register = new StopRegister(() => tableOf(known), {
      timetable: {
        ...noTimetable,
        get: () => timetable,
        onChange: (listener) => listeners.push(() => listener(timetable as Timetable)),
      },
    });
    const names = new NameSearch(register);
    let moment = Date.parse(NOW);
    const find = async () => {
      const found = await names.search({ text: 'belconen', limit: 1, isLoose: false }, moment);
      return found.map(({ stop_id }) => stop_id);
    };
    expect(await find()).toEqual([]);
    timetable = timetableOf(scheduleFile('buses', { stops: [{ id: '10', name: 'Belconnen Interchange' }], trips: [] }));
    for (const listener of listeners) listener();
    moment += 3_600_000;
    await find();
    await expect.poll(find).toEqual(['10']);
  });
});

describe('place search in the sandbox', () => {
  it.each(['opera house', 'george st', 'manly'])(
    'each place found for %s can be the destination of a journey',
    async (q) => {
      const { results } = (await app.inject(`/v1/places/search?q=${encodeURIComponent(q)}`)).json();
      expect(results.length).toBeGreaterThan(0);
      for (const { id } of results) {
        const trips = await app.inject(`/v1/trips?from=200060&to=${encodeURIComponent(id)}&limit=1`);
        expect([200, 404]).toContain(trips.statusCode);
        if (trips.statusCode === 404) expect(trips.json().error.code).toBe('NO_JOURNEYS_FOUND');
        else expect(trips.json().destination.stop_id).toBe(id);
      }
    },
  );
});
