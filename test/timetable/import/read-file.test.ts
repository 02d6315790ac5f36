import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findImplausible } from '#src/timetable/import/plausible.ts';
import { loadScheduleFile } from '#src/timetable/import/read-file.ts';
import { type ScheduleFile, type ScheduleTrip, UnreadableFile } from '#src/timetable/import/schedule-file.ts';
import type { FileId } from '#src/timetable/schedule-files.ts';
import { toDayNumber } from '#src/timetable/service-day.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { UNKNOWN_ACCESS, unpackAccess } from '#src/transit/vehicle-access.ts';
import { gtfsZip } from '#test/support/gtfs-zip.ts';
import { PROTOTYPE_NAMES } from '#test/support/prototype-names.ts';
import { buildTimetable } from '#test/support/timetable.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

const AGENCY = 'agency_id,agency_name\nSydneyTrains,Sydney Trains\n';
const STOPS = `stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,wheelchair_boarding
200060,Central Station,-33.8838,151.2058,1,,1
2000323,Central Station Platform 3,-33.8827,151.2060,0,200060,0
213510,Redfern Station,-33.8916,151.1988,1,,0
2135238,Redfern Station Platform 8,-33.8916,151.1988,0,213510,0
2141313,Lidcombe Station Platform 3,-33.8640,151.0446,0,,0
`;
const ROUTES = `route_id,agency_id,route_short_name,route_long_name,route_desc,route_type,route_color
APS_1a,SydneyTrains,T8,City Circle to Macarthur via Airport,T8 Airport & South Line,2,00954C
RTTA_REV,SydneyTrains,,Non revenue,Non revenue trips,2,888888
`;
const CALENDAR = `service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
WEEK,1,1,1,1,1,0,0,20261123,20261206
`;
const TRIPS_HEADER =
  'route_id,service_id,trip_id,trip_headsign,direction_id,block_id,shape_id,wheelchair_accessible,trip_short_name\n';
const TRIPS = `${TRIPS_HEADER}APS_1a,WEEK,T1,Macarthur,1,B7,APS_1a,0,\n`;
const TIMES_HEADER =
  'trip_id,arrival_time,departure_time,stop_id,stop_sequence,stop_headsign,pickup_type,drop_off_type,shape_dist_traveled\n';
const TIMES = `${TIMES_HEADER}T1,08:00:00,08:01:00,2000323,1,,0,0,\nT1,08:05:00,08:05:30,2135238,2,,0,0,\n`;

const CALL_OF_T5 = { trip: 'T5', stop: '2000323', minute: 0, isPassed: false };

type Files = Readonly<Record<string, string>>;
const FILES: Files = {
  'agency.txt': AGENCY,
  'stops.txt': STOPS,
  'routes.txt': ROUTES,
  'calendar.txt': CALENDAR,
  'trips.txt': TRIPS,
  'stop_times.txt': TIMES,
};

