import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { parseResponse, type UpstreamRequest } from '#src/efa/request.ts';
import { loadBuiltIn } from '#src/stops/file.ts';
import { plannerStops } from '#src/stops/named-stops.ts';
import { StopRegister } from '#src/stops/register.ts';
import { type StopRecord, StopTable, tableOf, tableText } from '#src/stops/table.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { noTimetable } from '#src/timetable/update/keep-current.ts';
import { distanceMetres } from '#src/transit/place.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp } from '#test/support/app.ts';
import { statusFailure } from '#test/support/made-up-upstream.ts';
import { datesFrom, type MadeSchedule, scheduleFile } from '#test/support/schedule-file.ts';
import { currentOf, timetableOf } from '#test/support/timetable.ts';

const SOURCE = { dataDate: '2026-08-21', source: 'a test' };
const stop = (stop_id: string, lat: number, lng: number, more: Partial<StopRecord> = {}): StopRecord => ({
  stop_id,
  name: `Stop ${stop_id}`,
  suburb: '',
  lat,
  lng,
  modes: ['bus'],
  parent_id: null,
  is_platform: false,
  ...more,
});
const registerOf = (...stops: StopRecord[]) => new StopRegister(() => tableOf(stops, SOURCE));
const plannerOf = (...stops: StopRecord[]) => plannerStops(tableOf(stops));
const idsOf = (stops: Iterable<StopRecord>) => [...stops].map(({ stop_id }) => stop_id).sort();

describe('the table of stops', () => {
  it('the table of stops is the same after writing and reading it', () => {
    const stops = [
      stop('200060', -33.883852, 151.206272, { modes: ['train', 'bus'], suburb: 'Sydney' }),
      stop('G201023', -33.8843, 151.2129, { parent_id: '200060', is_platform: true, name: 'Café, Crown St' }),
      stop('20002', 0, -0.000001, { modes: [] }),
    ];
    const table = new StopTable(tableText(stops, SOURCE));
    expect([...table]).toEqual([stops[2], stops[0], stops[1]]);
    expect(stops.map(({ stop_id }) => table.get(stop_id))).toEqual(stops);
    expect(['', '2', '200061', 'H'].map((id) => table.get(id))).toEqual([null, null, null, null]);
    expect(table.source).toEqual(SOURCE);
  });

  it.each([
    ['no header', 'a\tb\n'],
    ['another format', '{"format":2,"dataDate":"2026-08-21","source":""}\n'],
    ['a line cut short', '{"format":1,"dataDate":"2026-08-21","source":""}\n1\tA\t\t-33\t151\tbus\t\t\n2\tB'],
    ['a field missing', '{"format":1,"dataDate":"2026-08-21","source":""}\n1\tA\t\t-33\t151\tbus\n'],
    ['an invalid position', '{"format":1,"dataDate":"2026-08-21","source":""}\n1\tA\t\tsouth\t151\tbus\t\t\n'],
  ])('a table of stops with %s is refused', (_what, text) => {
    expect(() => new StopTable(Buffer.from(text))).toThrow();
  });
});

