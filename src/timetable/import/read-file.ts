import type { FileId } from '../schedule-files.ts';
import { toDate } from '../service-day.ts';
import { splitStopName } from '../stop-names.ts';
import { readServices } from './calendar.ts';
import { readCalls, UNTIMED } from './calls.ts';
import { readFrequencies, toRuns } from './frequencies.ts';
import { LeftOut } from './left-out.ts';
import { readLoads } from './occupancies.ts';
import { findRiderHeadsign } from './passenger-trips.ts';
import { readRoutes } from './routes.ts';
import {
  type FileReport,
  refuseFile,
  type ScheduleCalls,
  type ScheduleFile,
  type ScheduleService,
  type ScheduleStop,
  type ScheduleTrip,
  UnreadableFile,
} from './schedule-file.ts';
import { readShapes } from './shapes.ts';
import { readStops } from './stops.ts';
import { readTrips } from './trips.ts';
import { ScheduleZip } from './zip.ts';

export * from './schedule-file.ts';

/** As many as trips.txt may have. */
const MAX_RUNS = 1_000_000;

/** Reads one zip. Unreadable rows are skipped. Throws `UnreadableFile` if the file as a whole is unusable. */
export async function readScheduleFile(zipPath: string, id: FileId): Promise<ScheduleFile> {
  const zip = await ScheduleZip.open(zipPath);
  try {
    for (const name of ['stops.txt', 'routes.txt', 'trips.txt', 'stop_times.txt'] as const) {
      if (!zip.has(name)) throw new UnreadableFile(`no ${name}`);
    }
    const leftOut = new LeftOut();
    const stopsById = await readStops(zip, leftOut);
    const routes = await readRoutes(zip, id, leftOut);
    const services = await readServices(zip, leftOut);
    const shapes = await readShapes(zip, leftOut);
    const read = await readTrips(zip, { routes, services, shapes }, leftOut);
    const stops = [...stopsById.values()];
    const stopIndexes = new Map(stops.map((stop, index) => [stop.id, index]));
    const indexes = { stops: stopIndexes, trips: read.indexes, tripCount: read.trips.length };
    const { ranges, calls, headsigns } = await readCalls(zip, indexes, leftOut);
    const load = await readLoads(zip, calls, { ...read, services: services.services, ranges }, leftOut);
    const called = { calls: { ...calls, load }, headsigns };
    const frequencies = await readFrequencies(zip, read.indexes, leftOut);

    const trips: ScheduleTrip[] = [];
    for (const [index, trip] of read.trips.entries()) {
      const range = ranges[index];
      if (!range) continue;
      const headsign = findRiderHeadsign(trip.headsign, range, called);
      if (headsign === null) leftOut.add('empty train');
      else if (range.callCount < 2) leftOut.add('trip with fewer than two calls');
      else if (!orderTimes(called.calls, range)) leftOut.add('trip whose times go backwards');
      else {
        const { startsAt, ...ofCalls } = range;
        // In place, because a copy of each trip would take a third of the memory.
        const own = Object.assign(trip, ofCalls, { headsign: headsign || nameOfLastStop(called.calls, range, stops) });
        const ofTrip = frequencies.get(index);
        if (!ofTrip) trips.push(own);
        else if (startsAt === UNTIMED || ofTrip.length === 0) leftOut.add('trip of an unreadable frequency');
        else {
          const endsAt = called.calls.departure[range.firstCall + range.callCount - 1] as number;
          for (const run of toRuns(own, { frequencies: ofTrip, startsAt, endsAt }, leftOut)) trips.push(run);
        }
        if (trips.length > MAX_RUNS) throw new UnreadableFile(`frequencies.txt makes more than ${MAX_RUNS} runs`);
      }
    }
    if (trips.length === 0) throw refuseFile('no trip that can be used', leftOut.toJSON());
    const report = {
      file: id,
      trips: trips.length,
      stopTimes: trips.reduce((sum, { callCount }) => sum + callCount, 0),
      ...daysOf(trips, services.services),
      leftOut: leftOut.toJSON(),
    };
    return { id, report, stops, routes: routes.routes, services: services.services, trips, ...called, shapes };
  } finally {
    zip.close();
  }
}

type Range = Pick<ScheduleTrip, 'firstCall' | 'callCount'>;

/** A call may arrive this long after it departs; it then arrives when it departs. */
const MAX_LATE_ARRIVAL_SECONDS = 5 * 60;

/**
 * Mends arrivals after the departure from the same call. Returns false if times go backwards otherwise. The arrival at the first
 * call and the departure from the last one mean nothing.
 */
function orderTimes({ arrival, departure }: ScheduleCalls, { firstCall, callCount }: Range): boolean {
  const lastCall = firstCall + callCount - 1;
  if ((departure[firstCall] as number) < (arrival[firstCall] as number)) {
    arrival[firstCall] = departure[firstCall] as number;
  }
  if ((departure[lastCall] as number) < (arrival[lastCall] as number)) {
    departure[lastCall] = arrival[lastCall] as number;
  }
  let last = 0;
  for (let call = firstCall; call <= lastCall; call++) {
    const late = (arrival[call] as number) - (departure[call] as number);
    if (late > 0 && late <= MAX_LATE_ARRIVAL_SECONDS) arrival[call] = departure[call] as number;
    if ((arrival[call] as number) < last || (departure[call] as number) < (arrival[call] as number)) return false;
    last = departure[call] as number;
  }
  return true;
}

function nameOfLastStop(calls: ScheduleCalls, { firstCall, callCount }: Range, stops: readonly ScheduleStop[]): string {
  const stop = stops[calls.stop[firstCall + callCount - 1] as number];
  return stop ? splitStopName(stop, null).name : '';
}

function daysOf(
  trips: readonly ScheduleTrip[],
  services: readonly ScheduleService[],
): Pick<FileReport, 'firstDay' | 'lastDay' | 'busiestDay'> {
  const tripsOf = new Uint32Array(services.length);
  for (const { service } of trips) tripsOf[service] = (tripsOf[service] as number) + 1;
  const tripsByDay = new Map<number, number>();
  for (const [index, { firstDay, days }] of services.entries()) {
    const count = tripsOf[index] as number;
    if (count === 0) continue;
    for (const [at, bits] of days.entries()) {
      for (let bit = 0; bits >> bit > 0; bit++) {
        const day = firstDay + at * 8 + bit;
        if (((bits >> bit) & 1) === 1) tripsByDay.set(day, (tripsByDay.get(day) ?? 0) + count);
      }
    }
  }
  let [first, last, busiestDay] = [Infinity, -Infinity, 0];
  for (const [day, count] of tripsByDay) {
    first = Math.min(first, day);
    last = Math.max(last, day);
    busiestDay = Math.max(busiestDay, count);
  }
  return { firstDay: toDate(first), lastDay: toDate(last), busiestDay };
}
