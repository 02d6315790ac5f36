import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { departuresResponse } from '#src/operations/departures/departure.ts';
import { nearbyResponse } from '#src/operations/nearby/operation.ts';
import { stopSearchResponse } from '#src/operations/stop-search/operation.ts';
import { tripsResponse } from '#src/operations/trips/response.ts';
import { MODES } from '#src/transit/mode.ts';
import { buildTestApp, type TestApp } from './support/app.ts';

/** Friday 13:00 in Sydney, daylight saving time. */
const FRIDAY_NOON = '2026-11-20T02:00:20Z';
const TOWN_HALL = '200070';
const AIRPORT = '202020';
const MANLY = '209573';
const CANBERRA_CITY = { lat: -35.2787, lng: 149.1306 };

let sandbox: Sandbox;
let app: TestApp;
let baseUrl: string;

beforeAll(async () => {
  const clock = { now: () => app.clock.now };
  sandbox = await startSandbox({ apiKey: 'test-key', now: () => clock.now() });
  app = await buildTestApp({ upstream: sandbox.url, now: FRIDAY_NOON });
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await app.close();
  await sandbox.close();
});

async function send(path: string): Promise<{ status: number; body: unknown; text: string }> {
  const response = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${app.apiKey}` } });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), text };
}

async function departures(query: string) {
  const { status, body } = await send(`/v1/departures?${query}`);
  expect(status).toBe(200);
  return departuresResponse.parse(body);
}

async function journeys(query: string) {
  const { status, body } = await send(`/v1/trips?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return tripsResponse.parse(body);
}

describe('departures from the sandbox over HTTP', () => {
  it('a board lists only buses when the request names no modes', async () => {
    const board = await departures(`stop=${TOWN_HALL}`);
    expect(board).toMatchObject({ stop_id: TOWN_HALL, stop_name: 'Town Hall Station' });
    expect(board.departures).toHaveLength(10);
    expect(new Set(board.departures.map(({ mode }) => mode))).toEqual(new Set(['bus']));
  });

  it.each(['train', 'lightrail', 'bus'])('a board of %s departures fills a limit of 50', async (mode) => {
    const board = await departures(`stop=${TOWN_HALL}&modes=${mode}&limit=50`);
    expect(board.departures).toHaveLength(50);
    expect(board.departures.every((departure) => departure.mode === mode)).toBe(true);
    const distinct = new Set(board.departures.map((departure) => JSON.stringify(departure)));
    expect(distinct.size).toBe(50);
  });

  it('a board orders departures by the best-known time and counts whole minutes from the moment of sending', async () => {
    const board = await departures(`stop=${TOWN_HALL}&modes=all&limit=50`);
    const times = board.departures.map(({ realtime_at, scheduled_at }) => Date.parse(realtime_at ?? scheduled_at));
    expect(times).toEqual([...times].sort((one, other) => one - other));
    const now = app.clock.now.getTime();
    expect(board.departures.map(({ minutes_away }) => minutes_away)).toEqual(
      times.map((time) => Math.max(0, Math.floor((time - now) / 60_000))),
    );
    expect(board.departures.every(({ is_live, realtime_at }) => is_live === (realtime_at !== null))).toBe(true);
  });

  it('a board never shows an internal platform code', async () => {
    const stops = [TOWN_HALL, '200020', '200060', MANLY];
    const boards = await Promise.all(stops.map((stop) => departures(`stop=${stop}&modes=all&limit=50`)));
    const labels = boards.flatMap((board) => board.departures.map(({ platform }) => platform)).filter((one) => one);
    expect(labels.length).toBeGreaterThan(50);
    for (const label of labels) expect(label).toMatch(/^(Platform|Stand|Coach Bay|Wharf|Side) | Light Rail$/);
  });

  it('a board with `routes` has only departures of these routes', async () => {
    const board = await departures(`stop=${TOWN_HALL}&modes=all&routes=t4, l2`);
    expect(board.departures).toHaveLength(10);
    expect(new Set(board.departures.map(({ route }) => route))).toEqual(new Set(['T4', 'L2']));
  });

  it('the date and time of a board are Sydney local time', async () => {
    const board = await departures(`stop=${TOWN_HALL}&modes=train&date=20261123&time=0800`);
    expect(board.departures).toHaveLength(10);
    for (const { scheduled_at } of board.departures) {
      expect(Date.parse(scheduled_at)).toBeGreaterThanOrEqual(Date.parse('2026-11-22T21:00:00Z'));
      expect(Date.parse(scheduled_at)).toBeLessThan(Date.parse('2026-11-22T22:00:00Z'));
    }
  });

  it('a board is the same for the same request in the same minute', async () => {
    const path = `/v1/departures?stop=${TOWN_HALL}&modes=all&limit=50`;
    expect((await send(path)).text).toBe((await send(path)).text);
  });

  it('the board of a stop that upstream does not know is 404', async () => {
    expect(await send('/v1/departures?stop=123456789')).toMatchObject({
      status: 404,
      body: {
        error: { code: 'STOP_NOT_FOUND', message: 'No stop 123456789. Find IDs with /v1/stops/search or /v1/nearby.' },
      },
    });
    expect(await send('/v1/stops/123456789')).toMatchObject({
      status: 404,
      body: {
        error: { code: 'STOP_NOT_FOUND', message: 'No stop 123456789. Find IDs with /v1/stops/search or /v1/nearby.' },
      },
    });
  });
});