/** The files with some replaced; `undefined` removes a file. */
const filesWith = (changed: Readonly<Record<string, string | undefined>>): Files =>
  Object.fromEntries(
    Object.entries({ ...FILES, ...changed }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

let count = 0;
async function readZip(zip: Buffer, id: FileId = 'sydneytrains'): Promise<ScheduleFile> {
  const path = join(folder, `${count++}.zip`);
  await writeFile(path, zip);
  return loadScheduleFile(path, id);
}
const read = (changed: Readonly<Record<string, string | undefined>> = {}, id?: FileId) =>
  readZip(gtfsZip(filesWith(changed)), id);

/** The file with the calls of each trip in place of the function that reads them. */
function withCalls(file: ScheduleFile) {
  return { ...file, calls: file.trips.map(({ id }) => callsOf(file, id)) };
}

function callsOf(file: ScheduleFile, tripId: string) {
  const trip = file.trips.find(({ id }) => id === tripId);
  if (!trip) throw new Error(`no trip ${tripId}`);
  const calls = file.calls.get(trip);
  return Array.from({ length: trip.callCount }, (_, call) => ({
    stop: file.stops[calls.stop[call] as number]?.id,
    arrival: calls.arrival[call],
    departure: calls.departure[call],
    flags: calls.flags[call],
    headsign: file.headsigns[calls.headsign[call] as number] ?? null,
  }));
}

/** The days (`YYYYMMDD`) on which a trip runs. */
function daysOf(file: ScheduleFile, tripId: string): string[] {
  const trip = file.trips.find(({ id }) => id === tripId);
  const { firstDay, days } = file.services[trip?.service ?? -1] ?? { firstDay: 0, days: new Uint8Array() };
  return Array.from({ length: days.length * 8 }, (_, index) => index)
    .filter((index) => (days[index >> 3] as number) & (1 << (index & 7)))
    .map((index) => new Date((firstDay + index) * 86_400_000).toISOString().slice(0, 10).replaceAll('-', ''));
}

const quoted = (text: string) =>
  text.replace(/[^,\n]+|(?<=,)(?=[,\n])|(?<=\n)(?=,)/g, (value) => `"${value.replaceAll('"', '""')}"`);

describe('a schedule file', () => {
  it('a trip has what its file says about wheelchairs and bicycles, unknown without the columns', async () => {
    const header = 'route_id,service_id,trip_id';
    const accessOf = async (trips: string) => unpackAccess((await read({ 'trips.txt': trips })).trips[0]?.access ?? -1);
    const row = 'APS_1a,WEEK,T1';
    expect(await accessOf(`${header},bikes_allowed,wheelchair_accessible\n${row},1,2\n`)).toEqual({
      wheelchairs: false,
      bikes: true,
    });
    expect(await accessOf(`${header}\n${row}\n`)).toEqual(UNKNOWN_ACCESS);
  });

  it('a schedule file is imported completely: stops, routes, services, trips, calls and a report', async () => {
    const file = await read();
    expect(file.stops.map(({ id }) => id)).toEqual(['200060', '2000323', '213510', '2135238', '2141313']);
    expect(file.stops[1]).toEqual({
      id: '2000323',
      name: 'Central Station Platform 3',
      lat: -33.8827,
      lng: 151.206,
      parentId: '200060',
      isStation: false,
      platformCode: null,
      wheelchair: 0,
    });
    expect(file.routes[0]).toEqual({
      id: 'APS_1a',
      shortName: 'T8',
      lineName: 'T8 Airport & South Line',
      longName: 'City Circle to Macarthur via Airport',
      mode: 'train',
      agencyId: 'SydneyTrains',
      agencyName: 'Sydney Trains',
      network: 1,
    });
    expect(file.trips).toEqual([
      {
        id: 'T1',
        route: 0,
        service: 0,
        headsign: 'Macarthur',
        blockId: 'B7',
        direction: 1,
        access: 0,
        shape: -1,
        shift: 0,
        headway: 0,
        calls: 0,
        callCount: 2,
      },
    ]);
    expect(callsOf(file, 'T1')).toEqual([
      { stop: '2000323', arrival: 28_800, departure: 28_860, flags: 3, headsign: null },
      { stop: '2135238', arrival: 29_100, departure: 29_130, flags: 3, headsign: null },
    ]);
    expect(file.report).toEqual({
      file: 'sydneytrains',
      trips: 1,
      stopTimes: 2,
      busiestDay: 1,
      firstDay: '20261123',
      lastDay: '20261204',
      leftOut: {},
    });
  });

  it.each(PROTOTYPE_NAMES)('a schedule file may use %s for every name and identifier', async (name) => {
    const file = await read({
      'agency.txt': `agency_id,agency_name\n${name},${name}\n`,
      'stops.txt': `stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n${name},${name},-33.8,151.2,1,\n1,${name},-33.8,151.2,0,${name}\n`,
      'routes.txt': `route_id,agency_id,route_short_name,route_long_name,route_desc,route_type\n${name},${name},${name},${name},${name},2\n`,
      'calendar.txt': CALENDAR.replace('WEEK', name),
      'trips.txt': `${TRIPS_HEADER}${name},${name},${name},${name},1,${name},${name},0,\n`,
      'stop_times.txt': `${TIMES_HEADER}${name},08:00:00,08:00:00,${name},1,${name},0,0,\n${name},08:05:00,08:05:00,1,2,,0,0,\n`,
      'shapes.txt': `shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n${name},-33.8,151.2,1\n${name},-33.9,151.2,2\n`,
    });
    expect(file.report).toMatchObject({ trips: 1, stopTimes: 2, leftOut: {} });
    expect(file.routes[0]).toMatchObject({ shortName: name, lineName: name, network: 3 });
    const timetable = new Timetable(buildTimetable([file], { importedAt: 1 }));
    expect(timetable.stop(timetable.findStop(name) as number)).toMatchObject({ id: name, name });
    expect(timetable.trip(timetable.listTripsBetween(name)[0] as number)).toMatchObject({
      route: name,
      headsign: name,
    });
    expect(timetable.findRoute(name, ['sydneytrains'])).toMatchObject({ lineName: name, network: 3 });
  });

  it('a schedule file is the same with quotes, byte order marks, CRLF, blank lines, other files, deflate and data descriptors', async () => {
    const dressed = Object.fromEntries(
      Object.entries(FILES).map(([name, text]) => [name, `\uFEFF${quoted(text).replaceAll('\n', '\r\n\r\n')}\r\n\r\n`]),
    );
    const zip = gtfsZip(
      { ...dressed, 'notes.txt': 'note_id\n', 'seats.txt': '' },
      { method: 'deflate', hasDescriptors: true },
    );
    expect(withCalls(await readZip(zip))).toEqual(withCalls(await read()));
  });

  it('a schedule file is read by column names, in any order', async () => {
    const turned = Object.fromEntries(
      Object.entries(FILES).map(([name, text]) => [
        name,
        text
          .trimEnd()
          .split('\n')
          .map((line) => line.split(',').reverse().join(','))
          .join('\n'),
      ]),
    );
    expect(withCalls(await readZip(gtfsZip(turned)))).toEqual(withCalls(await read()));
  });

  it('a schedule file needs no optional column or file', async () => {
    const file = await read({
      'agency.txt': undefined,
      'routes.txt': 'route_id,route_type\nAPS_1a,2\n',
      'trips.txt': 'route_id,service_id,trip_id\nAPS_1a,WEEK,T1\n',
      'stop_times.txt': `trip_id,arrival_time,departure_time,stop_id,stop_sequence\nT1,08:00:00,08:01:00,2000323,1\nT1,08:05:00,08:05:30,2135238,2\n`,
    });
    expect(file.trips[0]).toMatchObject({ headsign: 'Redfern Station', blockId: null });
    expect(file.routes[0]).toMatchObject({ agencyName: '' });
  });

  it('values of a schedule file may contain commas, quotes and line breaks', async () => {
    const file = await read({
      'trips.txt': `${TRIPS_HEADER}APS_1a,WEEK,T1,"Macarthur, ""all stations""\nvia Airport",1,,,,\n`,
    });
    expect(file.trips[0]?.headsign).toBe('Macarthur, "all stations"\nvia Airport');
  });
});

describe('calls of a schedule file', () => {
  const times = (...rows: string[]) => ({ 'stop_times.txt': TIMES_HEADER + rows.map((row) => `${row}\n`).join('') });

  it('call times run past midnight up to 48 hours, and may have a one-digit hour', async () => {
    const file = await read(times('T1,7:05:00,7:05:00,2000323,1,,,,', 'T1,34:30:00,34:30:00,2135238,2,,,,'));
    expect(callsOf(file, 'T1').map(({ arrival }) => arrival)).toEqual([25_500, 124_200]);
  });

  it('calls are sorted by sequence, however the rows of trips are mixed', async () => {
    const file = await read({
      'trips.txt': `${TRIPS}APS_1a,WEEK,T2,Macarthur,1,,,,\n`,
      ...times(
        'T2,09:30:00,09:30:00,2141313,30,,0,0,',
        'T1,08:05:00,08:05:00,2135238,2,,0,0,',
        'T2,09:00:00,09:00:00,2000323,10,,0,0,',
        'T1,08:00:00,08:00:00,2000323,1,,0,0,',
        'T2,09:05:00,09:05:00,2135238,20,,0,0,',
      ),
    });
    expect(callsOf(file, 'T1').map(({ stop }) => stop)).toEqual(['2000323', '2135238']);
    expect(callsOf(file, 'T2').map(({ stop }) => stop)).toEqual(['2000323', '2135238', '2141313']);
  });

  it('the calls of every trip are its rows by sequence, whichever rows and times trips share and however rows are mixed', async () => {
    const stops = ['2000323', '2135238', '2141313'];
    const rows = fc.array(
      fc.record({
        trip: fc.constantFrom('T1', 'T2', 'T3', 'T4'),
        stop: fc.constantFrom(...stops),
        // More than one row may have the same.
        sequence: fc.integer({ min: 1, max: 6 }),
        minute: fc.constantFrom(0, 0, 30),
        isPassed: fc.constantFrom(false, false, true),
      }),
      { maxLength: 30 },
    );
    const timeOf = (hour: number, minute: number) => `${hour}:${String(minute).padStart(2, '0')}:00`;
    await fc.assert(
      fc.asyncProperty(rows, async (mixed) => {
        const written = [
          ...mixed.map((row) => ({ ...row, hour: 6 + row.sequence })),
          // A file without any trip is refused.
          ...[1, 2].map((sequence) => ({ ...CALL_OF_T5, sequence, hour: 6 + sequence })),
        ];
        const file = await read({
          'trips.txt': TRIPS + ['T2', 'T3', 'T4', 'T5'].map((id) => `APS_1a,WEEK,${id},Macarthur,1,,,,\n`).join(''),
          ...times(
            ...written.map(({ trip, hour, minute, stop, sequence, isPassed }) => {
              const time = timeOf(hour, minute);
              return `${trip},${time},${time},${stop},${sequence},,${isPassed ? '1,1' : '0,0'},`;
            }),
          ),
        });
        for (const id of ['T1', 'T2', 'T3', 'T4', 'T5']) {
          const own = written.filter(({ trip }) => trip === id).sort((a, b) => a.sequence - b.sequence);
          const calls = own
            .filter(({ sequence }, at) => sequence !== own[at - 1]?.sequence)
            .filter(({ isPassed }) => !isPassed)
            .map(({ stop, hour, minute }) => [stop, hour * 3600 + minute * 60]);
          const isListed = file.trips.some((trip) => trip.id === id);
          expect(isListed).toBe(calls.length > 1);
          if (isListed) expect(callsOf(file, id).map(({ stop, arrival }) => [stop, arrival])).toEqual(calls);
        }
      }),
      { seed: 20261129, numRuns: 60 },
    );
  });

  it('a call where a train only passes is left out, and restrictions to board, alight or book are kept', async () => {
    const file = await read(
      times(
        'T1,08:00:00,08:00:00,2000323,1,,0,1,',
        'T1,08:02:00,08:02:00,2135238,2,,1,1,',
        'T1,08:04:00,08:04:00,2135238,3,,2,0,',
        'T1,08:05:00,08:05:00,2135238,4,,1,3,',
        'T1,08:09:00,08:09:00,2141313,5,,1,0,',
      ),
    );
    expect(callsOf(file, 'T1').map(({ arrival = 0, flags }) => [arrival - 28_800, flags])).toEqual([
      [0, 1],
      [240, 7],
      [300, 10],
      [540, 2],
    ]);
    expect(file.report.leftOut).toEqual({ 'passing point': 1 });
  });

  it('a call keeps its own headsign', async () => {
    const file = await read(
      times('T1,08:00:00,08:00:00,2000323,1,Redfern then Macarthur,0,0,', 'T1,08:05:00,08:05:00,2135238,2,,0,0,'),
    );
    expect(callsOf(file, 'T1').map(({ headsign }) => headsign)).toEqual(['Redfern then Macarthur', null]);
  });

  it('a trip on a loop calls twice at a stop', async () => {
    const file = await read(
      times(
        'T1,08:00:00,08:00:00,2000323,1,,0,0,',
        'T1,08:05:00,08:05:00,2135238,2,,0,0,',
        'T1,08:09:00,08:09:00,2000323,3,,0,0,',
      ),
    );
    expect(callsOf(file, 'T1').map(({ stop }) => stop)).toEqual(['2000323', '2135238', '2000323']);
  });

  it('an unreadable call is left out, and all others are kept', async () => {
    const file = await read(
      times(
        'T1,08:00:00,,2000323,1,,0,0,',
        'T1,08:01:00,08:01:00,999999,2,,0,0,',
        'T1,,soon,2135238,3,,0,0,',
        'T1,08:61:00,48:00:01,2135238,4,,0,0,',
        'T1,08:03:00,08:03:00,2135238,,,0,0,',
        'T1,08:04:00,08:04:00,2135238,70000,,0,0,',
        'T9,08:04:00,08:04:00,2135238,1,,0,0,',
        'T1,,08:05:00,2135238,6,,0,0,',
        'T1,,08:05:00,2135238,6,,0,0,',
      ),
    );
    expect(callsOf(file, 'T1').map(({ arrival, departure }) => [arrival, departure])).toEqual([
      [28_800, 28_800],
      [29_100, 29_100],
    ]);
    expect(file.report.leftOut).toEqual({
      'call at an unknown stop': 1,
      'call with an unreadable time': 2,
      'call without sequence': 2,
      'call of an unknown trip': 1,
      'repeated call': 1,
    });
  });
});

describe('blank times of a schedule file', () => {
  const stops = Array.from({ length: 6 }, (_, at) => `S${at},Stop ${at},-33.8,${151 + at / 100}\n`).join('');
  const readTimes = (...rows: string[]) =>
    read({
      'stops.txt': `stop_id,stop_name,stop_lat,stop_lon\n${stops}`,
      'stop_times.txt': TIMES_HEADER + rows.map((row) => `${row}\n`).join(''),
    });
  const minutesOf = (file: ScheduleFile) => callsOf(file, 'T1').map(({ arrival = 0 }) => (arrival - 28_800) / 60);

  it('a call without times between two timepoints gets its time from the distances along the shape', async () => {
    const file = await readTimes(
      'T1,08:00:00,08:00:00,S0,1,,,,0',
      'T1,,,S1,2,,,,100',
      'T1,,,S2,3,,,,900',
      'T1,08:10:00,08:12:00,S3,4,,,,1000',
      'T1,,,S4,5,,,,1500',
      'T1,08:22:00,08:22:00,S5,6,,,,2000',
    );
    expect(minutesOf(file)).toEqual([0, 1, 9, 10, 17, 22]);
    expect(file.report.leftOut).toEqual({});
  });

  it('a call without times gets its share of the time evenly if a distance is missing or goes back', async () => {
    const evenly = await readTimes(
      'T1,08:00:00,08:00:00,S0,1,,,,0',
      'T1,,,S1,2,,,,',
      'T1,,,S2,3,,,,900',
      'T1,08:12:00,08:12:00,S3,4,,,,1000',
      'T1,,,S4,5,,,,900',
      'T1,08:22:00,08:22:00,S5,6,,,,2000',
    );
    expect(minutesOf(evenly)).toEqual([0, 4, 8, 12, 17, 22]);
  });

  it('passing points count on the way between two timepoints', async () => {
    const file = await readTimes(
      'T1,08:00:00,08:00:00,S0,1,,,,',
      'T1,,,S1,2,,,,',
      'T1,08:04:00,08:04:00,S2,3,,1,1,',
      'T1,,,S3,4,,1,1,',
      'T1,,,S4,5,,,,',
      'T1,08:22:00,08:22:00,S5,6,,,,',
    );
    expect(minutesOf(file)).toEqual([0, 2, 16, 22]);
    expect(file.report.leftOut).toEqual({ 'passing point': 2 });
  });

  it('calls without times before the first or after the last timepoint are left out and counted', async () => {
    const file = await readTimes(
      'T1,,,S0,1,,,,',
      'T1,08:00:00,08:00:00,S1,2,,,,',
      'T1,08:05:00,08:05:00,S2,3,,,,',
      'T1,,,S3,4,,,,',
    );
    expect(minutesOf(file)).toEqual([0, 5]);
    expect(file.report.leftOut).toEqual({ 'call without time': 2 });
  });

  it('a file in which no trip can be used is refused with what was left out', async () => {
    await expect(readTimes('T1,,,S0,1,,,,', 'T1,,,S1,2,,,,', 'T9,08:00:00,08:00:00,S1,2,,,,')).rejects.toThrow(
      new UnreadableFile(
        'no trip that can be used; left out: 2 calls without time, 1 call of an unknown trip, 1 trip with fewer than two calls',
      ),
    );
  });
});

describe('usual loads of a schedule file', () => {
  const HEADER =
    'trip_id,stop_sequence,occupancy_status,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date,exception\n';
  /** The loads of the first call of T1 from Monday to Sunday. T1 runs on the weekdays of 23 November to 4 December. */
  const loadsOf = ({ calls, trips: [trip] }: ScheduleFile) => calls.get(trip as ScheduleTrip).load;
  const weekOf = (file: ScheduleFile) =>
    Array.from({ length: 7 }, (_, weekday) => ((loadsOf(file)[0] as number) >> (2 * weekday)) & 3);
  const readLoads = (...rows: string[]) => read({ 'occupancies.txt': HEADER + rows.map((row) => `${row}\n`).join('') });

  it('a call has the usual load of each weekday on which its trip runs', async () => {
    const file = await readLoads(
      'T1,1,1,1,1,0,0,0,0,0,20261101,20261231,0',
      'T1,1,2,0,0,1,0,0,0,0,20261101,20261231,',
      'T1,1,4,0,0,0,1,0,0,0,20261101,20261231,0',
      'T1,1,7,0,0,0,0,1,0,0,20261101,20261231,0',
      'T1,1,2,0,0,0,0,0,1,1,20261101,20261231,0',
      'T1,9,3,1,1,1,1,1,1,1,20261101,20261231,0',
    );
    expect(weekOf(file)).toEqual([1, 1, 2, 3, 0, 0, 0]);
    expect(loadsOf(file)[1]).toBe(0);
    expect(file.report.leftOut).toEqual({});
  });

  it('a load counts on its dates only, and a weekday whose dates differ has none', async () => {
    const file = await readLoads(
      'T1,1,1,1,1,0,0,0,0,0,20261123,20261129,0',
      'T1,1,3,1,0,0,0,0,0,0,20261130,20261206,0',
      'T1,1,2,0,0,1,0,0,0,0,20260101,20261122,0',
    );
    expect(weekOf(file)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it('an exception counts before the usual load, and two loads for one day are none', async () => {
    const file = await readLoads(
      'T1,1,1,1,1,1,1,1,0,0,20261123,20261206,0',
      'T1,1,3,1,0,0,0,0,0,0,20261123,20261206,1',
      'T1,1,2,0,1,0,0,0,0,0,20261123,20261206,0',
    );
    expect(weekOf(file)).toEqual([3, 0, 1, 1, 1, 0, 0]);
  });

  it('loads that cannot be read are left out, and the rest of the file is kept', async () => {
    const broken = await read({ 'occupancies.txt': 'trip_id,stop_sequence\nT1,1\n' });
    expect(broken.report).toMatchObject({ trips: 1, leftOut: { 'occupancies that cannot be read': 1 } });
    const file = await readLoads(
      'T9,1,1,1,1,1,1,1,0,0,20261101,20261231,0',
      'T1,1,1,1,1,1,1,1,0,0,2026,20261231,0',
      'T1,,1,1,1,1,1,1,0,0,20261101,20261231,0',
    );
    expect(weekOf(file)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect(file.report.leftOut).toEqual({ 'occupancy of an unknown trip': 1, 'occupancy without valid dates': 2 });
  });
});

describe('frequencies of a schedule file', () => {
  const HEADER = 'trip_id,start_time,end_time,headway_secs,exact_times\n';
  const startsOf = ({ trips, calls }: ScheduleFile) =>
    trips.map((trip) => ((calls.get(trip).departure[0] as number) + trip.shift) / 60);

  it('a trip with exact frequencies becomes a run at each of its times, before the end of the range', async () => {
    const file = await read({
      'frequencies.txt': `${HEADER}T1,06:00:00,06:30:00,600,1\nT1,06:30,07:31,1800,1\n`,
    });
    expect(startsOf(file)).toEqual([360, 370, 380, 390, 420, 450]);
    expect(file.trips.every(({ id, headway, blockId }) => id === 'T1' && headway === 0 && blockId === null)).toBe(true);
    expect(file.report).toMatchObject({ trips: 6, stopTimes: 12, leftOut: {} });
  });

  it.each(['0', ''])('runs of a frequency with exact_times "%s" have a headway and no fixed times', async (exact) => {
    const file = await read({ 'frequencies.txt': `${HEADER}T1,06:00:00,06:15:00,300,${exact}\n` });
    expect(startsOf(file)).toEqual([360, 365, 370]);
    expect(file.trips.map(({ headway }) => headway)).toEqual([300, 300, 300]);
  });

  it('a frequency counts from the first row of a trip, also where nobody can board', async () => {
    const file = await read({
      'frequencies.txt': `${HEADER}T1,06:00:00,06:15:00,600,1\n`,
      'stop_times.txt': `${TIMES_HEADER}T1,00:00:00,00:00:00,200060,1,,1,1,
T1,00:03:00,00:03:00,2000323,2,,0,0,
T1,00:09:00,00:09:00,2135238,3,,0,0,
`,
    });
    expect(startsOf(file)).toEqual([363, 373]);
  });

  it('a trip whose frequencies cannot be read is left out, because its own times are not those of a run', async () => {
    const file = await read({
      'trips.txt': `${TRIPS}APS_1a,WEEK,T2,Macarthur,1,,,,\nAPS_1a,WEEK,T3,Macarthur,1,,,,\n`,
      'stop_times.txt':
        TIMES + ['T2', 'T3'].map((id) => TIMES.slice(TIMES_HEADER.length).replaceAll('T1', id)).join(''),
      'frequencies.txt': `${HEADER}T2,07:00:00,06:00:00,600,1\nT3,06:00:00,07:00:00,0,\nT9,06:00:00,07:00:00,60,\n`,
    });
    expect(file.trips.map(({ id }) => id)).toEqual(['T1']);
    expect(file.report.leftOut).toEqual({
      'frequency of an unknown trip': 1,
      'frequency without valid times': 2,
      'trip of an unreadable frequency': 2,
    });
  });

  it('a file with more runs than a file may have trips is refused', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => `T${at + 1},00:00:00,24:00:00,1,1\n`).join('');
    const trips = Array.from({ length: 12 }, (_, at) => `APS_1a,WEEK,T${at + 1},Macarthur,1,,,,\n`).join('');
    const times = Array.from({ length: 12 }, (_, at) =>
      TIMES.slice(TIMES_HEADER.length).replaceAll('T1', `T${at + 1}`),
    );
    await expect(
      read({
        'trips.txt': TRIPS_HEADER + trips,
        'stop_times.txt': TIMES_HEADER + times.join(''),
        'frequencies.txt': HEADER + rows,
      }),
    ).rejects.toThrow('frequencies.txt makes more than 1000000 runs');
  });
});

describe('trips of a schedule file', () => {
  it('a trip of more than a thousand calls is left out with the reason, and all others are kept', async () => {
    const row = (trip: string, sequence: number) => `${trip},08:00:00,08:00:00,2000323,${sequence},,0,0,\n`;
    const rows = (trip: string, calls: number) => Array.from({ length: calls }, (_, at) => row(trip, at)).join('');
    const { report, trips } = await read({
      'trips.txt': `${TRIPS}APS_1a,WEEK,T2,Macarthur,1,,,0,\n`,
      'stop_times.txt': `${TIMES_HEADER}${rows('T1', 1001)}${rows('T2', 1000)}`,
    });
    expect(trips.map(({ id, callCount }) => [id, callCount])).toEqual([['T2', 1000]]);
    expect(report.leftOut).toEqual({ 'trip with more than 1000 calls': 1 });
  });

  it('a trip with fewer than two calls, times that go backwards, or no route or day is left out, and all others are kept', async () => {
    const file = await read({
      'calendar.txt': `${CALENDAR}NEVER,0,0,0,0,0,0,0,20261123,20261206\n`,
      'trips.txt': `${TRIPS}APS_1a,WEEK,ONE,Macarthur,1,,,,
APS_1a,WEEK,BACK,Macarthur,1,,,,
NO_SUCH_ROUTE,WEEK,ASTRAY,Macarthur,1,,,,
APS_1a,NEVER,NEVER,Macarthur,1,,,,
APS_1a,OTHER,OTHER,Macarthur,1,,,,
APS_1a,WEEK,T1,Elsewhere,1,,,,
`,
      'stop_times.txt': `${TIMES}ONE,08:00:00,08:00:00,2000323,1,,0,0,
BACK,08:00:00,08:00:00,2000323,1,,0,0,
BACK,07:00:00,07:00:00,2135238,2,,0,0,
ASTRAY,08:00:00,08:00:00,2000323,1,,0,0,
`,
    });
    expect(file.trips.map(({ id, headsign }) => [id, headsign])).toEqual([['T1', 'Macarthur']]);
    expect(file.report.leftOut).toEqual({
      'service without days': 1,
      'trip of an unknown route': 1,
      'trip that never runs': 2,
      'repeated trip': 1,
      'trip with fewer than two calls': 1,
      'trip whose times go backwards': 1,
    });
  });

  it('an arrival a little after the departure from the same call is mended, and at the ends of a trip any such time', async () => {
    const row = (sequence: number, arrival: string, departure: string) =>
      `T1,${arrival},${departure},2000323,${sequence},,0,0,\n`;
    const ends = await read({
      'stop_times.txt': `${TIMES_HEADER}${row(1, '08:20:00', '08:00:00')}${row(2, '08:12:00', '08:10:00')}${row(3, '08:30:00', '08:00:00')}`,
    });
    expect(ends.report.leftOut).toEqual({});
    const calls = callsOf(ends, 'T1');
    expect(calls.map(({ arrival }) => arrival)).toEqual([8, 8 + 10 / 60, 8.5].map((hours) => Math.round(hours * 3600)));
    for (const { arrival, departure } of calls) expect(departure).toBe(arrival);
    const late = await read({
      'trips.txt': `${TRIPS}APS_1a,WEEK,T2,Macarthur,1,,,0,\n`,
      'stop_times.txt': `${TIMES_HEADER}${row(1, '08:00:00', '08:00:00')}${row(2, '08:16:00', '08:10:00')}${row(3, '08:30:00', '08:30:00')}${row(1, '08:00:00', '08:00:00').replace('T1', 'T2')}${row(2, '08:30:00', '08:30:00').replace('T1', 'T2')}`,
    });
    expect(late.trips.map(({ id }) => id)).toEqual(['T2']);
    expect(late.report.leftOut).toEqual({ 'trip whose times go backwards': 1 });
  });

  it('an empty train is left out unless a call with its own headsign allows boarding', async () => {
    const two = (id: string, headsign = '', pickup = 0) =>
      `${id},08:00:00,08:00:00,2000323,1,${headsign},${pickup},0,\n${id},08:05:00,08:05:00,2135238,2,${headsign},${pickup},0,\n`;
    const file = await read({
      'trips.txt': `${TRIPS}RTTA_REV,WEEK,DEPOT,Empty Train,0,,,,
RTTA_REV,WEEK,SIGNED,Empty Train,0,,,,
APS_1a,WEEK,EMPTY,Empty Train,0,,,,
APS_1a,WEEK,SHOWN,Empty Train,0,,,,
APS_1a,WEEK,CLOSED,Empty Train,0,,,,
`,
      'stop_times.txt': `${TIMES}${two('DEPOT')}${two('SIGNED', 'Central')}${two('EMPTY')}${two('SHOWN', 'Redfern')}${two('CLOSED', 'Redfern', 1)}`,
    });
    expect(file.trips.map(({ id, headsign }) => [id, headsign])).toEqual([
      ['T1', 'Macarthur'],
      ['SHOWN', 'Redfern'],
    ]);
    expect(file.report.leftOut).toEqual({ 'empty train': 4 });
    // The feed of trains adds empty trains on these routes.
    expect(file.routes.map(({ id }) => id)).toEqual(['APS_1a']);
  });
});

describe('services of a schedule file', () => {
  it('a service runs on the weekdays of its calendar, plus added days, minus removed ones', async () => {
    const file = await read({
      'calendar_dates.txt': 'service_id,date,exception_type\nWEEK,20261128,1\nWEEK,20261124,2\nWEEK,20261399,1\n',
    });
    expect(daysOf(file, 'T1')).toEqual([
      '20261123',
      '20261125',
      '20261126',
      '20261127',
      '20261128',
      '20261130',
      '20261201',
      '20261202',
      '20261203',
      '20261204',
    ]);
    expect(file.report.leftOut).toEqual({ 'calendar date that cannot be read': 1 });
  });

  it('the busiest day of a file counts the trips of one day, not those of all its timetables', async () => {
    const calendar = (id: string, from: string, until: string) => `${id},1,1,1,1,1,0,0,${from},${until}\n`;
    const { report } = await read({
      'calendar.txt':
        CALENDAR.split('\n')[0] +
        `\n${calendar('OLD', '20261123', '20261127')}${calendar('NEW', '20261130', '20261204')}`,
      'calendar_dates.txt': undefined,
      'trips.txt': `route_id,service_id,trip_id\n${['OLD,T1', 'OLD,T2', 'NEW,T3', 'NEW,T4', 'NEW,T5'].map((trip) => `APS_1a,${trip}\n`).join('')}`,
      'stop_times.txt': `trip_id,arrival_time,departure_time,stop_id,stop_sequence\n${['T1', 'T2', 'T3', 'T4', 'T5']
        .map((id) => `${id},08:00:00,08:00:00,2000323,1\n${id},08:05:00,08:05:00,2135238,2\n`)
        .join('')}`,
    });
    expect(report).toMatchObject({ trips: 5, busiestDay: 3, firstDay: '20261123', lastDay: '20261204' });
    expect(findImplausible(report, 4, toDayNumber('20261123') as number)).toBeNull();
    expect(findImplausible(report, 6, toDayNumber('20261123') as number)).toMatch(
      /^it has 3 trips on its busiest day, down from 6/,
    );
  });

  it('a service may have dates only, and either calendar file may have only a header', async () => {
    const dates = 'service_id,date,exception_type\nWEEK,20261126,1\n';
    const [header] = CALENDAR.split('\n');
    expect(daysOf(await read({ 'calendar.txt': undefined, 'calendar_dates.txt': dates }), 'T1')).toEqual(['20261126']);
    expect(daysOf(await read({ 'calendar.txt': header, 'calendar_dates.txt': dates }), 'T1')).toEqual(['20261126']);
    const plain = await read({ 'calendar_dates.txt': 'service_id,date,exception_type\n' });
    expect(daysOf(plain, 'T1')).toHaveLength(10);
  });

  it('equal services are merged, whatever the number of calendars', async () => {
    const rows = Array.from({ length: 3000 }, (_, n) => `S${n},1,1,1,1,1,0,0,20261123,20261206\n`).join('');
    const file = await read({
      'calendar.txt': CALENDAR + rows,
      'trips.txt': `${TRIPS}APS_1a,S2999,T2,Macarthur,1,,,,\n`,
      'stop_times.txt': TIMES + TIMES.slice(TIMES_HEADER.length).replaceAll('T1', 'T2'),
    });
    expect(file.services).toHaveLength(1);
    expect(file.services[0]?.firstDay).toBe(toDayNumber('20261123'));
    expect(daysOf(file, 'T2')).toEqual(daysOf(file, 'T1'));
  });
});

describe('stops of a schedule file', () => {
  it('entrances, nodes and boarding areas are left out, and so are stops without name or position', async () => {
    const file = await read({
      'stops.txt': `${STOPS}E1,Entrance,-33.8,151.2,2,200060,0
N1,Node,-33.8,151.2,3,200060,0
B1,Boarding area,-33.8,151.2,4,2000323,0
222710_TXI1,Taxi rank,-33.8,151.2,,200060,0
222710_KAR1,Car park,-33.8,151.2,,200060,0
222710_ENT6,Entrance,-33.8,151.2,,200060,0
X1,,-33.8,151.2,0,,0
X2,Null Island,0,0,0,,0
X3,Nowhere,,,0,,0
G50001,Adelaide,-34.92,138.60,0,,0
`,
    });
    expect(file.stops.map(({ id }) => id)).toEqual(['200060', '2000323', '213510', '2135238', '2141313', 'G50001']);
    expect(file.report.leftOut).toEqual({
      'entrance, node or boarding area': 6,
      'stop without id, name or position': 3,
    });
  });

  it('a ferry stop belongs to the stop that the trip planner has for it', async () => {
    const file = await read(
      {
        'stops.txt': `stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,wheelchair_boarding
20005,Circular Quay Wharf 4,-33.8607,151.2110,1,,1
2000223,"Circular Quay Wharf 4, Side A",-33.8606,151.2111,0,20005,0
2000225,"Circular Quay Wharf 4, Side B",-33.8606,151.2109,0,20005,0
20461,Abbotsford Wharf,-33.8455,151.1294,0,,1
`,
        'routes.txt': 'route_id,route_short_name,route_long_name,route_type\n9-F3-sj2-1,F3,Parramatta River,4\n',
        'trips.txt': 'route_id,service_id,trip_id\n9-F3-sj2-1,WEEK,T1\n',
        'stop_times.txt': `${TIMES_HEADER}T1,08:00:00,08:00:00,2000223,1,,0,0,\nT1,08:30:00,08:30:00,20461,2,,0,0,\n`,
      },
      'sydneyferries',
    );
    expect(file.stops.map(({ id, name, parentId, isStation }) => [id, name, parentId, isStation])).toEqual([
      ['2000223', 'Circular Quay Wharf 4, Side A', '200020', false],
      ['2000225', 'Circular Quay Wharf 4, Side B', '200020', false],
      ['20461', 'Abbotsford Wharf', '2046158', false],
      ['200020', 'Circular Quay', null, true],
      ['2046158', 'Abbotsford Wharf', null, true],
    ]);
    expect(file.stops[3]).toMatchObject({ lat: -33.8607, lng: 151.211, wheelchair: 1 });
    expect(file.trips[0]?.headsign).toBe('Abbotsford Wharf');
  });
});

describe('routes of a schedule file', () => {
  const routesOf = async (rows: string, id: FileId) => {
    const header = 'route_id,agency_id,route_short_name,route_long_name,route_desc,route_type,route_color\n';
    const [, first] = rows.split('\n');
    const [routeId] = (first ?? '').split(',');
    const file = await read(
      { 'routes.txt': header + rows.trim(), 'trips.txt': `route_id,service_id,trip_id\n${routeId},WEEK,T1\n` },
      id,
    );
    return {
      file,
      routes: file.routes.map(({ shortName, lineName, mode, network }) => [shortName, lineName, mode, network]),
    };
  };

  it('a train route has the line name and the network of the trip planner', async () => {
    const { routes } = await routesOf(
      `
WST_1a,SydneyTrains,T1,City to Emu Plains,T1 Western Line,2,
ESI_1a,SydneyTrains,T4,Bondi Junction to Waterfall,T4 Eastern Suburbs & Illawarra Line,2,005AA3
CCN_1a,NSWTrains,CCN,Central to Newcastle Interchange,Central Coast & Newcastle Line,2,
CTY_W1a,NSWTrains,WST,Sydney (Central) to Dubbo,NSW TrainLink Western Train Services,2,
`,
      'sydneytrains',
    );
    expect(routes).toEqual([
      ['T1', 'T1 North Shore & Western Line', 'train', 1],
      ['T4', 'T4 Eastern Suburbs & Illawarra Line', 'train', 1],
      ['CCN', 'Central Coast & Newcastle Line', 'train', 2],
      ['WST', 'NSW TrainLink Western Train Services', 'train', 3],
    ]);
  });

  it('a route of the bundle is named after its line, where other files have the network as description', async () => {
    const { routes } = await routesOf(
      `
2-T8-sj2-1,x0001,T8,T8 Airport and South Line,Sydney Trains Network,2,00954C
76-623-sj2-1,711,623,623,Regional Trains and Coaches Network,106,E56E0F
3-M1-sj2-1,SMNW,M1,M1 Metro North West and Bankstown Line,Sydney Metro Network,401,168388
78-LX-sj2-1,SLR,LX,LX Special Event Services,Sydney Light Rail Network,900,EE343F
4-BUN-C-sj2-1,300,BUNC,BUNC Bundeena Ferry,Private ferry and fast ferry services,4,5AB031
`,
      'complete',
    );
    expect(routes).toEqual([
      ['T8', 'T8 Airport and South Line', 'train', 1],
      ['623', 'Regional Trains and Coaches Network 623', 'train', null],
      ['M1', 'M1 Metro North West & Bankstown Line', 'metro', 24],
      ['LX', 'LX Special Event Services', 'lightrail', 13],
      ['BUNC', 'BUNC Bundeena Ferry', 'ferry', 12],
    ]);
  });

  it('a route of another mode is recognised by its extended type too', async () => {
    const { routes } = await routesOf(
      `
2504_702,2504,702,Blacktown to Seven Hills,Sydney Buses Network,700,
3000_702,3000,702,Birmingham Gardens to Shortland Primary,School Buses,712,
7060_43T1,7060,43T1,Berowra then Hornsby,Temporary buses,714,
STKN,2,STKN,Newcastle to Stockton,Newcastle Ferries,4,
`,
      'buses',
    );
    expect(routes).toEqual([
      ['702', 'Sydney Buses Network 702', 'bus', 5],
      ['702', 'School Buses 702', 'schoolbus', 8],
      ['43T1', 'Temporary buses 43T1', 'bus', 14],
      ['STKN', 'STKN Newcastle to Stockton', 'ferry', null],
    ]);
    const trainLink = await routesOf(
      '\n4T.T.SHL.1,N,SHL,Central to Goulburn,,106,\n4T.T.W.1,N,621,Central to Dubbo,,100,\n4T.C.152.1,N,152,Lithgow to Orange,,204,\n4T.C.9,N,9,A to B,,205,\n',
      'nswtrains',
    );
    expect(trainLink.routes.map(([name, , mode, network]) => [name, mode, network])).toEqual([
      ['SHL', 'train', 2],
      ['621', 'train', 3],
      ['152', 'coach', 7],
      ['9', 'coach', 7],
    ]);
    expect((await routesOf('\nSMNW_M1,S,M1,Tallawong to Sydenham,,401,\n', 'metro')).routes).toEqual([
      ['M1', 'M1 Metro North West & Bankstown Line', 'metro', 24],
    ]);
  });

  it('routes of other modes in a light rail file are left out', async () => {
    const { file, routes } = await routesOf(
      '\nIWLR-191,I,L1,Dulwich Hill Line,,900,\nAPS_1a,S,T8,City,T8,2,\n',
      'innerwest',
    );
    expect(routes).toEqual([['L1', 'L1 Dulwich Hill Line', 'lightrail', 13]]);
    expect(file.report.leftOut).toEqual({ 'route of another mode than the file': 1 });
    expect((await routesOf('\nNT_NLR,N,NLR,Newcastle Light Rail,,0,\n', 'newcastle')).routes).toEqual([
      ['NLR', 'NLR Newcastle Light Rail', 'lightrail', 21],
    ]);
  });
});

describe('an unusable schedule file', () => {
  const refused = (zip: Buffer) =>
    readZip(zip).then(
      () => 'read',
      (error: unknown) => (error instanceof UnreadableFile ? error.message : error),
    );

  it.each<[what: string, zip: Buffer, message: RegExp]>([
    ['HTML', Buffer.from('<html>Sign in</html>'), /^not a zip: /],
    ['nothing', Buffer.alloc(0), /^not a zip: /],
    ['a zip that is cut off', gtfsZip(FILES).subarray(0, 1500), /^not a zip: /],
    ['a zip without stop times', gtfsZip(filesWith({ 'stop_times.txt': undefined })), /^no stop_times.txt$/],
    ['a zip without calendars', gtfsZip(filesWith({ 'calendar.txt': undefined })), /^neither calendar/],
    [
      'a table without an essential column',
      gtfsZip(filesWith({ 'stop_times.txt': TIMES.replace('departure_time', 'leaves') })),
      /^stop_times.txt has no column departure_time$/,
    ],
    [
      'a table without a header',
      gtfsZip(filesWith({ 'trips.txt': '' })),
      /^no trip that can be used; left out: 2 calls of an unknown trip$/,
    ],
    [
      'a row of a megabyte, as an unclosed quote makes it',
      gtfsZip(filesWith({ 'stops.txt': `${STOPS}"1,${'x'.repeat(1e6)}` }), { method: 'deflate' }),
      /^stops.txt has a row of more than 64000 bytes$/,
    ],
    [
      'a table of blank lines',
      gtfsZip(filesWith({ 'stops.txt': `${STOPS}${'\n'.repeat(20_000_000)}` }), { method: 'deflate' }),
      /^stops.txt has about \d+ rows, more than the allowed 500000$/,
    ],
    [
      'a table of long rows with too many short ones after them',
      gtfsZip(
        filesWith({ 'routes.txt': `${ROUTES}${`R${'x'.repeat(90)},,,,,3\n`.repeat(100_000)}${'\n'.repeat(10)}` }),
        { method: 'deflate' },
      ),
      /^routes.txt has more than the allowed 100000 rows$/,
    ],
    [
      'more routes than a country has',
      gtfsZip(filesWith({ 'routes.txt': `${ROUTES}${'R,,,,,3\n'.repeat(1_000_000)}` }), { method: 'deflate' }),
      /^routes.txt has about \d+ rows, more than the allowed 100000$/,
    ],
    [
      'a file that says it unpacks to gigabytes',
      gtfsZip(FILES, { method: 'deflate', declaredSizes: { 'stop_times.txt': 4.2e9 } }),
      /^stop_times.txt would unpack to 4200000000 bytes/,
    ],
    [
      'a file that unpacks to more than it says',
      gtfsZip(FILES, { method: 'deflate', declaredSizes: { 'stop_times.txt': 50 } }),
      /^stop_times.txt has a different size than the zip states$/,
    ],
    [
      'a file that unpacks to less than it says',
      gtfsZip(FILES, { method: 'deflate', declaredSizes: { 'stop_times.txt': 5000 } }),
      /^stop_times.txt has a different size than the zip states$/,
    ],
  ])('an unusable schedule file is refused with the reason: %s', async (_what, zip, message) => {
    expect(await refused(zip)).toMatch(message);
  });

  it('a schedule file in which a part of another version has the same length is refused', async () => {
    const zip = gtfsZip(FILES);
    const at = zip.indexOf('stop_times.txt') + 'stop_times.txt'.length + TIMES_HEADER.length;
    zip.write('Z', at, 'latin1');
    expect(await refused(zip)).toBe('stop_times.txt has a different checksum than the zip states');
  });

  it('a schedule file with corrupt bytes is refused', async () => {
    const zip = gtfsZip({ ...FILES, 'stop_times.txt': TIMES_HEADER + 'x'.repeat(5000) }, { method: 'deflate' });
    zip.fill(0xff, zip.indexOf('stop_times.txt') + 14, zip.indexOf('stop_times.txt') + 24);
    expect(await refused(zip)).toMatch(/^stop_times.txt is broken: /);
  });
});
