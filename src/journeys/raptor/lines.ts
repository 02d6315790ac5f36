import type { Sections } from '../../timetable/packed-timetable.ts';

/**
 * The runs of some days as RAPTOR wants them: grouped into lines with the same stops, in which no run overtakes another. Times
 * are seconds since the beginning of the middle day. Columns; what belongs to number `n` of a column lies from `first…[n]`
 * up to `first…[n + 1]`.
 */
export interface Lines {
  stopCount: number;
  lineCount: number;
  /** The pattern of the timetable that each line is a part of. */
  patterns: Int32Array;
  firstCall: Int32Array;
  /** The stop of each call of a line, and what may be done there: `MAY_BOARD`, `MAY_ALIGHT`. */
  stops: Int32Array;
  flags: Uint8Array;
  firstRun: Int32Array;
  /** By run: when it begins; where in `offsets` the seconds from there to its arrivals and departures begin. */
  starts: Int32Array;
  arrivals: Int32Array;
  departures: Int32Array;
  offsets: Int32Array;
  lineOfRun: Int32Array;
  /** The run as which the vehicle goes on from the last call; -1 for none. */
  nextRuns: Int32Array;
  /** The trip of each run, and its day: -1, 0 or 1. */
  trips: Int32Array;
  days: Int8Array;
  /** The lines at each stop, as pairs of line and position. */
  firstVisit: Int32Array;
  visits: Int32Array;
}

const DAY_OFFSETS = [-1, 0, 1] as const;

/** `dayStarts` are the beginnings of the day before, the day and the day after it, in seconds since the day's own; `nextTrip` is that of the timetable. */
export function createLines(
  sections: Sections,
  {
    day,
    dayStarts,
    isRunning,
    nextTrip,
  }: {
    day: number;
    dayStarts: readonly [number, number, number];
    isRunning(trip: number, day: number): boolean;
    nextTrip(trip: number, day: number): number | null;
  },
): Lines {
  const { patternCalls, patternTrips, callStop, callFlags, tripStart, tripArrivals, tripDepartures, offsets } =
    sections;
  const patternCount = patternCalls.length - 1;
  const stopCount = sections.stopId.length;
  const made = {
    patterns: [0],
    firstCall: [0],
    stops: [0],
    flags: [0],
    firstRun: [0],
    trips: [0],
    days: [0],
    starts: [0],
  };
  for (const column of Object.values(made)) column.length = 0;

  for (let pattern = 0; pattern < patternCount; pattern++) {
    const runs = listRuns(pattern);
    if (runs.length === 0) continue;
    const first = patternCalls[pattern] as number;
    const count = (patternCalls[pattern + 1] as number) - first;
    for (const line of splitWhereOvertaken(runs, count)) {
      made.patterns.push(pattern);
      made.firstCall.push(made.stops.length);
      made.firstRun.push(made.trips.length);
      for (let call = first; call < first + count; call++) {
        made.stops.push(callStop[call] as number);
        made.flags.push(callFlags[call] as number);
      }
      for (const { trip, offset, start } of line) {
        made.trips.push(trip);
        made.days.push(offset);
        made.starts.push(start);
      }
    }
  }
  made.firstCall.push(made.stops.length);
  made.firstRun.push(made.trips.length);

  interface Run {
    trip: number;
    offset: number;
    start: number;
  }

  function listRuns(pattern: number): Run[] {
    const runs: Run[] = [];
    for (let trip = patternTrips[pattern] as number; trip < (patternTrips[pattern + 1] as number); trip++) {
      for (const [index, offset] of DAY_OFFSETS.entries()) {
        if (!isRunning(trip, day + offset)) continue;
        runs.push({ trip, offset, start: (tripStart[trip] as number) + (dayStarts[index] as number) });
      }
    }
    return runs.sort((one, other) => one.start - other.start);
  }

  function splitWhereOvertaken(runs: readonly Run[], count: number): Run[][] {
    const lines: Run[][] = [];
    for (const run of runs) {
      const line = lines.find((one) => !overtakes(run, one.at(-1) as Run, count));
      if (line) line.push(run);
      else lines.push([run]);
    }
    return lines;
  }

  function overtakes(run: Run, earlier: Run, count: number): boolean {
    const ahead = run.start - earlier.start;
    const later = (column: Uint32Array) => {
      const own = column[run.trip] as number;
      const other = column[earlier.trip] as number;
      if (own === other) return false;
      for (let at = 0; at < count; at++)
        if (ahead + (offsets[own + at] as number) < (offsets[other + at] as number)) return true;
      return false;
    };
    return later(tripArrivals) || later(tripDepartures);
  }

  const trips = Int32Array.from(made.trips);
  const days = Int8Array.from(made.days);
  const lineCount = made.patterns.length;
  const lineOfRun = new Int32Array(trips.length);
  for (let line = 0; line < lineCount; line++) lineOfRun.fill(line, made.firstRun[line], made.firstRun[line + 1]);
  return {
    stopCount,
    lineCount,
    patterns: Int32Array.from(made.patterns),
    firstCall: Int32Array.from(made.firstCall),
    stops: Int32Array.from(made.stops),
    flags: Uint8Array.from(made.flags),
    firstRun: Int32Array.from(made.firstRun),
    starts: Int32Array.from(made.starts),
    arrivals: Int32Array.from(trips, (trip) => tripArrivals[trip] as number),
    departures: Int32Array.from(trips, (trip) => tripDepartures[trip] as number),
    offsets,
    lineOfRun,
    nextRuns: findNextRuns(trips, days, { day, nextTrip }),
    trips,
    days,
    ...listVisits(made.stops, made.firstCall, stopCount),
  };
}

function findNextRuns(
  trips: Int32Array,
  days: Int8Array,
  { day, nextTrip }: { day: number; nextTrip(trip: number, day: number): number | null },
): Int32Array {
  const next = new Int32Array(trips.length).fill(-1);
  const keyOf = (trip: number, offset: number) => trip * 3 + offset + 1;
  const runs = new Map(Array.from(trips, (trip, run) => [keyOf(trip, days[run] as number), run]));
  for (let run = 0; run < trips.length; run++) {
    const trip = nextTrip(trips[run] as number, day + (days[run] as number));
    if (trip !== null) next[run] = runs.get(keyOf(trip, days[run] as number)) ?? -1;
  }
  return next;
}

function listVisits(stops: readonly number[], firstCall: readonly number[], stopCount: number) {
  const firstVisit = new Int32Array(stopCount + 1);
  for (const stop of stops) firstVisit[stop + 1] = (firstVisit[stop + 1] as number) + 1;
  for (let stop = 0; stop < stopCount; stop++) {
    firstVisit[stop + 1] = (firstVisit[stop + 1] as number) + (firstVisit[stop] as number);
  }
  const filled = firstVisit.slice();
  const visits = new Int32Array(stops.length * 2);
  for (let line = 0; line + 1 < firstCall.length; line++) {
    const first = firstCall[line] as number;
    for (let call = first; call < (firstCall[line + 1] as number); call++) {
      const stop = stops[call] as number;
      const at = filled[stop] as number;
      visits[at * 2] = line;
      visits[at * 2 + 1] = call - first;
      filled[stop] = at + 1;
    }
  }
  return { firstVisit, visits };
}