describe('the bundled stops', () => {
  const table = loadBuiltIn();
  const register = new StopRegister(() => table);

  it('the bundled stops cover New South Wales', () => {
    expect(table.size).toBeGreaterThan(37_000);
    expect(register.get('200060')).toMatchObject({ name: 'Central Station', modes: ['train', 'metro', 'lightrail'] });
    expect(register.get('219410')).toMatchObject({ name: 'Campsie Station', modes: ['metro'] });
    expect(register.get('220010')).toMatchObject({ name: 'Bankstown Station', modes: ['train', 'metro', 'bus'] });
    expect(new Date(register.updatedAt).getUTCFullYear()).toBe(2026);
  });

  it('the bundled stops found around a position are those that a scan of all stops finds', () => {
    for (const [lat, lng, radius] of [
      [-33.8731, 151.2069, 500],
      [-33.86, 151.2, 2000],
      [-35.2789, 149.1296, 20_000],
      [-30.0, 140.0, 300],
    ] as const) {
      const all = [...table].filter((one) => distanceMetres([lat, lng], [one.lat, one.lng]) <= radius);
      const found = register.near(lat, lng, radius);
      expect(idsOf(found.map(({ stop }) => stop))).toEqual(idsOf(all));
      const distances = found.map(({ distanceMetres }) => distanceMetres);
      expect(distances).toEqual(distances.toSorted((one, other) => one - other));
    }
  });

  it('the bundled stops found in a box are those that a scan of all stops finds', () => {
    for (const [south, west, north, east] of [
      [-33.9, 151.15, -33.85, 151.25],
      [-45, 110, -9, 160],
      [-33.8765, 151.2, -33.8764, 151.3],
    ] as const) {
      const all = [...table].filter(({ lat, lng }) => lat >= south && lat <= north && lng >= west && lng <= east);
      expect(idsOf(register.inBox({ south, west, north, east }))).toEqual(idsOf(all));
    }
  });
});

