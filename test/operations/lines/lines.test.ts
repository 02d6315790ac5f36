import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FEEDS } from '#sandbox/feeds/feed.ts';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { scheduleTables } from '#sandbox/schedule/tables.ts';
import { AlertList } from '#src/alerts/alert-list.ts';
import { Runs } from '#src/boards/runs.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { parseResponse } from '#src/efa/request.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { loadScheduleFile } from '#src/timetable/import/read-file.ts';
import type { FileId } from '#src/timetable/schedule-files.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { gtfsZip } from '#test/support/gtfs-zip.ts';
import { datesFrom, type MadeSchedule, scheduleFile } from '#test/support/schedule-file.ts';
import { currentOf, timetableOf } from '#test/support/timetable.ts';
import { type PlainRun, readPlainRuns } from './plain-schedule.ts';

/** Friday 20 November 2026, 13:00 in Sydney. */
const NOW = '2026-11-20T02:00:20Z';
const DATES = datesFrom('20261119', '20261130');

let folder: string;
let app: TestApp | null = null;
const calls: string[] = [];
const queryUpstream = (async (request: Parameters<QueryUpstream>[0]) => {
  calls.push(request.kind);
  throw new Error('these operations make no call');
}) as QueryUpstream;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lines-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(async () => {
  expect(calls).toEqual([]);
  await app?.close();
  app = null;
});

async function serve(timetable: Timetable | null, alerts?: AlertList): Promise<TestApp> {
  await app?.close();
  const planned = timetable ? { timetable: currentOf(timetable) } : {};
  const [stops, runs] = [new StopRegister(noStops, planned), new Runs({ now: () => Date.parse(NOW), ...planned })];
  app = await buildTestApp({ upstream: queryUpstream, now: NOW, stops, runs, ...(alerts && { alerts }) });
  return app;
}

async function get(url: string) {
  const response = await (app as TestApp).inject(url);
  expect(response.statusCode, `${url}: ${response.body.slice(0, 300)}`).toBe(200);
  return response.json();
}

let files = 0;
async function importTables(id: FileId, tables: Readonly<Record<string, string>>) {
  const path = join(folder, `${files++}.zip`);
  await writeFile(path, gtfsZip(tables));
  return loadScheduleFile(path, id);
}

interface Table {
  direction_id: number;
  headsigns: string[];
  stops: { stop_id: string; name: string }[];
  runs: { trip_id: string; run_id: string; headsign: string; times: (string | null)[] }[];
  total: number;
}

/** Compares the timetable and the line of a day with the rows of the files. */
async function expectLike(lineId: string, date: string, runs: readonly PlainRun[]) {
  const { directions }: { directions: Table[] } = await get(`/v1/lines/${lineId}/timetable?date=${date}`);
  const line = await get(`/v1/lines/${lineId}?date=${date}`);
  const shown = directions.flatMap(({ direction_id: direction, stops, runs: columns }) =>
    columns.map(({ trip_id: tripId, headsign, times }) => ({
      tripId,
      lineId,
      direction,
      headsign,
      calls: times.flatMap((at, row) => (at === null ? [] : { stop: stops[row]?.stop_id, at })),
    })),
  );
  const byId = (one: { tripId: string }, other: { tripId: string }) => (one.tripId < other.tripId ? -1 : 1);
  const expected = runs.map(({ seconds: _, ...run }) => run);
  expect(shown.sort(byId), `${lineId} on ${date}`).toEqual(expected.sort(byId));
  for (const [at, direction] of directions.entries()) {
    const own = runs.filter((run) => run.direction === direction.direction_id);
    const starts = own.map((run) => run.calls[0]?.at as string).sort();
    expect(direction.total).toBe(own.length);
    expect(line.directions[at]).toMatchObject({
      direction_id: direction.direction_id,
      headsigns: direction.headsigns,
      stops: direction.stops,
      runs: own.length,
      first_departure_at: starts[0] ?? null,
      last_departure_at: starts.at(-1) ?? null,
    });
    expect(headwaysOf(own)).toContain(line.directions[at].headway_minutes);
    if (own.length > 0) expect(new Set(direction.headsigns)).toEqual(new Set(own.map(({ headsign }) => headsign)));
  }
}