describe('nearby stops from the sandbox over HTTP', () => {
  it('nearby lists each stop once, the nearest first, and leaves out the decommissioned one', async () => {
    const around = '/v1/nearby?lat=-33.884&lng=151.2063&radius=500&modes=all';
    // One request checks at most eight stops, and the next one knows more.
    await send(`${around}&limit=49`);
    const { body } = await send(`${around}&limit=50`);
    const { stops } = nearbyResponse.parse(body);
    expect(stops[0]).toMatchObject({ stop_id: '200060', name: 'Central Station, Sydney', routes: [] });
    expect(new Set(stops.map(({ stop_id }) => stop_id)).size).toBe(stops.length);
    const distances = stops.map(({ distance_metres }) => distance_metres);
    expect(distances).toEqual([...distances].sort((one, other) => one - other));
    expect(stops.map(({ name }) => name)).not.toContain('George St before Hay St, Haymarket');
    expect(stops.every(({ name }) => !name.includes('undefined'))).toBe(true);
    expect(stops.every(({ modes }) => modes.length > 0)).toBe(true);
  });

  it('nearby covers the Australian Capital Territory', async () => {
    const { body } = await send(`/v1/nearby?lat=${CANBERRA_CITY.lat}&lng=${CANBERRA_CITY.lng}&radius=1000`);
    const { location, stops } = nearbyResponse.parse(body);
    expect(location).toEqual(CANBERRA_CITY);
    expect(stops.length).toBeGreaterThan(0);
    expect(stops.every(({ modes }) => modes.includes('bus'))).toBe(true);
  });

  it('nearby finds nothing in the middle of the sea', async () => {
    expect((await send('/v1/nearby?lat=-36&lng=157&radius=2000')).body).toMatchObject({ stops: [] });
  });
});

describe('stop search from the sandbox over HTTP', () => {
  it('a stop search finds only stops', async () => {
    const { body } = await send('/v1/stops/search?q=circular');
    const { query, results } = stopSearchResponse.parse(body);
    expect(query).toBe('circular');
    expect(results[0]).toMatchObject({ stop_id: '200020', suburb: 'Sydney' });
    for (const { stop_id } of results) expect(stop_id).toMatch(/^G?\d+$/);
  });

  it('a stop search for nonsense finds nothing', async () => {
    expect((await send('/v1/stops/search?q=qqqqq')).body).toEqual({ query: 'qqqqq', results: [] });
  });
});

describe('journeys from the sandbox over HTTP', () => {
  it('the legs of a journey join end to end, with the walk between train and ferry as a leg', async () => {
    const plan = await journeys(`from=${AIRPORT}&to=${MANLY}`);
    expect(plan.origin).toEqual({ stop_id: AIRPORT, name: 'Domestic Airport Station' });
    expect(plan.destination).toEqual({ stop_id: MANLY, name: 'Manly Wharf' });
    expect(plan.journeys).toHaveLength(5);
    for (const { legs } of plan.journeys) {
      expect(legs.map(({ mode }) => mode)).toEqual(['train', 'walk', 'ferry']);
      for (const [index, leg] of legs.slice(1).entries()) {
        expect(leg.origin.stop_id).toBe(legs[index]?.destination.stop_id);
        expect(Date.parse(leg.origin.departs_at)).toBeGreaterThanOrEqual(
          Date.parse(legs[index]?.destination.arrives_at ?? ''),
        );
      }
    }
  });

  it('journeys with arrive_by arrive by the given time', async () => {
    const plan = await journeys(`from=${AIRPORT}&to=${MANLY}&date=20261123&time=0900&arrive_by=true`);
    expect(plan.journeys.length).toBeGreaterThan(1);
    for (const { arrives_at } of plan.journeys) {
      expect(Date.parse(arrives_at)).toBeLessThanOrEqual(Date.parse('2026-11-22T22:00:00Z'));
    }
  });

  it('journeys of yesterday can be requested from any time zone', async () => {
    const plan = await journeys(`from=${AIRPORT}&to=${MANLY}&date=20261119&time=0900`);
    expect(plan.journeys[0]?.departs_at).toMatch(/^2026-11-18T22:/);
    const same = await journeys(`from=${AIRPORT}&to=${MANLY}&time=2026-11-19T06:00+08:00`);
    expect(same.journeys).toEqual(plan.journeys);
  });

  it.each(['2000391', '2000392'])(
    'a journey from a stop to its own platform %s is refused, and the error says why',
    async (platform) => {
      const { status, body } = await send(`/v1/trips?from=${TOWN_HALL}&to=${platform}`);
      expect(status).toBe(400);
      expect(body).toMatchObject({
        error: {
          message: `\`to\` must differ from \`from\`. Transport for NSW treats ${TOWN_HALL} and ${platform} as the same place.`,
        },
      });
    },
  );

  it.each([
    ['no connection', `from=${TOWN_HALL}&to=G99006002`, 404, 'NO_JOURNEYS_FOUND'],
    ['an unknown origin', `from=123456789&to=${TOWN_HALL}`, 404, 'STOP_NOT_FOUND'],
    ['an unknown destination', `from=${TOWN_HALL}&to=123456789`, 404, 'STOP_NOT_FOUND'],
    ['a day beyond the timetable', `from=${TOWN_HALL}&to=${MANLY}&date=20271123`, 400, 'DATE_OUT_OF_RANGE'],
    ['a day long gone by', `from=${TOWN_HALL}&to=${MANLY}&date=20261118`, 400, 'DATE_OUT_OF_RANGE'],
  ])('the journey planner distinguishes %s from other causes', async (_name, query, status, code) => {
    expect(await send(`/v1/trips?${query}`)).toMatchObject({ status, body: { error: { code } } });
  });
});