describe('the stop register', () => {
  const DAYS = datesFrom('20261126', '20261210');
  const SCHEDULE: MadeSchedule = {
    stops: [
      { id: '200060', name: 'Central Station', isStation: true, wheelchair: 1, lat: -33.884, lng: 151.206 },
      { id: '2000321', name: 'Central Station Platform 1', parentId: '200060', lat: -33.8835, lng: 151.2065 },
      { id: '201080', name: 'Central Station, Elizabeth St, Stand E', lat: -33.8825, lng: 151.207 },
      { id: '201081', name: 'Foveaux St at Elizabeth St', lat: -33.885, lng: 151.208 },
      { id: '9', name: 'Depot', lat: -33.9, lng: 151.2 },
    ],
    routes: [{ id: 'T1', mode: 'train' }, { id: '333' }],
    trips: [
      {
        id: 't',
        route: 'T1',
        days: DAYS,
        calls: [
          ['2000321', '10:00'],
          ['9', '10:30'],
        ],
      },
      {
        id: 'b',
        route: '333',
        days: DAYS,
        calls: [
          ['201080', '10:00'],
          ['201081', '10:03'],
          ['9', '10:30'],
        ],
      },
    ],
  };
  const timetable = timetableOf(scheduleFile('buses', SCHEDULE));
  const planner = plannerOf(
    stop('200060', -33.884, 151.206, { name: 'Central Station', suburb: 'Sydney', modes: ['train', 'bus'] }),
    stop('2000321', -33.8835, 151.2065, { suburb: 'Sydney', modes: [], parent_id: '200060', is_platform: true }),
    stop('201080', -33.8825, 151.207, { suburb: 'Sydney', modes: [], parent_id: '200060', is_platform: true }),
    stop('G201081', -33.885, 151.208, { name: 'Foveaux St at Elizabeth St', suburb: 'Surry Hills' }),
    stop('201081', -33.885, 151.208, { suburb: 'Surry Hills', modes: [], parent_id: 'G201081', is_platform: true }),
    stop('3345', -35.2789, 149.1296, { name: 'City Interchange', suburb: 'City (ACT)' }),
  );
  const list = () => tableOf([stop('9', 0, 0, { modes: ['ferry'] }), stop('10', -33.8, 151.2)], SOURCE);
  const NOW = Date.parse('2026-11-26T12:00:00+11:00');

  it('the stop register loads its list on first use', () => {
    let loads = 0;
    const register = new StopRegister(() => {
      loads++;
      return tableOf([], SOURCE);
    });
    expect(loads).toBe(0);
    expect([register.get('1'), register.updatedAt]).toEqual([null, Date.parse('2026-08-21')]);
    expect(loads).toBe(1);
  });

  it('the stop register combines stops of the timetable with suburbs and groups of the trip planner', () => {
    const register = new StopRegister(list, { timetable: currentOf(timetable), planner });
    expect(register.get('200060')).toEqual(
      stop('200060', -33.884, 151.206, {
        name: 'Central Station',
        suburb: 'Sydney',
        modes: ['train', 'bus'],
        wheelchair: true,
      }),
    );
    expect(register.get('2000321')).toEqual({
      ...stop('2000321', -33.8835, 151.2065, { suburb: 'Sydney', modes: ['train'], wheelchair: true }),
      name: 'Central Station, Platform 1',
      parent_id: '200060',
      is_platform: true,
    });
    expect(register.get('201081')).toMatchObject({ parent_id: 'G201081', is_platform: true, suburb: 'Surry Hills' });
    expect(register.get('9')).toEqual(stop('9', -33.9, 151.2, { name: 'Depot', modes: ['train', 'bus'] }));
    expect(register.updatedAt).toBe(timetable.importedAt);
  });

  it('the stop register adds stops of the trip planner and of the list that the timetable lacks', () => {
    const register = new StopRegister(list, { timetable: currentOf(timetable), planner });
    expect(register.get('3345')).toMatchObject({ name: 'City Interchange', suburb: 'City (ACT)' });
    expect(register.get('10')?.name).toBe('Stop 10');
    expect(register.get('11')).toBeNull();
    expect(idsOf(register)).toEqual(['10', '200060', '2000321', '201080', '201081', '3345', '9', 'G201081'].sort());
  });

  it('the stop register is the list alone without a timetable, with suburbs of the trip planner', () => {
    const register = new StopRegister(list, {
      planner: plannerOf(stop('10', -33.8, 151.2, { suburb: 'Epping', modes: [] })),
    });
    expect(idsOf(register)).toEqual(['10', '9']);
    expect(register.get('10')).toEqual(stop('10', -33.8, 151.2, { suburb: 'Epping' }));
    expect([register.linesOf('10', NOW), register.modesOf('10', NOW), register.partsOf('10')]).toEqual([
      null,
      null,
      [],
    ]);
  });

  it('the stop register finds the same stops around a position and in a box as a scan of all stops', () => {
    const register = new StopRegister(list, { timetable: currentOf(timetable), planner });
    const all = [...register];
    for (const radius of [100, 300, 2000, 100_000]) {
      const expected = all.filter((one) => distanceMetres([-33.884, 151.206], [one.lat, one.lng]) <= radius);
      expect(idsOf(register.near(-33.884, 151.206, radius).map((found) => found.stop))).toEqual(idsOf(expected));
    }
    for (const [south, west, north, east] of [
      [-33.9, 151.15, -33.85, 151.25],
      [-45, 110, -9, 160],
      [-33.8845, 151.2, -33.8835, 151.3],
    ] as const) {
      const inside = all.filter(({ lat, lng }) => lat >= south && lat <= north && lng >= west && lng <= east);
      expect(idsOf(register.inBox({ south, west, north, east }))).toEqual(idsOf(inside));
    }
  });

  it('the parts of a station include stands known only to the trip planner, and the parts of a group include its poles', () => {
    const register = new StopRegister(list, { timetable: currentOf(timetable), planner });
    const partsOf = (id: string) => register.partsOf(id).map((index) => timetable.stop(index).id);
    expect(partsOf('200060').sort()).toEqual(['200060', '2000321', '201080'].sort());
    expect(partsOf('G201081')).toEqual(['201081']);
    expect(partsOf('2000321')).toEqual(['2000321']);
    expect(partsOf('3345')).toEqual([]);
    expect(register.modesOf('200060', NOW)).toEqual(['train', 'bus']);
    expect(register.modesOf('2000321', NOW)).toEqual(['train']);
    expect(register.linesOf('G201081', NOW)).toEqual([
      { lineId: 'A_333', route: '333', mode: 'bus', headsigns: ['City'], networks: [] },
    ]);
  });

  it('boards of a timetable loaded later include the stands of a station and the poles of a group', () => {
    let later: Timetable | null = null;
    const listeners: ((timetable: Timetable) => void)[] = [];
    const coming = { ...noTimetable, get: () => later, onChange: (one: (typeof listeners)[0]) => listeners.push(one) };
    new StopRegister(list, { timetable: coming, planner });
    later = timetableOf(scheduleFile('buses', SCHEDULE));
    for (const listener of listeners) listener(later);
    const day = Date.parse('2026-11-26T00:00:00+11:00');
    const leaving = (id: string) =>
      later?.departures(later.boardStopsOf(id), day, day + 86_400_000).map(({ trip }) => later?.trip(trip).route);
    expect(leaving('200060')?.sort()).toEqual(['333', 'T1']);
    expect(leaving('G201081')).toEqual(['333']);
    expect(leaving('3345')).toEqual([]);
  });

  it('the modes of a stop are unknown, not empty, once its timetable file expires', () => {
    const register = new StopRegister(list, { timetable: currentOf(timetable) });
    expect(register.modesOf('2000321', Date.parse('2026-12-09T00:00:00+11:00'))).toEqual(['train']);
    expect(register.modesOf('2000321', Date.parse('2026-12-12T00:00:00+11:00'))).toBeNull();
  });

  it('a stop of the timetable counts as served, and one only in the list does not', () => {
    const register = new StopRegister(list, { timetable: currentOf(timetable), planner });
    const served = ['200060', '2000321', 'G201081', '3345', '10'].map((id) => register.isServed(id));
    expect(served).toEqual([true, true, true, true, false]);
    expect(registerOf(stop('10', -33.8, 151.2)).isServed('10')).toBe(true);
  });
});