/** The median gap at each of the stops with most departures; the first of a loop counts. */
function headwaysOf(runs: readonly PlainRun[]): (number | null)[] {
  const departures = runs.flatMap((run) =>
    run.calls.slice(0, -1).flatMap(({ stop }, position) => {
      const isFirst = run.calls.findIndex((call) => call.stop === stop) === position;
      return isFirst ? { stop, at: run.seconds[position] as number } : [];
    }),
  );
  const byStop = [...Map.groupBy(departures, ({ stop }) => stop).values()];
  const most = Math.max(...byStop.map(({ length }) => length));
  const medians = byStop
    .filter(({ length }) => length === most)
    .map((own) => {
      const sorted = own.map(({ at }) => at).sort((one, other) => one - other);
      const gaps = sorted.slice(1).map((at, index) => at - (sorted[index] as number));
      const median = gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)];
      return median === undefined ? null : Math.round(median / 60);
    });
  return runs.length === 0 ? [null] : medians;
}

const SANDBOX = ['sydneytrains', 'sydneyferries', 'cbdandsoutheast', 'buses'] as const;

describe('in the timetable of the sandbox', () => {
  const tables = new Map<FileId, Record<string, string>>();
  let timetable: Timetable;
  beforeAll(async () => {
    const network = indexNetwork(loadNetwork());
    const day = Date.parse('2026-11-20T00:00:00Z') / 86_400_000;
    for (const id of SANDBOX) tables.set(id, await scheduleTables(network, FEEDS[id], day));
    timetable = timetableOf(...(await Promise.all([...tables].map((one) => importTables(...one)))));
  });

  it.each([
    ['Friday', '20261120'],
    ['Sunday', '20261122'],
  ])(
    'a timetable of the sandbox has every run of every line, with the stops and times of the files, on a %s',
    async (_name, date) => {
      await serve(timetable);
      const runs = SANDBOX.flatMap((id) =>
        readPlainRuns(
          tables.get(id) as Record<string, string>,
          ({ agency_id, route_short_name: route }) => {
            const modes = {
              sydneytrains: 'train',
              sydneyferries: 'ferry',
              cbdandsoutheast: 'lightrail',
              buses: agency_id,
            };
            // The Stockton ferry is in the file of the buses.
            return `${route === 'STKN' ? 'ferry' : modes[id]}_${route}`;
          },
          date,
        ),
      );
      const { lines, total } = await get('/v1/lines?limit=1000');
      expect(lines).toHaveLength(total);
      const byLine = Map.groupBy(runs, ({ lineId }) => lineId);
      for (const { line_id: id } of lines) await expectLike(id, date, byLine.get(id) ?? []);
      expect(lines.map(({ line_id: id }: { line_id: string }) => id)).toEqual(
        expect.arrayContaining([...byLine.keys()]),
      );
    },
  );
});

const STOPS = 'stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n';
const CALENDAR =
  'service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\nWEEK,1,1,1,1,1,0,0,20261101,20261231\nWEEKEND,0,0,0,0,0,1,1,20261101,20261231\n';
const TRIPS = 'route_id,service_id,trip_id,trip_headsign,direction_id,wheelchair_accessible\n';
const TIMES = 'trip_id,arrival_time,departure_time,stop_id,stop_sequence,stop_headsign,pickup_type,drop_off_type\n';
const timesOf = (trip: string, ...calls: [stop: string, time: string][]) =>
  calls.map(([stop, time], at) => `${trip},${time},${time},${stop},${at + 1},,0,0\n`).join('');

/** A loop, a run past midnight, a short run, and both kinds of exceptions. */
const SMALL = {
  'agency.txt': 'agency_id,agency_name,agency_url,agency_timezone\n2507,Busways,http://a,Australia/Sydney\n',
  'stops.txt': `${STOPS}A,Alder St,-33.8,151.1,0,\nB,Birch St,-33.81,151.11,0,\nC,Cedar St,-33.82,151.12,0,\nP,Station,-33.83,151.13,1,\nP1,"Station, Stand 1",-33.83,151.13,0,P\nP2,"Station, Stand 2",-33.83,151.13,0,P\n`,
  'routes.txt':
    'route_id,agency_id,route_short_name,route_long_name,route_desc,route_type\n2507_10,2507,10,Station to Cedar (Loop),Sydney Buses Network,700\n2507_10X,2507,10X,Cedar Express,Sydney Buses Network,700\n',
  'calendar.txt': CALENDAR,
  'calendar_dates.txt': 'service_id,date,exception_type\nWEEK,20261123,2\nWEEKEND,20261123,1\n',
  'trips.txt': `${TRIPS}2507_10,WEEK,loop,Cedar,0,1\n2507_10,WEEK,short,Birch,0,1\n2507_10,WEEK,night,Cedar,0,1\n2507_10,WEEKEND,late,Cedar,0,1\n2507_10,WEEK,back,Station,1,1\n2507_10X,WEEK,fast,Cedar,0,1\n`,
  'stop_times.txt':
    TIMES +
    timesOf('loop', ['P1', '08:00:30'], ['A', '08:05:00'], ['B', '08:10:45'], ['C', '08:15:00'], ['P2', '08:20:00']) +
    timesOf('short', ['A', '08:20:00'], ['B', '08:30:00']) +
    timesOf('night', ['P1', '33:50:00'], ['A', '34:10:00'], ['C', '34:30:00']) +
    timesOf('late', ['P1', '24:05:00'], ['B', '24:20:00']) +
    timesOf('back', ['C', '09:00:00'], ['B', '09:10:00'], ['A', '09:15:00'], ['P2', '09:30:00']) +
    timesOf('fast', ['P1', '10:00:00'], ['C', '10:10:00']),
};

