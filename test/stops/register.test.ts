import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { type Ask, tellOfCalls } from '#src/efa/ask.ts';
import { readResponse, type UpstreamRequest } from '#src/efa/request.ts';
import { readBuiltIn } from '#src/stops/file.ts';
import { learnStops } from '#src/stops/learn.ts';
import { StopRegister } from '#src/stops/register.ts';
import { readTable, type StopRecord, tableOf, writeTable } from '#src/stops/table.ts';
import { distanceMetres } from '#src/transit/place.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp } from '#test/support/app.ts';
import { statusFailure } from '#test/support/made-up-upstream.ts';

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
const idsOf = (stops: Iterable<StopRecord>) => [...stops].map(({ stop_id }) => stop_id).sort();

describe('the table of stops', () => {
  it('is the same after it was written and read', () => {
    const stops = [
      stop('200060', -33.883852, 151.206272, { modes: ['train', 'bus'], suburb: 'Sydney' }),
      stop('G201023', -33.8843, 151.2129, { parent_id: '200060', is_platform: true, name: 'Café, Crown St' }),
      stop('20002', 0, -0.000001, { modes: [] }),
    ];
    const table = readTable(writeTable(stops, SOURCE));
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
    ['a position that is none', '{"format":1,"dataDate":"2026-08-21","source":""}\n1\tA\t\tsouth\t151\tbus\t\t\n'],
  ])('is refused with %s', (_what, text) => {
    expect(() => readTable(gzipSync(text))).toThrow();
  });
});