describe('GET /v1/stops', async () => {
  const list = [
    stop('200060', -33.884, 151.206, { modes: ['train', 'bus'], name: 'Central Station', suburb: 'Sydney' }),
    stop('2000351', -33.8841, 151.2061, { modes: [], parent_id: '200060', is_platform: true }),
    stop('20001', -33.88, 151.2),
    stop('20002', -33.881, 151.201, { modes: ['ferry'] }),
    stop('20003', -33.9, 151.3, { parent_id: '999', is_platform: true }),
    stop('20004', -33.7, 151.2),
  ];
  let timetable: Timetable | null = null;
  const changed: ((timetable: Timetable) => void)[] = [];
  const stops = new StopRegister(() => tableOf(list, SOURCE), {
    timetable: { ...noTimetable, get: () => timetable, onChange: (listener) => changed.push(listener) },
  });
  const sent: unknown[] = [];
  const store = openEmbeddedStore(':memory:');
  const app = await buildTestApp({
    store,
    upstream: (request) => {
      sent.push(request);
      throw new Error('no upstream call is expected');
    },
    now: '2026-11-23T00:00:00Z',
    stops,
  });
  afterAll(() => app.close().then(() => store.close()));
  const get = async (query: string) => (await app.inject(`/v1/stops?${query}`)).json();
  const idsAt = async (query: string) => (await get(query)).stops.map(({ stop_id }: StopRecord) => stop_id);

  it('GET /v1/stops lists the stops in a box without platforms, major modes first, with the total', async () => {
    expect(await idsAt('bbox=-33.95,151.12,-33.8,151.32')).toEqual(['200060', '20002', '20001', '20003']);
    expect(await idsAt('bbox=-33.88,151.2,-33.8,151.3')).toEqual(['20001']);
    const cut = await get('bbox=-33.95,151.12,-33.8,151.32&limit=1');
    expect([cut.stops.length, cut.total]).toEqual([1, 4]);
    expect(cut.stops[0]).toEqual({
      stop_id: '200060',
      name: 'Central Station, Sydney',
      suburb: 'Sydney',
      lat: -33.884,
      lng: 151.206,
      modes: ['train', 'bus'],
      parent_stop_id: null,
    });
    expect(await idsAt('bbox=-33.95,151.12,-33.8,151.32&modes=bus')).toEqual(['200060', '20001', '20003']);
  });

  it('GET /v1/stops lists the stops around a position nearest first', async () => {
    expect(await idsAt('near=-33.88,151.2&radius=1000')).toEqual(['20001', '20002', '200060']);
    expect(await idsAt('near=-33.88,151.2&radius=1000&bbox=-33.8805,151.12,-33.8,151.32')).toEqual(['20001']);
    expect(await idsAt('near=-33.88,151.2&radius=1')).toEqual(['20001']);
  });

  it('GET /v1/stops writes longitude first in GeoJSON', async () => {
    expect(await get('near=-33.881,151.201&radius=20&format=geojson')).toEqual({
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          id: '20002',
          geometry: { type: 'Point', coordinates: [151.201, -33.881] },
          properties: { stop_id: '20002', name: 'Stop 20002', suburb: '', modes: ['ferry'], parent_stop_id: null },
        },
      ],
      total: 1,
    });
  });

  it.each([
    ['', 'Give one of: `bbox` or `near`.'],
    ['bbox=1,2,3', '`bbox` must be south,west,north,east'],
    ['bbox=-33.8,151.2,-33.9,151.3', 'south below north'],
    ['bbox=-34,151,-33.4,151.3', 'at most 0.25 degrees each way'],
    ['bbox=151.2,-33.9,151.3,-33.8', 'seem to be swapped'],
    ['near=-33.88,151.2&format=xml', '`format` must be json or geojson'],
  ])('GET /v1/stops refuses the query %j', async (query, message) => {
    expect((await get(query)).error.message).toContain(message);
  });

  it('GET /v1/stops gives the age of the list, is cached for a day, and explains an empty response outside the area', async () => {
    const { headers } = await app.inject('/v1/stops?near=-33.88,151.2');
    const age = (Date.parse('2026-11-23') - Date.parse('2026-08-21')) / 1000;
    expect(headers).toMatchObject({
      age: String(age),
      'cache-control': `private, max-age=${age + 86_400}, stale-if-error=604800`,
      'cache-status': 'transit; hit; ttl=86400',
    });
    expect((await app.inject('/v1/stops?near=51.5,-0.1')).headers['x-notice']).toContain('outside the area covered');
  });

  it('GET /v1/stops.ndjson is charged 100 requests, and one or none when the file is not sent', async () => {
    const key = await issueTestKey(store);
    const used = async () => (await store.loadUsage(parseKey(key)?.accountId ?? '', ['20261123']))[0];
    const send = (method: 'GET' | 'HEAD', more = {}) =>
      app.inject({ method, url: '/v1/stops.ndjson', headers: { authorization: `Bearer ${key}`, ...more } });
    const { headers } = await send('GET');
    expect(await used()).toBe(100);
    expect((await send('GET', { 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
    expect(await used()).toBe(100);
    expect((await send('GET', { 'if-none-match': '*' })).statusCode).toBe(304);
    await send('HEAD');
    expect(await used()).toBe(102);
    for (let count = 0; count < 8; count++) await send('GET');
    const refused = await send('GET');
    expect([refused.statusCode, refused.json().error.code]).toEqual([429, 'DAILY_LIMIT_EXCEEDED']);
    expect(await used()).toBe(902);
  });

  it('GET /v1/stops.ndjson returns all stops, and new ones when the timetable is replaced', async () => {
    const all = () => app.inject({ url: '/v1/stops.ndjson', headers: { 'accept-encoding': 'identity' } });
    const first = await all();
    expect(first.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'last-modified': 'Mon, 23 Nov 2026 00:00:00 GMT',
    });
    const lines = first.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ stop_id }) => stop_id)).toEqual(
      ['20001', '20002', '20003', '20004', '2000351', '200060'].sort(),
    );
    expect(lines.find(({ stop_id }) => stop_id === '2000351')).toMatchObject({ parent_stop_id: '200060', modes: [] });
    const etag = String(first.headers.etag);
    const again = await app.inject({ url: '/v1/stops.ndjson', headers: { 'if-none-match': etag } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    const since = async (moment: string, more = {}) =>
      (await app.inject({ url: '/v1/stops.ndjson', headers: { 'if-modified-since': moment, ...more } })).statusCode;
    expect(await since('Mon, 23 Nov 2026 00:00:00 GMT')).toBe(304);
    expect(await since('Sun, 22 Nov 2026 23:59:59 GMT')).toBe(200);
    expect(await since('yesterday')).toBe(200);
    expect(await since('Mon, 23 Nov 2026 00:00:00 GMT', { 'if-none-match': 'W/"another"' })).toBe(200);
    app.clock.now = new Date('2026-11-23T01:00:05Z');
    timetable = timetableOf(scheduleFile('buses', { stops: [{ id: '20009', name: 'Café' }], trips: [] }));
    for (const listener of changed) listener(timetable);
    const renewed = await all();
    expect(renewed.body).toContain('"Café"');
    expect(renewed.body.match(/\n/g)).toHaveLength(7);
    expect(renewed.headers['last-modified']).toBe('Mon, 23 Nov 2026 01:00:05 GMT');
    expect(await since('Mon, 23 Nov 2026 00:00:00 GMT')).toBe(200);
    expect(await since('Mon, 23 Nov 2026 01:00:05 GMT')).toBe(304);
  });

  it('GET /v1/stops makes no upstream call', () => expect(sent).toEqual([]));
});