describe('in a small timetable', () => {
  const importSmall = async (changed: Record<string, string> = {}) =>
    timetableOf(await importTables('buses', { ...SMALL, ...changed }));
  const runsOn = (date: string) => readPlainRuns(SMALL, ({ route_id: id }) => id as string, date);

  it.each([
    ['a weekday, with a loop and a run that ends at 34:30', '20261120'],
    ['a weekend', '20261121'],
    ['a Monday on which the weekend’s runs go instead', '20261123'],
  ])('a timetable has the runs of the files on %s', async (_name, date) => {
    await serve(await importSmall());
    for (const id of ['2507_10', '2507_10X'])
      await expectLike(
        id,
        date,
        runsOn(date).filter(({ lineId }) => lineId === id),
      );
  });

  it('a line shows its stops in order, a loop’s first stop twice, and a platform as its station', async () => {
    await serve(await importSmall());
    const { directions, ...line } = await get('/v1/lines/2507_10');
    expect(line).toEqual({
      line_id: '2507_10',
      route: '10',
      name: 'Station to Cedar (Loop)',
      mode: 'bus',
      operator: 'Busways',
      color: '006A99',
      text_color: 'FFFFFF',
      date: '2026-11-20',
      alerts: [],
      alert_ids: [],
    });
    expect(directions.map((one: Table) => one.stops.map(({ stop_id: id }) => id))).toEqual([
      ['P', 'A', 'B', 'C', 'P'],
      ['C', 'B', 'A', 'P'],
    ]);
    expect(directions[0]).toMatchObject({
      headsigns: ['Cedar', 'Birch'],
      runs: 3,
      first_departure_at: '2026-11-19T21:00:00Z',
      last_departure_at: '2026-11-20T22:50:00Z',
    });
    expect(directions[0].stops[0]).toEqual({ stop_id: 'P', name: 'Station', lat: -33.83, lng: 151.13 });
    expect(
      (await get('/v1/lines/2507_10/timetable')).directions[0].runs.map((run: Table['runs'][0]) => run.trip_id),
    ).toEqual(['loop', 'short', 'night']);
  });

  it('a line that does not run on a day keeps its stops, and a notice says so', async () => {
    const own = await serve(await importSmall());
    const response = await own.inject('/v1/lines/2507_10X/timetable?date=2026-11-21');
    expect(response.json().directions).toMatchObject([
      { stops: [{ stop_id: 'P' }, { stop_id: 'C' }], runs: [], total: 0 },
    ]);
    expect(response.headers['x-notice']).toBe('Line 2507_10X does not run on 2026-11-21.');
    const [direction] = (await get('/v1/lines/2507_10X?date=20261121')).directions;
    expect(direction).toMatchObject({
      runs: 0,
      first_departure_at: null,
      last_departure_at: null,
      headway_minutes: null,
    });
  });

  it('`direction`, `time` and `limit` select directions and runs of a timetable', async () => {
    await serve(await importSmall());
    const select = async (query: string) =>
      (await get(`/v1/lines/2507_10/timetable?${query}`)).directions.map((one: Table) => [
        one.direction_id,
        one.total,
        ...one.runs.map(({ trip_id: id }) => id),
      ]);
    expect(await select('direction=1')).toEqual([[1, 1, 'back']]);
    // A run that is still under way is shown.
    expect(await select('direction=0&time=0820')).toEqual([[0, 3, 'loop', 'short', 'night']]);
    expect(await select('direction=0&time=0821')).toEqual([[0, 2, 'short', 'night']]);
    expect(await select('limit=1')).toEqual([
      [0, 3, 'loop'],
      [1, 1, 'back'],
    ]);
  });

  it('the `run_id` of a timetable’s column opens the run with the same calls', async () => {
    await serve(await importSmall());
    const [{ stops, runs }] = (await get('/v1/lines/2507_10/timetable?direction=1&date=20261124')).directions;
    const run = await get(`/v1/runs/${runs[0].run_id}`);
    expect(run).toMatchObject({ trip_id: 'back', route: '10' });
    expect(run.calls.map(({ name }: { name: string }) => name)).toEqual(
      stops.map(({ name }: { name: string }) => name),
    );
    expect(run.calls.slice(0, -1).map(({ departs_at: at }: { departs_at: string }) => at)).toEqual(
      runs[0].times.slice(0, -1),
    );
  });

  it('lines are found by short name, words, mode, stop and area', async () => {
    await serve(await importSmall());
    const find = async (query: string) =>
      (await get(`/v1/lines?${query}`)).lines.map(({ line_id: id }: { line_id: string }) => id);
    expect(await find('')).toEqual(['2507_10', '2507_10X']);
    expect(await find('q=10')).toEqual(['2507_10', '2507_10X']);
    expect(await find('q=10x')).toEqual(['2507_10X']);
    expect(await find('q=loop%20busways')).toEqual(['2507_10']);
    expect(await find('q=bus&limit=1')).toEqual(['2507_10']);
    expect(await find('q=ferry')).toEqual([]);
    expect(await find('modes=ferry')).toEqual([]);
    expect(await find('bbox=-33.805,151.09,-33.79,151.105')).toEqual(['2507_10']);
    expect(await find('bbox=-33.9,151.2,-33.85,151.3')).toEqual([]);
  });

  it('the ID of a line survives an import with other route and trip IDs', async () => {
    const idsOf = async () =>
      (await get('/v1/lines')).lines.map(({ line_id: id, name }: { line_id: string; name: string }) => [id, name]);
    await serve(await importSmall());
    const before = await idsOf();
    const renamed = Object.fromEntries(
      ['routes.txt', 'trips.txt', 'stop_times.txt'].map((name) => [
        name,
        SMALL[name as keyof typeof SMALL]
          .replaceAll('2507_10', '9-10-sj2-7-')
          .replace(/\b(loop|short|night)\b/g, '$1.301126'),
      ]),
    );
    await serve(await importSmall(renamed));
    expect(await idsOf()).toEqual(before);
  });
});

