import { MINUTE_MS } from '../core/clock.ts';
import { SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import { toMoment } from '../timetable/service-day.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { toMinute } from '../transit/time.ts';
import { mergeOrders, type Row } from './stop-order.ts';

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
  /** For each stop of the direction the departure, at the last call the arrival; null where it does not call. */
  readTimes(): (number | null)[];
}

/** One direction of a line on a service day. */
export interface LineDirection {
  /** `direction_id` of the files. */
  direction: 0 | 1;
  /** Most frequent first. */
  headsigns: string[];
  /** Stations and street stops, in an order that fits every run. A stop at which loops call twice comes twice. */
  stops: LineStop[];
  /** Sorted so that later runs come later at most stops. Empty if none runs that day. */
  runs: LineRun[];
  /** The median between departures at the stop with most of them; null below two. */
  headwayMinutes: number | null;
  /** Those shown, most calls first. */
  patterns: readonly number[];
}

const MAX_HEADSIGNS = 10;

/** Reads both directions. One without runs that day has the stops of all its days. */
export function readDirections(timetable: Timetable, patterns: readonly number[], day: number): LineDirection[] {
  return ([0, 1] as const).flatMap((direction) => {
    const own = patterns.filter((pattern) => timetable.sections.patternDirection[pattern] === direction);
    return own.length > 0 ? readDirection(timetable, { direction, patterns: own, day }) : [];
  });
}

function readDirection(
  timetable: Timetable,
  { direction, patterns, day }: { direction: 0 | 1; patterns: readonly number[]; day: number },
): LineDirection {
  const { patternTrips, tripStart, tripDepartures, tripArrivals, offsets } = timetable.sections;
  const all = patterns.map((pattern) => {
    const first = patternTrips[pattern] as number;
    const count = (patternTrips[pattern + 1] as number) - first;
    const stops = Array.from(timetable.stopsOf(pattern), (stop) => timetable.stationOf(stop));
    return { pattern, stops, trips: Array.from({ length: count }, (_, at) => first + at) };
  });
  const today = all.map((one) => ({ ...one, trips: one.trips.filter((trip) => timetable.runsOn(trip, day)) }));
  const isRunning = today.some(({ trips }) => trips.length > 0);
  const shown = (isRunning ? today.filter(({ trips }) => trips.length > 0) : all).sort(
    (one, other) => other.trips.length * other.stops.length - one.trips.length * one.stops.length,
  );
  const secondsTo = (trip: number, position: number, stops: readonly unknown[]) => {
    const starts = position === stops.length - 1 ? tripArrivals : tripDepartures;
    return offsets[(starts[trip] as number) + position] as number;
  };
  const { order, rows } = mergeOrders(
    shown.map(({ stops, trips }) => ({
      stops,
      seconds: stops.map((_, position) => secondsTo(trips[0] as number, position, stops)),
    })),
  );
  const places = new Map(order.map((row, place) => [row, place]));
  const headsigns = countEach(
    shown.flatMap(({ trips }) => trips.map((trip) => timetable.headsignAt({ trip, position: 0 }))),
  );
  const departures = countEach(
    shown.flatMap(({ stops, trips }) => {
      const called = [...new Set(stops.slice(0, -1))];
      return trips.flatMap(() => called);
    }),
  );
  const [main] = departures.keys();
  const mainRow = order.find(({ stop }) => stop === main) as Row;
  const runs = (isRunning ? shown : []).flatMap(({ pattern, stops, trips }, at) => {
    const own = rows[at] as [Row];
    const { isBundle } = SCHEDULE_FILES[timetable.routeOf(pattern).file];
    const firstStopId = timetable.stop(timetable.stopsOf(pattern)[0] as number).id;
    const mainPosition = stops.indexOf(main as number);
    return trips.map((trip) => {
      const momentAt = (position: number) =>
        toMinute(toMoment(day, (tripStart[trip] as number) + secondsTo(trip, position, stops)));
      const sinceFirst = mainPosition < 0 ? mainRow.seconds - own[0].seconds : secondsTo(trip, mainPosition, stops);
      return {
        tripId: isBundle ? null : timetable.tripIdOf(trip),
        headsign: timetable.headsignAt({ trip, position: 0 }),
        firstStopId,
        startsAt: momentAt(0),
        endsAt: momentAt(stops.length - 1),
        readTimes() {
          const times: (number | null)[] = order.map(() => null);
          for (const [position, row] of own.entries()) times[places.get(row) as number] = momentAt(position);
          return times;
        },
        /** Departure from the main stop in seconds of the day, estimated for runs that do not call there. */
        sortsAt: (tripStart[trip] as number) + sinceFirst,
        callsAtMain: mainPosition >= 0 && mainPosition < stops.length - 1,
      };
    });
  });
  runs.sort((one, other) => one.sortsAt - other.sortsAt);
  return {
    direction,
    headsigns: [...headsigns.keys()].slice(0, MAX_HEADSIGNS),
    stops: order.map(({ stop }) => timetable.stop(stop)),
    runs,
    headwayMinutes: medianGap(runs.filter(({ callsAtMain }) => callsAtMain).map(({ sortsAt }) => sortsAt)),
    patterns: shown.map(({ pattern }) => pattern),
  };
}

/** How often each item occurs, most often first. */
function countEach<Item>(items: readonly Item[]): Map<Item, number> {
  const counts = new Map<Item, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return new Map([...counts].sort(([, one], [, other]) => other - one));
}

/** The median of the gaps in sorted seconds, in whole minutes; null if there is no gap. */
function medianGap(seconds: readonly number[]): number | null {
  const gaps = seconds.slice(1).map((at, index) => at - (seconds[index] as number));
  const middle = gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)];
  return middle === undefined ? null : Math.round((middle * 1000) / MINUTE_MS);
}
