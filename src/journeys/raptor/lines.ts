import { MAY_ALIGHT, MAY_BOARD, NEEDS_BOOKING } from '../../timetable/import/schedule-file.ts';
import { ROUTE, type Sections } from '../../timetable/packed-timetable.ts';

/**
 * The runs of some days as RAPTOR wants them: grouped into lines with the same stops, in which no run overtakes another. Times
 * are seconds since the beginning of the middle day. Columns; what belongs to number `n` of a column lies from `first…[n]`
 * up to `first…[n + 1]`.
 */
export interface Lines {
  stopCount: number;
  lineCount: number;
  /** The mode of each line, as its place in `MODES`. */
  modes: Uint8Array;
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
  /** The trip of each run, and its day: -1, 0 or 1. A run that only a feed knows has the trip -1. */
  trips: Int32Array;
  days: Int8Array;
  /** Where each of the last runs stands among the changed ones. */
  liveRuns: Int32Array;
  /** By run, 0 for one that does not run as planned; null where all do. */
  usable: Uint8Array | null;
  /** The lines at each stop, as pairs of line and position. */
  firstVisit: Int32Array;
  visits: Int32Array;
}

/** A run as it goes today: late, without some of its stops, or beside the timetable. Seconds as in `Lines`. */
export interface ChangedRun {
  /** -1 for one that is not in the timetable. */
  trip: number;
  /** -1, 0 or 1. */
  day: number;
  mode: number;
  stops: readonly number[];
  flags: readonly number[];
  arrivals: readonly number[];
  departures: readonly number[];
}

const DAY_OFFSETS = [-1, 0, 1] as const;
/** The first search of a day that begins with a change of the clocks is so many seconds before its beginning. */
const BEFORE_DAY_SECONDS = 2 * 3600;

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
  const { patternCalls, patternTrips, patternRoute, routes, callStop, callFlags, offsets } = sections;
  const { tripStart, tripArrivals, tripDepartures, tripBlock } = sections;
  const draft = createDraft(offsets);
  for (let pattern = 0; pattern < patternCalls.length - 1; pattern++) {
    const first = patternCalls[pattern] as number;
    const end = patternCalls[pattern + 1] as number;
    for (const [index, offset] of DAY_OFFSETS.entries()) {
      const dayStart = dayStarts[index] as number;
      for (let trip = patternTrips[pattern] as number; trip < (patternTrips[pattern + 1] as number); trip++) {
        const start = (tripStart[trip] as number) + dayStart;
        const arrivals = tripArrivals[trip] as number;
        // Runs that end before the day begins are left out.
        if (start + (offsets[arrivals + end - first - 1] as number) < -BEFORE_DAY_SECONDS) continue;
        if (isRunning(trip, day + offset)) {
          draft.addRun({ trip, day: offset, start, arrivals, departures: tripDepartures[trip] as number });
        }
      }
    }
    draft.closeLines(
      callStop.subarray(first, end),
      callFlags.subarray(first, end),
      routes[(patternRoute[pattern] as number) * ROUTE.length + ROUTE.mode] as number,
    );
  }
  const { sources: _, ...lines } = draft.finish(sections.stopId.length);
  const runs = indexRuns(lines, sections.tripStart.length);
  for (let run = 0; run < lines.trips.length; run++) {
    const trip = lines.trips[run] as number;
    if (!tripBlock[trip]) continue;
    const offset = lines.days[run] as number;
    const next = nextTrip(trip, day + offset);
    if (next !== null) lines.nextRuns[run] = runs[next * 3 + offset + 1] as number;
  }
  return lines;
}

/** The run of each trip on the days -1, 0 and 1; -1 where it does not run. */
function indexRuns({ trips, days }: Lines, tripCount: number): Int32Array {
  const runs = new Int32Array(tripCount * 3).fill(-1);
  for (let run = 0; run < trips.length; run++) runs[(trips[run] as number) * 3 + (days[run] as number) + 1] = run;
  return runs;
}

