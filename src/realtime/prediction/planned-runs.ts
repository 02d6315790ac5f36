import { SECOND_MS } from '../../core/clock.ts';
import { Int32Column, int32At } from '../../core/columns.ts';
import type { FileId } from '../../timetable/schedule-files.ts';
import { calendarDayAt, serviceDayStart } from '../../timetable/service-day.ts';
import type { Timetable } from '../../timetable/timetable.ts';
import type { RunColumns } from './run-columns.ts';
import type { ColumnPool } from './run-list.ts';

/** Runs are searched on these service days, relative to the day of the feed's header: a run may begin 34 hours after its service day. */
const DAYS_AROUND = [-2, -1, 0, 1, 2] as const;

export type PlannedRuns = ReturnType<typeof createPlannedRuns>;

/** The timetable lookups that predictions need. They are cached from one publication of a feed to the next. */
export function createPlannedRuns(timetable: Timetable) {
  const { sections } = timetable;
  const {
    patternCalls,
    callStop,
    callFlags,
    tripPattern,
    tripStart,
    tripArrivals,
    tripDepartures,
    offsets,
    stopParent,
  } = sections;
  const stops = new Map<string, number>();
  const tripsOf = new Map<FileId | undefined, Map<string, readonly number[]>>();
  const stations = Int32Column.from(stopParent, (_, stop) => timetable.stationOf(stop));
  const loops = new Uint8Array(patternCalls.length);
  const seenIn = new Int32Column(timetable.stopCount).fill(-1);
  let days: { day: number; start: number }[] = [];
  let daysOf = Number.NaN;

  function setDays(headerAt: number): void {
    if (headerAt === daysOf) return;
    daysOf = headerAt;
    const today = calendarDayAt(headerAt);
    days = DAYS_AROUND.map((offset) => ({ day: today + offset, start: serviceDayStart(today + offset) / SECOND_MS }));
  }

  return {
    timetable,
    pool: { columns: null } as ColumnPool,

    /** The index of a stop; -1 if the timetable lacks it. */
    stopOf(stopId: string): number {
      const known = stops.get(stopId);
      if (known !== undefined) return known;
      const stop = timetable.findStop(stopId) ?? -1;
      stops.set(stopId, stop);
      return stop;
    },

    tripsOf(tripId: string, files: readonly FileId[]): readonly number[] {
      const ofFile = tripsOf.get(files[0]) ?? new Map<string, readonly number[]>();
      tripsOf.set(files[0], ofFile);
      const known = ofFile.get(tripId);
      if (known) return known;
      const trips = timetable.listTripsBetween(tripId, files);
      ofFile.set(tripId, trips);
      return trips;
    },

    /** Forgets lookups of earlier feeds if there are too many. */
    prune(): void {
      for (const ofFile of tripsOf.values()) if (ofFile.size > 50_000) ofFile.clear();
      if (stops.size > 100_000) stops.clear();
    },

    /** Whether two stops are platforms of one station. */
    isSameStation: (one: number, other: number) => one === other || stations[one] === stations[other],

    /** Whether the pattern calls at a stop more than once. */
    isLoop(pattern: number): boolean {
      if (loops[pattern] === 0) {
        loops[pattern] = 1;
        for (let call = patternCalls.valueAt(pattern); call < patternCalls.valueAt(pattern + 1); call++) {
          const stop = callStop.valueAt(call);
          if (seenIn[stop] === pattern) loops[pattern] = 2;
          seenIn[stop] = pattern;
        }
      }
      return loops[pattern] === 2;
    },

    callCount(trip: number): number {
      const pattern = tripPattern.valueAt(trip);
      return patternCalls.valueAt(pattern + 1) - patternCalls.valueAt(pattern);
    },

    /** The beginning of a service day in seconds since 1970. */
    dayStart(day: number): number {
      return days.find((one) => one.day === day)?.start ?? serviceDayStart(day) / SECOND_MS;
    },

    /**
     * The service day on which the trip runs closest to a time (`moment`, seconds since 1970), and how many seconds lie between;
     * null if it runs on none of the days around the header.
     */
    nearestDay(trip: number, moment: number, headerAt: number): { day: number; apart: number } | null {
      setDays(headerAt);
      const first = tripStart.valueAt(trip);
      const last = first + int32At(offsets, tripArrivals.valueAt(trip) + this.callCount(trip) - 1);
      let nearest: { day: number; apart: number } | null = null;
      for (const { day, start } of days) {
        const apart = Math.max(0, start + first - moment, moment - start - last);
        if ((nearest === null || apart < nearest.apart) && timetable.runsOn(trip, day)) nearest = { day, apart };
      }
      return nearest;
    },

    /** Fills the columns with the planned calls of a run. `base` is in seconds since 1970. */
    fill(columns: RunColumns, trip: number, day: number, base: number): void {
      const first = patternCalls.valueAt(tripPattern.valueAt(trip));
      const count = this.callCount(trip);
      const start = this.dayStart(day) - base + tripStart.valueAt(trip);
      const [arrivals, departures] = [tripArrivals.valueAt(trip), tripDepartures.valueAt(trip)];
      columns.reset(count);
      const { stop, plannedStop, position, plannedArrival, plannedDeparture, flags } = columns;
      for (let at = 0; at < count; at++) {
        stop[at] = plannedStop[at] = callStop.valueAt(first + at);
        position[at] = at;
        flags[at] = callFlags.valueAt(first + at);
        plannedArrival[at] = start + int32At(offsets, arrivals + at);
        plannedDeparture[at] = start + int32At(offsets, departures + at);
      }
    },

    /**
     * The vehicle's next trip on this day; -1 if none. This is the trip that riders can stay on board for or, without one, the
     * first trip of the block that begins after this one has ended, at whatever stop.
     */
    nextInBlock(trip: number, day: number): number {
      const through = timetable.nextTrip(trip, day);
      if (through !== null) return through;
      const { tripBlock, blockStart, blockTrips } = sections;
      const block = tripBlock.valueAt(trip);
      if (block === 0) return -1;
      const begins = tripStart.valueAt(trip);
      const ends = begins + int32At(offsets, tripArrivals.valueAt(trip) + this.callCount(trip) - 1);
      for (let at = blockStart.valueAt(block); at < blockStart.valueAt(block + 1); at++) {
        const next = blockTrips.valueAt(at);
        const start = tripStart.valueAt(next);
        // Two runs that take no time must not lead to each other.
        if (start >= ends && start > begins && next !== trip && timetable.runsOn(next, day)) return next;
      }
      return -1;
    },
  };
}