describe('a stop of the timetable', () => {
  const DAYS = datesFrom('20261126', '20261210');
  const NOW = '2026-11-26T01:00:00Z';
  const platform = (number: number) => ({
    id: `200033${number}`,
    name: `Central Station Platform ${number}`,
    parentId: '200060',
    lat: -33.8845,
    lng: 151.2065,
  });
  const runs = (id: string, route: string, stopId: string, headsign: string, days = DAYS) => ({
    id,
    route,
    headsign,
    days,
    calls: [[stopId, '10:00'] as const, ['9', '10:30'] as const],
  });
  const timetable = timetableOf(
    scheduleFile('sydneytrains', {
      stops: [
        { id: '200060', name: 'Central Station', isStation: true, wheelchair: 1, lat: -33.884, lng: 151.206 },
        platform(2),
        platform(1),
        { id: '9', name: 'Depot' },
      ],
      routes: ['T1', 'T10', 'T2', 'T3'].map((id) => ({ id, mode: 'train' as const })),
      trips: [
        runs('1', 'T1', '2000331', 'Emu Plains'),
        runs('2', 'T1', '2000332', 'Berowra via Gordon'),
        runs('3', 'T10', '2000331', 'Hornsby'),
        runs('4', 'T2', '2000331', 'Leppington'),
        runs('5', 'T3', '2000331', 'Liverpool', ['20261208']),
      ],
    }),
  );
  const sent: unknown[] = [];
  const queryUpstream = (async (request: unknown) => {
    sent.push(request);
    throw statusFailure(503);
  }) as unknown as QueryUpstream;
  const stops = new StopRegister(() => tableOf([], SOURCE), { timetable: currentOf(timetable) });

  it('a timetable stop has its platforms and the lines of the next week without an upstream call', async () => {
    const app = await buildTestApp({ upstream: queryUpstream, now: NOW, stops });
    const first = await app.inject('/v1/stops/200060');
    expect(first.headers['cache-status']).toMatch(/^transit; hit/);
    expect(first.json()).toEqual({
      stop_id: '200060',
      name: 'Central Station',
      suburb: '',
      lat: -33.884,
      lng: 151.206,
      modes: ['train'],
      parent_stop_id: null,
      wheelchair_accessible: true,
      parent: null,
      platforms: ['1', '2'].map((number) => ({
        stop_id: `200033${number}`,
        name: `Central Station, Platform ${number}`,
        lat: -33.8845,
        lng: 151.2065,
        modes: ['train'],
        wheelchair_accessible: true,
      })),
      lines: [
        {
          line_id: 'train_T1',
          route: 'T1',
          mode: 'train',
          color: 'F99D1C',
          text_color: '000000',
          headsigns: ['Berowra via Gordon', 'Emu Plains'],
        },
        {
          line_id: 'train_T2',
          route: 'T2',
          mode: 'train',
          color: '0098CD',
          text_color: '000000',
          headsigns: ['Leppington'],
        },
        {
          line_id: 'train_T10',
          route: 'T10',
          mode: 'train',
          color: 'A85300',
          text_color: 'FFFFFF',
          headsigns: ['Hornsby'],
        },
      ],
    });
    const platform = (await app.inject('/v1/stops/2000332')).json();
    expect(platform.parent).toEqual({ stop_id: '200060', name: 'Central Station' });
    expect(platform.lines.map(({ route }: { route: string }) => route)).toEqual(['T1']);
    expect(sent).toEqual([]);
    await app.close();
  });

  it('a timetable stop has the alerts of its lines, not of a bus with the same number in another region', async () => {
    const line = (network: object) => ({ affected: { lines: [{ number: '324', product: { class: 5 }, ...network }] } });
    const notices = [
      { subtitle: 'Sydney', ...line({ iconId: 5 }) },
      { subtitle: 'Unknown', ...line({}) },
      { subtitle: 'Wauchope', ...line({ iconId: 33 }) },
    ];
    const upstream = (async (request: UpstreamRequest) => ({
      payload: parseResponse(request, { infos: { current: notices } }),
      retrievedAt: Date.parse(NOW),
    })) as unknown as QueryUpstream;
    const buses = timetableOf(
      scheduleFile('buses', {
        stops: [{ id: '1' }, { id: '9' }],
        routes: [{ id: '324', network: 5 }],
        trips: [runs('1', '324', '1', 'City')],
      }),
    );
    const register = new StopRegister(() => tableOf([], SOURCE), { timetable: currentOf(buses) });
    const app = await buildTestApp({ upstream, now: NOW, stops: register });
    const { alerts } = (await app.inject('/v1/alerts?stop=1')).json();
    expect(alerts.map(({ text }: { text: string }) => text).sort()).toEqual(['Sydney', 'Unknown']);
    const unknown = await app.inject('/v1/alerts?stop=2');
    expect([unknown.json().alerts, unknown.headers['x-notice']]).toEqual([[], expect.stringContaining('are unknown')]);
    await app.close();
  });
});