describe('the built-in stops', () => {
  const table = readBuiltIn();
  const register = new StopRegister(() => table);

  it('are those of New South Wales', () => {
    expect(table.size).toBeGreaterThan(37_000);
    expect(register.get('200060')).toMatchObject({ name: 'Central Station', modes: ['train', 'metro', 'lightrail'] });
    expect(register.dataDate).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('are found around a place like by measuring the way to every stop', () => {
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

  it('are found in a box like by comparing every stop', () => {
    for (const [south, west, north, east] of [
      [-33.9, 151.15, -33.85, 151.25],
      [-45, 110, -9, 160],
      [-33.8765, 151.2, -33.8764, 151.3],
    ] as const) {
      const all = [...table].filter(({ lat, lng }) => lat >= south && lat <= north && lng >= west && lng <= east);
      expect(idsOf(register.inBox(south, west, north, east))).toEqual(idsOf(all));
    }
  });
});

describe('the register', () => {
  it('loads its table when it is first needed', () => {
    let loads = 0;
    const register = new StopRegister(() => {
      loads++;
      return tableOf([], SOURCE);
    });
    expect(loads).toBe(0);
    expect([register.size, register.get('1'), register.dataDate]).toEqual([0, null, '2026-08-21']);
    expect(loads).toBe(1);
  });

  it('takes what a response says, and keeps what it does not say', () => {
    const register = registerOf(stop('1', -33.8, 151.2, { modes: ['train'], parent_id: '7' }), stop('2', -33, 151));
    register.learn({ ...stop('1', 0, 0), lat: null, lng: null, suburb: 'Epping', name: 'Epping Station' });
    register.learn(stop('3', -33.8001, 151.2, { is_platform: true, parent_id: '1' }));
    register.learn({ ...stop('4', 0, 0), lat: null, lng: null });
    const first = stop('1', -33.8, 151.2, {
      modes: ['train', 'bus'],
      suburb: 'Epping',
      name: 'Epping Station',
      parent_id: '7',
    });
    expect(register.get('1')).toEqual(first);
    expect(register.get('4')).toBeNull();
    expect(idsOf(register)).toEqual(['1', '2', '3']);
    expect(register.size).toBe(3);
    expect(register.near(-33.8, 151.2, 50).map(({ stop }) => stop.stop_id)).toEqual(['1', '3']);
    expect(register.near(-33.8, 151.2, 50)[0]).toEqual({ stop: first, distanceMetres: 0 });
  });

  it('finds a stop that was moved at its new place only', () => {
    const register = registerOf(stop('1', -33.8, 151.2));
    register.learn(stop('1', -33.9, 151.2));
    register.learn(stop('1', -33.7, 151.3));
    expect(idsOf(register.inBox(-34, 151, -33.75, 151.25))).toEqual([]);
    expect(idsOf(register.inBox(-33.71, 151.29, -33.69, 151.31))).toEqual(['1']);
    expect(idsOf(register.inBox(-45, 110, -9, 160))).toEqual(['1']);
  });

  it('keeps what it learned when the table is replaced, and tells who listens', () => {
    const register = registerOf(stop('1', -33.8, 151.2));
    const heard: (string | null)[] = [];
    register.onChange((changed) => heard.push(changed?.stop_id ?? null));
    register.learn(stop('9', -33.8, 151.2));
    register.learn(stop('9', -33.8, 151.2));
    register.learn(stop('1', -33.8, 151.2));
    register.replace(tableOf([stop('2', -33.8, 151.2)], { ...SOURCE, dataDate: '2026-11-01' }));
    expect(idsOf(register)).toEqual(['2', '9']);
    expect(register.dataDate).toBe('2026-11-01');
    expect(heard).toEqual(['9', null]);
  });
});

describe('a response of upstream', () => {
  const learnFrom = async (request: UpstreamRequest, json: unknown, ...known: StopRecord[]) => {
    const register = registerOf(...known);
    const retrievedAt = new Date('2026-04-15T06:25:30Z');
    const ask = (async () => ({ payload: readResponse(request, json), retrievedAt })) as unknown as Ask;
    await tellOfCalls(ask, learnStops(register))(request);
    return register;
  };

  it('adds the stops around a place and their platforms', async () => {
    const file = new URL('../fixtures/nearby/platforms-and-stops-in-one-answer.json', import.meta.url);
    const { upstream } = JSON.parse(readFileSync(file, 'utf8'));
    const coord = { kind: 'coord', lat: 0, lng: 0, radiusMetres: 500 } as const;
    const register = await learnFrom(coord, upstream.coord, stop('200060', -33.8, 151.2, { modes: ['ferry'] }));
    expect(register.get('200060')).toEqual(
      stop('200060', -33.884024, 151.206203, {
        name: 'Central Station',
        suburb: 'Sydney',
        modes: ['train', 'metro', 'lightrail', 'bus', 'coach', 'ferry', 'schoolbus'],
      }),
    );
    expect(register.get('2000466')).toEqual(
      stop('2000466', -33.884117, 151.206381, {
        name: 'Central Station, Platform 26',
        suburb: 'Sydney',
        modes: [],
        parent_id: '200060',
        is_platform: true,
      }),
    );
    expect(register.get('200090')?.parent_id).toBe('G200090');
  });

  it('adds the places where a journey calls', async () => {
    const place = (id: string, type: string, more = {}) => ({
      id,
      type,
      isGlobalId: true,
      name: `Name ${id}, Epping`,
      disassembledName: `Name ${id}`,
      coord: [-33.7, 151.1],
      parent: { id: 'placeID:1', name: 'Epping', type: 'locality' },
      ...more,
    });
    const group = { ...place('G8', 'stop'), name: 'wrong' };
    const leg = {
      transportation: { product: { class: 4 } },
      // Upstream gives a platform the modes of its whole station.
      origin: place('1', 'platform', { parent: group, productClasses: [1, 4, 5] }),
      destination: place('2', 'stop', { modes: [1, 4] }),
      stopSequence: [place('3', 'stop'), place('streetID:5', 'stop'), place('6', 'street'), { id: 7 }],
    };
    const request = { kind: 'trip', from: '1', to: '2', at: null, isArrival: false } as const;
    const internal = { ...place('10101100', 'stop'), isGlobalId: false };
    const walk = { transportation: { product: { class: 99 } }, origin: leg.origin, destination: leg.destination };
    const train = { ...walk, transportation: { product: { iconId: 1 } } };
    const legs = [leg, train, walk, { origin: internal }, null];
    const register = await learnFrom(request, { journeys: [{ legs }, 'x'] });
    expect(idsOf(register)).toEqual(['1', '2', '3']);
    expect(register.get('1')).toMatchObject({ name: 'Name 1', suburb: 'Epping', parent_id: 'G8', is_platform: true });
    expect(register.get('1')?.modes).toEqual(['train', 'lightrail']);
    expect(register.get('2')).toMatchObject({ parent_id: null, is_platform: false, lat: -33.7, lng: 151.1 });
    expect(register.get('2')?.modes).toEqual(['train', 'lightrail']);
  });

  it('adds the platforms of a board with the modes of what leaves there', async () => {
    const parent = { id: '200060', type: 'stop', name: 'Central' };
    const location = {
      id: '2000',
      type: 'platform',
      isGlobalId: true,
      disassembledName: 'Central, Platform 1',
      parent,
    };
    const event = { location: { ...location, coord: [-33.8, 151.2] }, transportation: { product: { class: 2 } } };
    const request = { kind: 'departureMonitor', stopId: '200060', modes: ['metro'], at: null } as const;
    const register = await learnFrom(request, { locations: [], stopEvents: [event, null] });
    expect(register.get('2000')).toMatchObject({ modes: ['metro'], parent_id: '200060', is_platform: true });
  });
});

describe('stops of an area', async () => {
  const stops = registerOf(
    stop('200060', -33.884, 151.206, { modes: ['train', 'bus'], name: 'Central Station', suburb: 'Sydney' }),
    stop('2000351', -33.8841, 151.2061, { modes: [], parent_id: '200060', is_platform: true }),
    stop('20001', -33.88, 151.2),
    stop('20002', -33.881, 151.201, { modes: ['ferry'] }),
    stop('20003', -33.9, 151.3, { parent_id: '999', is_platform: true }),
    stop('20004', -33.7, 151.2),
  );
  const asked: unknown[] = [];
  const store = openEmbeddedStore(':memory:');
  const app = await buildTestApp({
    store,
    upstream: (request) => {
      asked.push(request);
      throw new Error('upstream must not be asked');
    },
    now: '2026-11-23T00:00:00Z',
    stops,
  });
  afterAll(() => app.close().then(() => store.close()));
  const get = async (query: string) => (await app.inject(`/v1/stops?${query}`)).json();
  const idsAt = async (query: string) => (await get(query)).stops.map(({ stop_id }: StopRecord) => stop_id);

  it('lists those in a window without platforms, those of greater modes first, and says how many there are', async () => {
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

  it('lists those around a position, the nearest first', async () => {
    expect(await idsAt('near=-33.88,151.2&radius=1000')).toEqual(['20001', '20002', '200060']);
    expect(await idsAt('near=-33.88,151.2&radius=1000&bbox=-33.8805,151.12,-33.8,151.32')).toEqual(['20001']);
    expect(await idsAt('near=-33.88,151.2&radius=1')).toEqual(['20001']);
  });

  it('writes GeoJSON with longitude first', async () => {
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
  ])('refuses %j', async (query, message) => {
    expect((await get(query)).error.message).toContain(message);
  });

  it('says how old the list is, that it is good for a day, and where nothing is known, why', async () => {
    const { headers } = await app.inject('/v1/stops?near=-33.88,151.2');
    const age = (Date.parse('2026-11-23') - Date.parse('2026-08-21')) / 1000;
    expect(headers).toMatchObject({
      age: String(age),
      'cache-control': `private, max-age=${age + 86_400}, stale-if-error=604800`,
      'cache-status': 'transit; hit; ttl=86400',
    });
    expect((await app.inject('/v1/stops?near=51.5,-0.1')).headers['x-notice']).toContain('outside the area covered');
  });

  it('are all in one file, which counts as 100 requests, and as one or none where it is not sent', async () => {
    const key = await issueTestKey(store);
    const used = async () => (await store.readUsage(parseKey(key)?.accountId ?? '', ['20261123']))[0];
    const ask = (method: 'GET' | 'HEAD', more = {}) =>
      app.inject({ method, url: '/v1/stops.ndjson', headers: { authorization: `Bearer ${key}`, ...more } });
    const { headers } = await ask('GET');
    expect(await used()).toBe(100);
    expect((await ask('GET', { 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
    expect(await used()).toBe(100);
    expect((await ask('GET', { 'if-none-match': '*' })).statusCode).toBe(304);
    await ask('HEAD');
    expect(await used()).toBe(102);
    for (let count = 0; count < 8; count++) await ask('GET');
    const refused = await ask('GET');
    expect([refused.statusCode, refused.json().error.code]).toEqual([429, 'DAILY_LIMIT_EXCEEDED']);
    expect(await used()).toBe(902);
  });

  it('are all in one file, which is written again when the list is renewed', async () => {
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
    stops.learn(stop('20009', -33.8, 151.2));
    expect((await all()).headers.etag).toBe(etag);
    app.clock.now = new Date('2026-11-23T01:00:00Z');
    const completed = await all();
    expect(completed.body).toContain('"20009"');
    expect(completed.headers['last-modified']).toBe('Mon, 23 Nov 2026 01:00:00 GMT');
    expect(await since('Mon, 23 Nov 2026 00:00:00 GMT')).toBe(200);
    expect(await since('Mon, 23 Nov 2026 01:00:00 GMT')).toBe(304);
    app.clock.now = new Date('2026-11-23T01:00:05Z');
    stops.replace(tableOf([stop('1', -33.8, 151.2)], { ...SOURCE, dataDate: '2026-11-01' }));
    const renewed = await all();
    expect(renewed.body.match(/\n/g)).toHaveLength(2);
    expect(renewed.headers['last-modified']).toBe('Mon, 23 Nov 2026 01:00:05 GMT');
  });

  it('never ask upstream', () => expect(asked).toEqual([]));
});

describe('a stop', () => {
  const NOW = '2026-11-23T02:00:00Z';
  const shared = new Map<string, Buffer>();
  const stopStore = {
    get: async (key: string) => shared.get(key) ?? null,
    set: (key: string, value: string) => void shared.set(key, Buffer.from(value)),
  };
  let asked: UpstreamRequest[] = [];
  let board: () => object = () => ({});
  const ask = (async (request: UpstreamRequest) => {
    asked.push(request);
    return { payload: readResponse(request, board()), retrievedAt: new Date(NOW) };
  }) as unknown as Ask;
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
    buildTestApp({ upstream: ask, now: NOW, stops: registerOf(...stops), stopStore });
  const listed = stop('200060', -33.884, 151.206, {
    name: 'Central Station',
    suburb: 'Sydney',
    modes: ['train', 'lightrail'],
    wheelchair: true,
  });

  beforeEach(() => {
    asked = [];
    shared.clear();
    board = () => ({ locations: [station], stopEvents: events });
  });

  it('has its platforms and the lines that leave there, for one call, and for none from then on', async () => {
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
      platforms: ['1', '2'].map((number) => ({
        stop_id: `200033${number}`,
        name: `Central Station, Platform ${number}`,
        lat: -33.8845,
        lng: 151.2065,
        modes: ['train'],
        wheelchair_accessible: null,
      })),
      lines: [
        {
          route: 'T1',
          mode: 'train',
          color: 'F99D1C',
          text_color: '000000',
          headsigns: ['Berowra via Gordon', 'Emu Plains'],
        },
        { route: 'T2', mode: 'train', color: '0098CD', text_color: '000000', headsigns: ['Leppington'] },
        { route: 'T10', mode: 'train', color: 'A85300', text_color: 'FFFFFF', headsigns: ['Hornsby'] },
        { route: 'L1', mode: 'lightrail', color: 'BE1622', text_color: 'FFFFFF', headsigns: ['Dulwich Hill'] },
      ],
    });
    const etag = String(first.headers.etag);
    const again = await app.inject({ url: '/v1/stops/200060/', headers: { 'if-none-match': etag } });
    expect([again.statusCode, asked.length]).toEqual([304, 1]);
    // Another instance reads what this one wrote.
    const other = await build(listed);
    expect((await other.inject('/v1/stops/200060')).json().lines).toEqual(first.json().lines);
    expect(asked.length).toBe(1);
    await Promise.all([app.close(), other.close()]);
  });

  it('takes its lines from boards that others asked for, once all its modes were asked for', async () => {
    const app = await build(listed);
    await app.inject('/v1/departures?stop=200060&modes=train');
    await app.inject('/v1/departures?stop=200060&modes=lightrail');
    asked = [];
    expect((await app.inject('/v1/stops/200060')).json().lines).toHaveLength(4);
    expect(asked).toEqual([]);
    const platform = (await app.inject('/v1/stops/2000331')).json();
    expect(platform.parent).toEqual({ stop_id: '200060', name: 'Central Station, Sydney' });
    expect(platform.lines.map(({ route }: { route: string }) => route)).toEqual(['T1', 'T2', 'T10']);
    await app.close();
  });

  it('without departures, now and on the next weekday morning, has no lines', async () => {
    board = () => ({ locations: [station], stopEvents: [] });
    const app = await build(listed);
    expect((await app.inject('/v1/stops/200060')).json().lines).toEqual([]);
    expect(asked.map((request) => 'at' in request && request.at)).toEqual([null, { date: '20261124', time: '0800' }]);
    await app.close();
  });

  it('is known without its lines while upstream is away, and asked for again a minute later', async () => {
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

  it('that upstream alone knows has the name that it has there, and one that nobody knows is a 404', async () => {
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

  it('keeps its name where a platform is listed under its identifier', async () => {
    const app = await build(listed);
    await app.inject('/v1/stops/200060');
    const { stops } = (await app.inject('/v1/stops?near=-33.884,151.206')).json();
    expect(stops).toMatchObject([{ stop_id: '200060', name: 'Central Station, Sydney', lat: -33.884 }]);
    await app.close();
  });
});
