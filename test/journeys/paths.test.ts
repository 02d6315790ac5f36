import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { encodePolyline } from '#src/operations/trips/response.ts';
import { SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { folderSource } from '#src/timetable/update/download.ts';
import { openNewest } from '#src/timetable/update/folder.ts';
import { updateTimetable } from '#src/timetable/update/update.ts';
import { buildTestApp, type TestApp } from '../support/app.ts';
import { gtfsZip } from '../support/gtfs-zip.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import { createTestLog } from '../support/made-up-upstream.ts';
import { smallSchedule } from '../support/schedule-server.ts';
import { currentOf } from '../support/timetable.ts';

const NOW = '2026-11-26T00:00:00Z';
const STRAIGHT = [
  [-33.86, 151.2],
  [-33.85, 151.21],
  [-33.84, 151.22],
];
const TABLES = {
  'agency.txt': 'agency_id,agency_name\nA,Buses\n',
  'stops.txt':
    'stop_id,stop_name,stop_lat,stop_lon\n2001,First St,-33.86,151.2\n2002,Second St,-33.85,151.21\n2003,Third St,-33.84,151.22\n',
  'routes.txt': 'route_id,agency_id,route_short_name,route_type\nR,A,333,700\n',
  'calendar.txt':
    'service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\nS,1,1,1,1,1,1,1,20261120,20261231\n',
  'trips.txt': 'route_id,service_id,trip_id,trip_headsign,shape_id\nR,S,T1,Third St,round\n',
  'stop_times.txt':
    'trip_id,arrival_time,departure_time,stop_id,stop_sequence\nT1,12:00:00,12:00:00,2001,1\nT1,12:10:00,12:10:00,2002,2\nT1,12:20:00,12:20:00,2003,3\n',
  'shapes.txt':
    'shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\nround,-33.86,151.2,1\nround,-33.86,151.21,2\nround,-33.85,151.21,3\nround,-33.85,151.22,4\nround,-33.84,151.22,5\n',
};

const root = mkdtempSync(join(tmpdir(), 'paths-'));
let count = 0;
let app: TestApp | null = null;
let timetable: Timetable | null = null;
afterAll(() => rmSync(root, { recursive: true }));

/** The service with a timetable imported from `zip`. */
async function openApp(zip: Buffer): Promise<TestApp> {
  const from = join(root, String(count++));
  const file = join(from, `${SCHEDULE_FILES.buses.path}.zip`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, zip);
  const folder = join(from, 'data');
  const now = () => Date.parse(NOW);
  const options = { wanted: ['buses'] as const, isBundleLast: false, hasTimetable: false, log: createTestLog() };
  await updateTimetable({ folder, source: folderSource(from), now, ...options });
  timetable = await openNewest(folder);
  if (!timetable) throw new Error('nothing was imported');
  const byTimetable = timetableJourneys({
    timetable: currentOf(timetable),
    engines: createInlineEngine(timetable),
    feeds: null,
    now,
  });
  const upstream = () => Promise.reject(new Error('no upstream call is expected'));
  return buildTestApp({ upstream, now: NOW, journeys: { fetch: (query) => byTimetable.fetch(query) } });
}

async function legOf(one: TestApp, query = 'from=2001&to=2003') {
  const response = await one.inject(`/v1/trips?limit=1&${query}`);
  expect(response.statusCode, response.body).toBe(200);
  return response.json().journeys[0].legs[0];
}

describe('the path of a ride from the timetable', () => {
  beforeAll(async () => {
    app = await openApp(gtfsZip(TABLES));
  });
  afterAll(() => app?.close());

  it('the path of a ride follows the shape of its trip', async () => {
    expect((await legOf(app as TestApp)).path).toEqual([
      [-33.86, 151.2],
      [-33.86, 151.21],
      [-33.85, 151.21],
      [-33.85, 151.22],
      [-33.84, 151.22],
    ]);
  });

  it('the path of a ride begins where the rider boards and ends where the rider alights', async () => {
    const path = [
      [-33.85, 151.21],
      [-33.85, 151.22],
      [-33.84, 151.22],
    ];
    expect((await legOf(app as TestApp, 'from=2002&to=2003')).path).toEqual(path);
    expect((await legOf(app as TestApp, 'from=2002&to=2003&path=polyline')).polyline).toBe(
      encodePolyline(path as [number, number][]),
    );
  });

  it.each([
    ['without shapes', { ...TABLES, 'shapes.txt': 'shape_id\n' }],
    ['with a shape of another way', { ...TABLES, 'shapes.txt': TABLES['shapes.txt'].replaceAll('151.', '150.') }],
  ])('the path of a ride is straight between calls in a file %s', async (_, tables) => {
    const other = await openApp(gtfsZip(tables));
    expect((await legOf(other)).path).toEqual(STRAIGHT);
    await other.close();
  });

  it('the path of a ride is straight when the shapes of its file are broken, and the import succeeds', async () => {
    const zip = gtfsZip({ ...TABLES, 'shapes.txt': TABLES['shapes.txt'].repeat(50) }, { method: 'deflate' });
    zip.fill(0xff, zip.indexOf('shapes.txt') + 10, zip.indexOf('shapes.txt') + 20);
    const other = await openApp(zip);
    expect((await legOf(other)).path).toEqual(STRAIGHT);
    expect(timetable?.files[0]?.leftOut).toEqual({ 'shapes that cannot be read': 1 });
    await other.close();
  });

  it('the path of a ride is straight when the file of paths is missing', async () => {
    const other = await openApp(gtfsZip(TABLES));
    rmSync(join(root, String(count - 1), 'data'), { recursive: true });
    expect((await legOf(other)).path).toEqual(STRAIGHT);
    await other.close();
  });

  it('a timetable built from a file without shapes.txt contains no paths', async () => {
    const other = await openApp(smallSchedule());
    expect(await timetable?.loadPath(0, { first: 0, last: 1 })).toBeNull();
    await other.close();
  });
});