describe('the notice about a default that leaves a list empty', () => {
  const OCEAN = '/v1/nearby?lat=-31&lng=153.6';
  const METRO = 'By default only buses are listed. Metro leaves here: modes=all.';

  it.each<[url: string, notice: string | undefined]>([
    ['/v1/departures?stop=200066', METRO],
    ['/v1/departures?stop=200066&modes=', METRO],
    ['/v1/departures?stop=200066&modes=bus', undefined],
    ['/v1/departures?stop=200066&modes[]=bus', undefined],
    ['/v1/departures?stop=200066&modes=all', undefined],
    [`/v1/departures?stop=${TOWN_HALL}`, undefined],
    [
      `/v1/departures?stop=${TOWN_HALL}&routes=T1`,
      'By default only buses are listed. Train and lightrail leave here: modes=all.',
    ],
    ['/v1/boards?stops=200066,200070', `200066: ${METRO}`],
    ['/v1/boards?stops=200066,200070&modes=bus', undefined],
    [
      '/v1/nearby?lat=-33.69163&lng=150.90601&radius=200',
      'By default only bus stops are listed. Metro stops within 200 metres: modes=all.',
    ],
    [OCEAN, 'The default radius is 500 metres. The maximum is radius=2000.'],
    [`${OCEAN}&radius=500`, undefined],
    [
      '/v1/nearby?lat=-37.81&lng=144.96&modes=all',
      '-37.81,144.96 lies outside the area covered: New South Wales and the ACT.',
    ],
    ['/v1/departures/stream?stop=200066', METRO],
  ])('the notice for %s is: %s', async (url, notice) => {
    const method = url.includes('/stream') ? 'HEAD' : 'GET';
    for (const _ of ['new', 'kept']) {
      const response = await app.inject({ url, method });
      expect(response.statusCode).toBe(200);
      expect(response.headers['x-notice']).toBe(notice);
    }
  });

  it('the notice is sent with a 304 too, and shown on the board in a terminal', async () => {
    const url = '/v1/departures?stop=200066';
    const { etag } = (await app.inject(url)).headers;
    const response = await app.inject({ url, headers: { 'if-none-match': String(etag) } });
    expect([response.statusCode, response.headers['x-notice']]).toEqual([304, METRO]);
    const board = await app.inject('/board/99000004');
    expect(board.body).toContain('Nothing leaves.\n  All departures found are cancelled and left out');
  });

  it('the error for a search that finds no journey contains the notice', async () => {
    const told = async (query: string) => JSON.stringify((await send(`/v1/trips?${query}`)).body);
    expect(await told('from=99000004&to=99004007')).toContain('left out by default. To list them: cancelled=include.');
    expect(await told(`from=-37.81,144.96&to=${TOWN_HALL}`)).toContain('-37.81,144.96 lies outside the area covered');
  });
});

describe('the timetable of the sandbox', () => {
  it('the sandbox has departures of every mode', async () => {
    const morning = 'date=20261123&time=0745&limit=50&modes=all';
    const stops = ['200060', TOWN_HALL, '200020', '200066', 'G99005001', '200812'];
    const boards = await Promise.all(stops.map((stop) => departures(`stop=${stop}&${morning}`)));
    const coaches = await departures('stop=200060&modes=coach&date=20261123&time=0500');
    const seen = new Set([coaches, ...boards].flatMap((board) => board.departures.map(({ mode }) => mode)));
    expect(MODES.filter((mode) => !seen.has(mode))).toEqual([]);
  });

  it.each(['0000', '0200', '0330', '0500', '2330'])('the sandbox has departures at %s', async (time) => {
    expect((await departures(`stop=${TOWN_HALL}&modes=all&date=20261125&time=${time}`)).departures).toHaveLength(10);
  });
});