describe('errors', () => {
  const train = (id: string, route: string, days = DATES): MadeSchedule => ({
    stops: [{ id: '1' }, { id: '2' }],
    routes: [{ id, shortName: route, mode: 'train', agencyName: 'Sydney Trains' }],
    trips: [
      {
        id: `${id}.1`,
        route: id,
        days,
        calls: [
          ['1', '08:00'],
          ['2', '08:10'],
        ],
      },
    ],
  });

  it('an unknown line is 404 LINE_NOT_FOUND', async () => {
    const own = await serve(timetableOf(scheduleFile('sydneytrains', train('APS_1a', 'T8'))));
    for (const path of ['', '/timetable']) {
      const { error } = (await own.inject(`/v1/lines/train_T0${path}`)).json();
      expect(error).toMatchObject({
        code: 'LINE_NOT_FOUND',
        message: 'No line train_T0. Find IDs with /v1/lines?q=T0.',
      });
    }
    expect((await get('/v1/lines/TRAIN_t8')).line_id).toBe('train_T8');
  });

  it('an unknown stop is 404 STOP_NOT_FOUND', async () => {
    const own = await serve(timetableOf(scheduleFile('sydneytrains', train('APS_1a', 'T8'))));
    expect((await own.inject('/v1/lines?stop=999')).json().error.code).toBe('STOP_NOT_FOUND');
    expect((await get('/v1/lines?stop=2')).total).toBe(1);
  });

  it('a day that one of the line’s files lacks is 400 DATE_OUT_OF_RANGE, as is a day before yesterday', async () => {
    const own = await serve(
      timetableOf(
        scheduleFile('sydneytrains', train('CCN_1a', 'CCN', datesFrom('20261119', '20261125'))),
        scheduleFile('nswtrains', { ...train('4T.T.CCN', 'CCN'), lastDay: '20270930' }),
      ),
    );
    for (const date of ['20261126', '20261118', '20271001'])
      for (const path of ['', '/timetable']) {
        const response = await own.inject(`/v1/lines/train_CCN${path}?date=${date}`);
        expect([response.statusCode, response.json().error.code]).toEqual([400, 'DATE_OUT_OF_RANGE']);
        // The first of both files to end.
        if (date > '20261125') expect(response.json().error.message).toContain('The timetable ends on 20261125.');
      }
    // The routes of both files are one line.
    expect((await get('/v1/lines/train_CCN/timetable?date=20261119')).directions[0].runs).toHaveLength(2);
  });

  it('without a timetable every request for lines is 503, not an empty list', async () => {
    const own = await serve(null);
    for (const path of ['', '/train_T1', '/train_T1/timetable']) {
      const response = await own.inject(`/v1/lines${path}`);
      expect([response.statusCode, response.json().error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(response.headers['retry-after']).toBe('3600');
    }
  });
});

it('a line has the alerts for the whole line, not for its stops', async () => {
  const line = { number: 'T8', disassembledName: 'T8', product: { class: 1, id: 1 } };
  const notice = (subtitle: string, affected: object) => ({
    type: 'lineInfo',
    priority: 'normal',
    subtitle,
    timestamps: { validity: [{ from: '2026-11-19T00:00:00Z', to: '2500-12-31T00:00:00Z' }] },
    affected,
  });
  const current = [notice('Buses replace trains', { lines: [line] }), notice('Lift closed', { stops: [{ id: '2' }] })];
  const sent: QueryUpstream = (async (request: Parameters<QueryUpstream>[0]) => ({
    payload: parseResponse(request, { infos: { current } }),
    retrievedAt: Date.parse(NOW),
  })) as QueryUpstream;
  const timetable = timetableOf(
    scheduleFile('sydneytrains', {
      stops: [{ id: '1' }, { id: '2' }],
      routes: [{ id: 'APS_1a', shortName: 'T8', mode: 'train', network: 1 }],
      trips: [
        {
          id: 'X',
          route: 'APS_1a',
          days: DATES,
          calls: [
            ['1', '08:00'],
            ['2', '08:10'],
          ],
        },
      ],
    }),
  );
  const stops = new StopRegister(noStops, { timetable: currentOf(timetable) });
  const alerts = new AlertList({ now: () => Date.parse(NOW), stops });
  await alerts.load(sent);
  await serve(timetable, alerts);
  const { alerts: texts, alert_ids: ids } = await get('/v1/lines/train_T8');
  expect(texts).toEqual([expect.stringContaining('Buses replace trains')]);
  expect(ids).toEqual([expect.stringMatching(/^[\w-]{10}$/)]);
});

it('the course of a line has each pair of stops once: along the path if it is known, else straight', async () => {
  const calls = (...stops: string[]) => stops.map((stop, at): [string, number] => [stop, 28_800 + at * 300]);
  const place = (id: string, lat: number) => ({ id, lat, lng: 151 });
  const timetable = timetableOf(
    scheduleFile('buses', {
      stops: [place('1', -33.1), place('2', -33.2), place('3', -33.3), place('4', -33.4)],
      trips: [
        { id: 'whole', days: DATES, calls: calls('1', '2', '3') },
        { id: 'short', days: DATES, calls: calls('2', '3') },
        { id: 'branch', days: DATES, calls: calls('1', '2', '4') },
      ],
    }),
  );
  await serve(timetable);
  const { type, features, directions } = await get('/v1/lines/A_R?format=geojson');
  expect(type).toBe('FeatureCollection');
  expect(directions).toHaveLength(1);
  expect(features).toEqual([
    {
      type: 'Feature',
      geometry: {
        type: 'MultiLineString',
        coordinates: [
          [
            [151, -33.1],
            [151, -33.2],
            [151, -33.3],
          ],
          [
            [151, -33.2],
            [151, -33.4],
          ],
        ],
      },
      properties: {
        direction_id: 0,
        headsigns: ['City'],
        route: 'R',
        mode: 'bus',
        color: '006A99',
        text_color: 'FFFFFF',
      },
    },
  ]);
});

it('a timetable of today is fresh until midnight in Sydney, one of a date for a day, and a line for two minutes', async () => {
  await serve(timetableOf(await importTables('buses', SMALL)));
  const maxAge = async (url: string) => {
    const { headers } = await (app as TestApp).inject(url);
    const [, seconds] = /max-age=(\d+)/.exec(String(headers['cache-control'])) ?? [];
    return Number(seconds) - Number(headers.age);
  };
  // It is 13:00:20.
  expect(await maxAge('/v1/lines/2507_10/timetable')).toBe(11 * 3600 - 20);
  expect(await maxAge('/v1/lines/2507_10/timetable?date=20261120')).toBe(86_400);
  expect(await maxAge('/v1/lines/2507_10')).toBe(120);
  expect(await maxAge('/v1/lines')).toBe(86_400);
});
