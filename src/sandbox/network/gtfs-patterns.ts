import type { CalendarRow, FrequencyRow, ShapeRow, StopTimeRow, TripRow } from './gtfs-rows.ts';
import type { SandboxCalendar, SandboxPattern, SandboxService } from './network.ts';

const ACCESSIBLE = { '': null, '0': null, '1': true, '2': false } as const;

/** The timetable files of a GTFS folder. */
export interface TimetableTables {
  stopTimes: readonly StopTimeRow[];
  frequencies: readonly FrequencyRow[];
  calendar: readonly CalendarRow[];
  shapes: readonly ShapeRow[];
}

/**
 * Finds the patterns of one route's trips. GTFS has no patterns, and needs one trip for weekdays and another for
 * weekends: trips of a route with the same direction, headsign, accessibility, shape, stops and travel times are one
 * pattern.
 */
export function createPatternReader(tables: TimetableTables): (trips: readonly TripRow[]) => SandboxPattern[] {
  const stopTimes = Map.groupBy(tables.stopTimes, (row) => row.trip_id);
  const frequencies = Map.groupBy(tables.frequencies, (row) => row.trip_id);
  const calendars = new Map(tables.calendar.map((row) => [row.service_id, calendarOf(row)]));
  const paths = new Map([...Map.groupBy(tables.shapes, (row) => row.shape_id)].map(([id, rows]) => [id, pathOf(rows)]));

  function patternOf(trip: TripRow): SandboxPattern {
    const times = stopTimes.get(trip.trip_id)?.toSorted((a, b) => a.stop_sequence - b.stop_sequence) ?? [];
    const start = times[0]?.departure_time;
    const calendar = calendars.get(trip.service_id);
    const path = paths.get(trip.shape_id);
    if (start === undefined) throw new Error(`trip ${trip.trip_id} has no stop times`);
    if (calendar === undefined) throw new Error(`trip ${trip.trip_id}: no service ${trip.service_id} in calendar.txt`);
    if (trip.shape_id && !path) throw new Error(`trip ${trip.trip_id}: no shape ${trip.shape_id} in shapes.txt`);
    return {
      headsign: trip.trip_headsign,
      direction: trip.direction_id === '1' ? 1 : 0,
      wheelchairAccessible: ACCESSIBLE[trip.wheelchair_accessible],
      calls: times.map((row) => ({ point: row.stop_id, minutes: (row.departure_time - start) / 60 })),
      services: servicesOf(trip, start, frequencies.get(trip.trip_id), calendar),
      ...(path !== undefined && { path }),
    };
  }

  return (trips) => {
    const same = Map.groupBy(trips.map(patternOf), ({ services: _, ...pattern }) => JSON.stringify(pattern));
    return [...same.values()].flatMap((patterns) =>
      patterns.slice(0, 1).map((first) => ({ ...first, services: patterns.flatMap((pattern) => pattern.services) })),
    );
  };
}

/** The trip's frequencies; without any, its one departure. */
function servicesOf(
  trip: TripRow,
  start: number,
  frequencies: readonly FrequencyRow[] | undefined,
  calendar: SandboxCalendar,
): SandboxService[] {
  const departures = frequencies ?? [{ start_time: start, end_time: start + 60, headway_secs: 3600 }];
  return departures.map(({ start_time, end_time, headway_secs }) => {
    if (start_time % 60 !== 0 || headway_secs % 60 !== 0 || headway_secs <= 0) {
      throw new Error(`trip ${trip.trip_id}: departures of the sandbox are on whole minutes`);
    }
    if (end_time <= start_time) throw new Error(`trip ${trip.trip_id}: end_time is not after start_time`);
    return {
      calendar,
      firstMinute: start_time / 60,
      // A departure at end_time itself is not made.
      lastMinute: Math.ceil(end_time / 60) - 1,
      everyMinutes: headway_secs / 60,
    };
  });
}

function calendarOf(row: CalendarRow): SandboxCalendar {
  const { monday, tuesday, wednesday, thursday, friday, saturday, sunday } = row;
  return {
    weekdays: [monday, tuesday, wednesday, thursday, friday, saturday, sunday],
    firstDay: row.start_date,
    lastDay: row.end_date,
  };
}

function pathOf(rows: readonly ShapeRow[]): [number, number][] {
  return rows
    .toSorted((a, b) => a.shape_pt_sequence - b.shape_pt_sequence)
    .map((row) => [row.shape_pt_lat, row.shape_pt_lon]);
}