/** The lines with some runs as they go today, in lines of their own; `dropped` do not run. */
export function withChanges(
  lines: Lines,
  changed: readonly ChangedRun[],
  dropped: readonly Pick<ChangedRun, 'trip' | 'day'>[],
): Lines {
  const { trips, nextRuns } = lines;
  const runs = indexRuns(lines, trips.reduce((most, trip) => Math.max(most, trip), -1) + 1);
  const runOf = ({ trip, day }: Pick<ChangedRun, 'trip' | 'day'>) => (trip < 0 ? -1 : (runs[trip * 3 + day + 1] ?? -1));
  const usable = new Uint8Array(trips.length + changed.length).fill(1);
  const offsets: number[] = [];
  const draft = createDraft({ at: (index) => offsets[index - lines.offsets.length] as number });
  const places: number[] = [];
  for (const same of Map.groupBy(changed.keys(), (at) => {
    const { mode, stops, flags } = changed[at] as ChangedRun;
    return `${mode} ${stops} ${flags}`;
  }).values()) {
    const { stops, flags, mode } = changed[same[0] as number] as ChangedRun;
    for (const place of same) {
      const { trip, day, arrivals, departures } = changed[place] as ChangedRun;
      places.push(place);
      const start = departures[0] as number;
      const at = lines.offsets.length + offsets.length;
      for (const time of [...arrivals, ...departures]) offsets.push(time - start);
      draft.addRun({ trip, day, start, arrivals: at, departures: at + stops.length });
    }
    draft.closeLines(stops, flags, mode);
  }
  const added = draft.finish(lines.stopCount);
  for (const run of [...changed, ...dropped].map(runOf)) if (run >= 0) usable[run] = 0;

  const runCount = trips.length;
  const joined: Lines = {
    stopCount: lines.stopCount,
    lineCount: lines.lineCount + added.lineCount,
    modes: concat(Uint8Array, lines.modes, added.modes),
    firstCall: concatStarts(lines.firstCall, added.firstCall),
    stops: concat(Int32Array, lines.stops, added.stops),
    flags: concat(Uint8Array, lines.flags, added.flags),
    firstRun: concatStarts(lines.firstRun, added.firstRun),
    starts: concat(Int32Array, lines.starts, added.starts),
    arrivals: concat(Int32Array, lines.arrivals, added.arrivals),
    departures: concat(Int32Array, lines.departures, added.departures),
    offsets: concat(Int32Array, lines.offsets, offsets),
    lineOfRun: concat(
      Int32Array,
      lines.lineOfRun,
      added.lineOfRun.map((line) => line + lines.lineCount),
    ),
    nextRuns: concat(Int32Array, nextRuns, added.nextRuns),
    trips: concat(Int32Array, trips, added.trips),
    days: concat(Int8Array, lines.days, added.days),
    liveRuns: added.sources.map((source) => places[source] as number),
    usable,
    ...NO_VISITS,
  };
  // The vehicle goes on as the run as it goes today.
  const now = new Map<number, number>();
  for (let run = 0; run < added.trips.length; run++) {
    const planned = runOf({ trip: added.trips[run] as number, day: added.days[run] as number });
    if (planned >= 0) now.set(planned, runCount + run);
  }
  const current = (run: number) => now.get(run) ?? (usable[run] ? run : -1);
  for (let run = 0; run < runCount; run++) {
    const next = nextRuns[run] as number;
    if (next >= 0) joined.nextRuns[now.get(run) ?? run] = current(next);
  }
  return { ...joined, ...listVisits(joined) };
}

/**
 * The lines of a world in which time runs backwards: what was last is first, arrivals are departures. A search for the latest
 * departure is one for the earliest arrival there. Number `n` of a column was its last but `n`.
 */
export function mirrorLines(lines: Lines): Lines {
  const { firstCall, firstRun, lineOfRun, offsets, starts, arrivals, departures, nextRuns, usable } = lines;
  const runCount = starts.length;
  const mirrorStarts = (first: Int32Array) =>
    first.map((_, at) => (first.at(-1) as number) - (first[first.length - 1 - at] as number));
  const mirrorList = (column: Int32Array) =>
    column
      .map((at, run) => {
        const line = lineOfRun[run] as number;
        return offsets.length - at - ((firstCall[line + 1] as number) - (firstCall[line] as number));
      })
      .reverse();
  const previous = new Int32Array(runCount).fill(-1);
  for (let run = 0; run < runCount; run++) {
    const next = nextRuns[run] as number;
    if (next >= 0) previous[runCount - 1 - next] = runCount - 1 - run;
  }
  const mirrored: Lines = {
    ...lines,
    modes: lines.modes.toReversed(),
    firstCall: mirrorStarts(firstCall),
    stops: lines.stops.toReversed(),
    flags: lines.flags
      .map((flag) => (flag & MAY_BOARD ? MAY_ALIGHT : 0) | (flag & MAY_ALIGHT ? MAY_BOARD : 0))
      .reverse(),
    firstRun: mirrorStarts(firstRun),
    starts: starts.map((start) => -start).reverse(),
    arrivals: mirrorList(departures),
    departures: mirrorList(arrivals),
    offsets: offsets.map((offset) => -offset).reverse(),
    lineOfRun: lineOfRun.map((line) => lines.lineCount - 1 - line).reverse(),
    nextRuns: previous,
    trips: lines.trips.toReversed(),
    days: lines.days.toReversed(),
    usable: usable?.toReversed() ?? null,
    ...NO_VISITS,
  };
  return { ...mirrored, ...listVisits(mirrored) };
}

