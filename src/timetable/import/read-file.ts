import { Uint32Column } from '../../core/columns.ts';
import type { FileId } from '../schedule-files.ts';
import { toDate } from '../service-day.ts';
import { splitStopName } from '../stop-names.ts';
import { loadServices } from './calendar.ts';
import { loadCalls, UNTIMED } from './calls.ts';
import { loadFrequencies, toRuns } from './frequencies.ts';
import { LeftOutCounter } from './left-out.ts';
import { loadLoads } from './occupancies.ts';
import { toRiderHeadsign } from './passenger-trips.ts';
import { loadRoutes } from './routes.ts';
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
import { loadShapes } from './shapes.ts';
import { loadStops } from './stops.ts';
import { loadTrips } from './trips.ts';
import { ScheduleZip } from './zip.ts';

/** The limit of trips, counting each run of a frequency. It is that of the rows of trips.txt. */
const MAX_RUNS = 1_000_000;

/** Reads one zip. Unreadable rows are skipped. Throws `UnreadableFile` if the file as a whole is unusable. */
export async function loadScheduleFile(zipPath: string, id: FileId): Promise<ScheduleFile> {
  const zip = await ScheduleZip.open(zipPath);
  try {
    for (const name of ['stops.txt', 'routes.txt', 'trips.txt', 'stop_times.txt'] as const) {
      if (!zip.has(name)) throw new UnreadableFile(`no ${name}`);
    }
    const leftOut = new LeftOutCounter();
    const stopsById = await loadStops(zip, leftOut);
    const routes = await loadRoutes(zip, id, leftOut);
    const services = await loadServices(zip, leftOut);
    const shapes = await loadShapes(zip, leftOut);
    const read = await loadTrips(zip, { routes, services, shapes }, leftOut);
    const stops = [...stopsById.values()];
    const stopIndexes = new Map(stops.map((stop, index) => [stop.id, index]));
    const { calls, headsigns } = await loadCalls(zip, { trips: read, stops: stopIndexes }, leftOut);
    // In the report, what is left out of calls comes before the rest.
    const [leftOutOfCalls, leftOutOfRest] = [new LeftOutCounter(), new LeftOutCounter()];
    calls.fillLoads = await loadLoads(zip, { ...read, services: services.services }, leftOutOfRest);
    const frequencies = await loadFrequencies(zip, read.indexes, leftOutOfRest);

    const trips: ScheduleTrip[] = [];
    for (const [index, trip] of read.trips.entries()) {
      const own = calls.get(index, leftOutOfCalls);
      if (!own) continue;
      const headsign = toRiderHeadsign(trip.headsign, own, headsigns);
      if (headsign === null) leftOutOfRest.add('empty train');
      else if (own.count < 2) leftOutOfRest.add('trip with fewer than two calls');
      else if (!orderTimes(own)) leftOutOfRest.add('trip whose times go backwards');
      else {
        // In place, because a copy of each trip would take a third of the memory.
        const usable = Object.assign(trip, {
          callCount: own.count,
          headsign: headsign || nameOfLastStop(own, stops),
        });
        const ofTrip = frequencies.get(index);
        if (!ofTrip) trips.push(usable);
        else if (own.startsAt === UNTIMED || ofTrip.length === 0) leftOutOfRest.add('trip of an unreadable frequency');
        else {
          const endsAt = own.departure.valueAt(own.count - 1);
          const runs = { frequencies: ofTrip, startsAt: own.startsAt, endsAt };
          for (const run of toRuns(usable, runs, leftOutOfRest)) trips.push(run);
        }
        if (trips.length > MAX_RUNS) throw new UnreadableFile(`frequencies.txt makes more than ${MAX_RUNS} runs`);
      }
    }
    leftOut.addAll(leftOutOfCalls);
    leftOut.addAll(leftOutOfRest);
    if (trips.length === 0) throw refuseFile('no trip that can be used', leftOut.toJSON());
    const report = {
      file: id,
      trips: trips.length,
      stopTimes: trips.reduce((sum, { callCount }) => sum + callCount, 0),
      ...daysOf(trips, services.services),
      leftOut: leftOut.toJSON(),
    };
    const parseOrdered = (trip: ScheduleTrip) => {
      const own = calls.get(trip.calls) as ScheduleCalls;
      orderTimes(own);
      return own;
    };
    return {
      id,
      report,
      stops,
      routes: routes.routes,
      services: services.services,
      trips,
      calls: { get: parseOrdered },
      headsigns,
      shapes,
    };
  } finally {
    zip.close();
  }
}

/** If the arrival at a call is up to this much later than the departure, the departure counts for both. */
const MAX_LATE_ARRIVAL_SECONDS = 5 * 60;

/**
 * Mends arrivals that are a little later than the departure from the same call. Returns false if times go backwards otherwise.
 * The arrival at the first call and the departure from the last one mean nothing, so they are made to fit.
 */
function orderTimes({ count, arrival, departure }: ScheduleCalls): boolean {
  const lastCall = count - 1;
  if (departure.valueAt(0) < arrival.valueAt(0)) arrival[0] = departure.valueAt(0);
  if (departure.valueAt(lastCall) < arrival.valueAt(lastCall)) {
    departure[lastCall] = arrival.valueAt(lastCall);
  }
  let last = 0;
  for (let call = 0; call <= lastCall; call++) {
    const late = arrival.valueAt(call) - departure.valueAt(call);
    if (late > 0 && late <= MAX_LATE_ARRIVAL_SECONDS) arrival[call] = departure.valueAt(call);
    if (arrival.valueAt(call) < last || departure.valueAt(call) < arrival.valueAt(call)) return false;
    last = departure.valueAt(call);
  }
  return true;
}

function nameOfLastStop({ count, stop: stopOf }: ScheduleCalls, stops: readonly ScheduleStop[]): string {
  const stop = stops[stopOf.valueAt(count - 1)];
  return stop ? splitStopName(stop, null).name : '';
}

function daysOf(
  trips: readonly ScheduleTrip[],
  services: readonly ScheduleService[],
): Pick<FileReport, 'firstDay' | 'lastDay' | 'busiestDay'> {
  const tripsOf = new Uint32Column(services.length);
  for (const { service } of trips) tripsOf[service] = tripsOf.valueAt(service) + 1;
  const tripsByDay = new Map<number, number>();
  for (const [index, { firstDay, days }] of services.entries()) {
    const count = tripsOf.valueAt(index);
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
