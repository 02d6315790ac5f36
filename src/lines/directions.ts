import { MINUTE_MS } from '../core/clock.ts';
import { Int32Column, int32At } from '../core/columns.ts';
import { SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import { toMoment } from '../timetable/service-day.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { toMinute } from '../transit/time.ts';
import { mergeOrders, type StopRow } from './stop-order.ts';

/** A station or street stop of a line; the position is in degrees. */
export interface LineStop {
  id: string;
  /** Without suburb and platform. */
  name: string;
  lat: number;
  lng: number;
}

/** A run of the line on the day. Times are in milliseconds since 1970, rounded down to the minute. */
interface LineRun {
  /** Null for runs of the bundle of all operators, whose IDs the feeds do not use. */
  tripId: string | null;
  headsign: string;
  /** The platform, stand or wharf where it starts. */
  firstStopId: string;
  startsAt: number;
  endsAt: number;
  hasFixedTimes: boolean;
  /** For each stop of the direction the departure, at the last call the arrival; null where it does not call. */
  listTimes(): (number | null)[];
}

/** One direction of a line on a service day. */
export interface LineDirection {
  /** `direction_id` of the files. */
  direction: 0 | 1;
  /** Most frequent first. */
  headsigns: string[];
  /** Stations and street stops, in an order that fits every run. A stop at which loops call twice comes twice. */
  stops: LineStop[];
  /** Sorted so that later runs come later at most stops. Empty if none runs on the day. */
  runs: LineRun[];
  /** The median time between departures, at the stop with the most departures; null with fewer than two. */
  headwayMinutes: number | null;
  /** The patterns shown, those with most calls first. */
  patterns: readonly number[];
  /** The number of runs that are left out, because a table with their stops would be too long. */
  leftOut: number;
}

const MAX_HEADSIGNS = 10;

/** Reads both directions. A direction without runs on the day has the stops of all days. */
export async function loadDirections(
  timetable: Timetable,
  patterns: readonly number[],
  day: number,
): Promise<LineDirection[]> {
  const directions: LineDirection[] = [];
  for (const direction of [0, 1] as const) {
    const own = patterns.filter((pattern) => timetable.sections.patternDirection[pattern] === direction);
    if (own.length > 0) directions.push(await loadDirection(timetable, { direction, patterns: own, day }));
  }
  return directions;
}

async function loadDirection(
  timetable: Timetable,
  { direction, patterns, day }: { direction: 0 | 1; patterns: readonly number[]; day: number },
): Promise<LineDirection> {
  const { chosen, isRunning } = choosePatterns(timetable, patterns, day);
  const sequences = chosen.map(({ stops, trips: [first] }) => {
    return {
      stops,
      seconds: Int32Column.from(stops, (_, position) => secondsTo(timetable, first as number, position, stops)),
    };
  });
  const { order, rows } = await mergeOrders(sequences);
  const shown = chosen.filter((_, at) => rows[at]);
  const ownRows = rows.filter((own) => own !== null);
  const places = new Map(order.map((row, place) => [row, place]));
  const main = chooseMainRow(order, shown);
  const runs = (isRunning ? shown : []).flatMap((one, at) =>
    listRuns(timetable, day, one, { own: ownRows[at] as readonly StopRow[], places, main }),
  );
  runs.sort((one, other) => one.sortsAt - other.sortsAt);
  const headsigns = new Map<string, number>();
  for (const trip of shown.flatMap(({ trips }) => trips)) {
    const headsign = timetable.headsignAt({ trip, position: 0 });
    headsigns.set(headsign, (headsigns.get(headsign) ?? 0) + 1);
  }
  return {
    direction,
    headsigns: sortByCount(headsigns).slice(0, MAX_HEADSIGNS),
    stops: order.map(({ stop }) => timetable.stop(stop)),
    runs,
    headwayMinutes: medianGap(
      Int32Column.from(
        runs.filter(({ callsAtMain }) => callsAtMain),
        ({ sortsAt }) => sortsAt,
      ),
    ),
    patterns: shown.map(({ pattern }) => pattern),
    leftOut: isRunning ? countTrips(chosen) - countTrips(shown) : 0,
  };
}

interface Pattern {
  pattern: number;
  /** Stations and street stops. */
  stops: readonly number[];
  trips: readonly number[];
}

/** The patterns with trips on the day, most calls first; all patterns with all their trips if none has any. */
function choosePatterns(timetable: Timetable, patterns: readonly number[], day: number) {
  const { patternTrips } = timetable.sections;
  const all = patterns.map((pattern): Pattern => {
    const first = patternTrips.valueAt(pattern);
    const count = patternTrips.valueAt(pattern + 1) - first;
    const stops = Array.from(timetable.stopsOf(pattern), (stop) => timetable.stationOf(stop));
    return { pattern, stops, trips: Array.from({ length: count }, (_, at) => first + at) };
  });
  const today = all
    .map((one) => ({ ...one, trips: one.trips.filter((trip) => timetable.runsOn(trip, day)) }))
    .filter(({ trips }) => trips.length > 0);
  const isRunning = today.length > 0;
  const chosen = (isRunning ? today : all).sort(
    (one, other) => other.trips.length * other.stops.length - one.trips.length * one.stops.length,
  );
  return { chosen, isRunning };
}

function countTrips(patterns: readonly Pattern[]): number {
  return patterns.reduce((sum, { trips }) => sum + trips.length, 0);
}

/** Seconds from the start of a trip to its departure from a stop; at the last stop, to its arrival. */
function secondsTo({ sections }: Timetable, trip: number, position: number, stops: readonly unknown[]): number {
  const starts = position === stops.length - 1 ? sections.tripArrivals : sections.tripDepartures;
  return int32At(sections.offsets, starts.valueAt(trip) + position);
}

/** The row of the stop with most departures. */
function chooseMainRow(order: readonly StopRow[], patterns: readonly Pattern[]): StopRow {
  const departures = new Map<number, number>();
  for (const { stops, trips } of patterns) {
    for (const stop of new Set(stops.slice(0, -1))) departures.set(stop, (departures.get(stop) ?? 0) + trips.length);
  }
  const [main] = sortByCount(departures);
  return order.find(({ stop }) => stop === main) as StopRow;
}

/** Reads the runs of a pattern on the day. `own` are the rows of its stops. */
function listRuns(
  timetable: Timetable,
  day: number,
  { pattern, stops, trips }: Pattern,
  { own, places, main }: { own: readonly StopRow[]; places: ReadonlyMap<StopRow, number>; main: StopRow },
) {
  const { tripStart } = timetable.sections;
  const { isBundle } = SCHEDULE_FILES[timetable.routeOf(pattern).file];
  const firstStopId = timetable.stop(timetable.stopsOf(pattern).valueAt(0)).id;
  const mainPosition = stops.indexOf(main.stop);
  return trips.map((trip) => {
    const start = tripStart.valueAt(trip);
    const momentAt = (position: number) => toMinute(toMoment(day, start + secondsTo(timetable, trip, position, stops)));
    const toMain =
      mainPosition < 0 ? main.seconds - (own[0] as StopRow).seconds : secondsTo(timetable, trip, mainPosition, stops);
    return {
      tripId: isBundle ? null : timetable.tripIdOf(trip),
      hasFixedTimes: timetable.headwayOf(trip) === null,
      headsign: timetable.headsignAt({ trip, position: 0 }),
      firstStopId,
      startsAt: momentAt(0),
      endsAt: momentAt(stops.length - 1),
      listTimes() {
        const times: (number | null)[] = Array.from(places, () => null);
        for (const [position, row] of own.entries()) times[places.get(row) as number] = momentAt(position);
        return times;
      },
      /** Departure from the main stop in seconds of the day, estimated for runs that do not call there. */
      sortsAt: start + toMain,
      callsAtMain: mainPosition >= 0 && mainPosition < stops.length - 1,
    };
  });
}

/** Highest count first. */
function sortByCount<Item>(counts: ReadonlyMap<Item, number>): Item[] {
  return [...counts].sort(([, one], [, other]) => other - one).map(([item]) => item);
}

/** The median of the gaps in sorted seconds, in whole minutes; null if there is no gap. */
function medianGap(seconds: Int32Column): number | null {
  const gaps = Array.from(seconds.subarray(1), (at, index) => at - seconds.valueAt(index));
  const middle = gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)];
  return middle === undefined ? null : Math.round((middle * 1000) / MINUTE_MS);
}