interface DraftRun {
  trip: number;
  day: number;
  start: number;
  arrivals: number;
  departures: number;
}

/** Collects the runs of one list of stops after the other, and splits them into lines. */
function createDraft(offsets: { at(index: number): number | undefined }) {
  const run = {
    trip: [] as number[],
    day: [] as number[],
    start: [] as number[],
    arrivals: [] as number[],
    departures: [] as number[],
  };
  const made = { modes: [] as number[], firstCall: [0], stops: [] as number[], flags: [] as number[], firstRun: [0] };
  const ordered: number[] = [];
  let first = 0;

  function overtakes(one: number, earlier: number, count: number): boolean {
    const ahead = (run.start[one] as number) - (run.start[earlier] as number);
    const isLater = (column: number[]) => {
      const [own, other] = [column[one] as number, column[earlier] as number];
      if (own === other) return false;
      for (let at = 0; at < count; at++) {
        if (ahead + (offsets.at(own + at) as number) < (offsets.at(other + at) as number)) return true;
      }
      return false;
    };
    return isLater(run.arrivals) || isLater(run.departures);
  }

  return {
    addRun({ trip, day, start, arrivals, departures }: DraftRun): void {
      run.trip.push(trip);
      run.day.push(day);
      run.start.push(start);
      run.arrivals.push(arrivals);
      run.departures.push(departures);
    },
    /** Makes lines of the runs that were added since the last call. */
    closeLines(stops: ArrayLike<number>, flags: ArrayLike<number>, mode: number): void {
      const runs: number[] = [];
      for (let one = first; one < run.trip.length; one++) runs.push(one);
      first = run.trip.length;
      runs.sort((one, other) => (run.start[one] as number) - (run.start[other] as number));
      const lines: number[][] = [];
      for (const one of runs) {
        const line = lines.find((known) => !overtakes(one, known.at(-1) as number, stops.length));
        if (line) line.push(one);
        else lines.push([one]);
      }
      for (const line of lines) {
        for (const one of line) ordered.push(one);
        for (let at = 0; at < stops.length; at++) {
          const flag = flags[at] as number;
          made.stops.push(stops[at] as number);
          made.flags.push(flag & NEEDS_BOOKING ? 0 : flag & (MAY_BOARD | MAY_ALIGHT));
        }
        made.modes.push(mode);
        made.firstCall.push(made.stops.length);
        made.firstRun.push(ordered.length);
      }
    },
    /** `sources` are the numbers of the runs in the order in which they were added. */
    finish(stopCount: number): Lines & { sources: Int32Array } {
      const column = (values: number[]) => Int32Array.from(ordered, (one) => values[one] as number);
      const lineCount = made.modes.length;
      const lineOfRun = new Int32Array(ordered.length);
      for (let line = 0; line < lineCount; line++) lineOfRun.fill(line, made.firstRun[line], made.firstRun[line + 1]);
      const lines = {
        stopCount,
        lineCount,
        modes: new Uint8Array(made.modes),
        firstCall: new Int32Array(made.firstCall),
        stops: new Int32Array(made.stops),
        flags: new Uint8Array(made.flags),
        firstRun: new Int32Array(made.firstRun),
        starts: column(run.start),
        arrivals: column(run.arrivals),
        departures: column(run.departures),
        offsets: offsets as Int32Array,
        lineOfRun,
        nextRuns: new Int32Array(ordered.length).fill(-1),
        trips: column(run.trip),
        days: new Int8Array(column(run.day)),
        liveRuns: new Int32Array(0),
        usable: null,
      };
      return { ...lines, ...listVisits(lines), sources: new Int32Array(ordered) };
    },
  };
}

const NO_VISITS = { firstVisit: new Int32Array(0), visits: new Int32Array(0) };

function listVisits({ stops, firstCall, stopCount }: Pick<Lines, 'stops' | 'firstCall' | 'stopCount'>) {
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

function concat<Column extends Int32Array | Int8Array | Uint8Array>(
  Type: new (length: number) => Column,
  one: Column,
  other: ArrayLike<number>,
): Column {
  const joined = new Type(one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}

/** Columns of the form `first…`, whose last entry is the length of what they lead to. */
function concatStarts(one: Int32Array, other: Int32Array): Int32Array {
  const end = one.at(-1) as number;
  return concat(
    Int32Array,
    one,
    other.subarray(1).map((start) => end + start),
  );
}