describe('a stop outside the timetable', () => {
  const NOW = '2026-11-23T02:00:00Z';
  let sent: UpstreamRequest[] = [];
  let board: () => object = () => ({});
  const queryUpstream = (async (request: UpstreamRequest) => {
    sent.push(request);
    return { payload: parseResponse(request, board()), retrievedAt: Date.parse(NOW) };
  }) as unknown as QueryUpstream;
  const central = { id: '200060', isGlobalId: true, name: 'Central Station, Sydney', type: 'stop', isBest: true };
  const station = { ...central, disassembledName: 'Central Station', coord: [-33.884, 151.206] };
  const leaving = (platform: string, productClass: number, number: string, name: string) => ({
    departureTimePlanned: '2026-11-23T02:10:00Z',
    location: {
      id: platform,
      isGlobalId: true,
      type: 'platform',
      name: `Central Station, ${platform === '200060' ? 'Light Rail' : `Platform ${platform.slice(-1)}`}, Sydney`,
      coord: [-33.8845, 151.2065],
      parent: { ...station, parent: { name: 'Sydney', type: 'locality' } },
    },
    transportation: { number, disassembledName: number, product: { class: productClass }, destination: { name } },
  });
  const events = [
    leaving('2000332', 1, 'T1', 'Berowra via Gordon'),
    leaving('2000331', 1, 'T1', 'Emu Plains'),
    leaving('2000331', 1, 'T10', 'Hornsby'),
    leaving('2000331', 1, 'T2', 'Leppington'),
    leaving('200060', 4, 'L1', 'Dulwich Hill'),
  ];
  const build = (...stops: StopRecord[]) =>
    buildTestApp({ upstream: queryUpstream, now: NOW, stops: registerOf(...stops) });
  const listed = stop('200060', -33.884, 151.206, {
    name: 'Central Station',
    suburb: 'Sydney',
    modes: ['train', 'lightrail'],
    wheelchair: true,
  });

  beforeEach(() => {
    sent = [];
    board = () => ({ locations: [station], stopEvents: events });
  });

  it('a stop outside the timetable has its lines after one upstream call, then without any', async () => {
    const app = await build(listed);
    const first = await app.inject('/v1/stops/200060');
    expect(first.headers['cache-status']).toBe('transit; fwd=miss');
    expect(first.json()).toEqual({
      stop_id: '200060',
      name: 'Central Station, Sydney',
      suburb: 'Sydney',
      lat: -33.884,
      lng: 151.206,
      modes: ['train', 'lightrail'],
      parent_stop_id: null,
      wheelchair_accessible: true,
      parent: null,
      platforms: [],
      lines: [
        {
          line_id: null,
          route: 'T1',
          mode: 'train',
          color: 'F99D1C',
          text_color: '000000',
          headsigns: ['Berowra via Gordon', 'Emu Plains'],
        },
        { line_id: null, route: 'T2', mode: 'train', color: '0098CD', text_color: '000000', headsigns: ['Leppington'] },
        { line_id: null, route: 'T10', mode: 'train', color: 'A85300', text_color: 'FFFFFF', headsigns: ['Hornsby'] },
        {
          line_id: null,
          route: 'L1',
          mode: 'lightrail',
          color: 'BE1622',
          text_color: 'FFFFFF',
          headsigns: ['Dulwich Hill'],
        },
      ],
    });
    const etag = String(first.headers.etag);
    const again = await app.inject({ url: '/v1/stops/200060/', headers: { 'if-none-match': etag } });
    expect([again.statusCode, sent.length]).toEqual([304, 1]);
    await app.close();
  });

  it('a stop outside the timetable without departures now and on the next weekday morning has no lines', async () => {
    board = () => ({ locations: [station], stopEvents: [] });
    const app = await build(listed);
    expect((await app.inject('/v1/stops/200060')).json().lines).toEqual([]);
    expect(sent.map((request) => 'at' in request && request.at)).toEqual([null, { date: '20261124', time: '0800' }]);
    await app.close();
  });

  it('a stop outside the timetable is shown without lines while upstream is unavailable, and completed a minute later', async () => {
    board = () => {
      throw statusFailure(503);
    };
    const app = await build(listed);
    const response = await app.inject('/v1/stops/200060');
    expect([response.statusCode, response.json().lines]).toEqual([200, null]);
    expect(response.headers['cache-status']).toContain('detail=upstream-failing');
    expect((await app.inject('/v1/stops/200061')).statusCode).toBe(502);
    board = () => ({ locations: [station], stopEvents: events });
    app.clock.now = new Date('2026-11-23T02:01:01Z');
    expect((await app.inject('/v1/stops/200060')).json().lines).toHaveLength(4);
    await app.close();
  });

  it('a stop known only to upstream takes its name from there, and an unknown one is a 404', async () => {
    board = () => ({ locations: [{ ...central, id: '7' }], stopEvents: [] });
    const app = await build();
    expect((await app.inject('/v1/stops/7')).json()).toMatchObject({
      stop_id: '7',
      name: 'Central Station, Sydney',
      lat: null,
    });
    board = () => ({ locations: [], stopEvents: [] });
    const unknown = await app.inject('/v1/stops/8');
    expect([unknown.statusCode, unknown.json().error.code]).toEqual([404, 'STOP_NOT_FOUND']);
    expect((await app.inject('/v1/stops/town')).json().error.message).toContain('`stop_id` must be a stop ID');
    expect((await app.inject('/v1/stops/8?modes=bus')).json().error.message).toContain('Unknown parameter `modes`');
    await app.close();
  });
});
