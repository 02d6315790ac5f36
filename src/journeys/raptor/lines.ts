import { MAY_ALIGHT, MAY_BOARD, NEEDS_BOOKING } from '../../timetable/import/schedule-file.ts';

/**
 * The runs of some days in the form that RAPTOR needs: grouped into lines. All runs of a line make the same stops and none
 * overtakes another. Times are seconds since the beginning of the middle day. Everything is stored in columns; the entries of
 * item `n` lie from `first…[n]` up to `first…[n + 1]`.
 */
export interface Lines {
  stopCount: number;
  lineCount: number;
  /** The mode of each line, as its index in `MODES`. */
  modes: Uint8Array;
  firstCall: Int32Array;
  /** For each call of a line, its stop and the allowed actions: `MAY_BOARD`, `MAY_ALIGHT`. */
  stops: Int32Array;
  flags: Uint8Array;
  firstRun: Int32Array;
  /** For each run, when it begins, and where in `offsets` its arrivals and departures begin (seconds after its start). */
  starts: Int32Array;
  arrivals: Int32Array;
  departures: Int32Array;
  offsets: Int32Array;
  lineOfRun: Int32Array;
  /** The run as which the vehicle continues after the last call; -1 if there is none. */
  nextRuns: Int32Array;
  /** The trip of each run, and its day: -1, 0 or 1. The trip is -1 for a run that only a feed has. */
  trips: Int32Array;
  days: Int8Array;
  /** The last runs are changed ones; for each of them, its index in the list of changed runs. */
  liveRuns: Int32Array;
  /** For each run, 0 if it does not run as planned; null if all runs do. */
  usable: Uint8Array | null;
  /** The lines at each stop, as pairs of line and position. */
  firstVisit: Int32Array;
  visits: Int32Array;
}

/** The walks between stops, in columns. The walks from stop `n` are the entries from `first[n]` up to `first[n + 1]`. */
export interface Footpaths {
  first: Int32Array;
  targets: Int32Array;
  seconds: Int32Array;
}

/** The arrival and departure of a run at a call, in seconds since the base of the lines. */
export function callAt(lines: Lines, run: number, position: number) {
  const { firstCall, lineOfRun, stops, flags, starts, arrivals, departures, offsets } = lines;
  const call = (firstCall[lineOfRun[run] as number] as number) + position;
  const start = starts[run] as number;
  return {
    stop: stops[call] as number,
    flags: flags[call] as number,
    arrivesAt: start + (offsets[(arrivals[run] as number) + position] as number),
    departsAt: start + (offsets[(departures[run] as number) + position] as number),
  };
}

export function lastPosition({ firstCall, lineOfRun }: Lines, run: number): number {
  const line = lineOfRun[run] as number;
  return (firstCall[line + 1] as number) - (firstCall[line] as number) - 1;
}

/**
 * Returns the lines with time reversed: the last item comes first, arrivals become departures. The latest departure is then
 * found by a search for the earliest arrival. Item `n` of a column was the `n`th from its end.
 */
export function mirrorLines(lines: Lines): Lines {
  const { firstCall, firstRun, lineOfRun, offsets, starts, arrivals, departures, nextRuns, usable } = lines;
  const runCount = starts.length;
  const mirrorStarts = (first: Int32Array) =>
    first.map((_, index) => (first.at(-1) as number) - (first[first.length - 1 - index] as number));
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
  };
  return { ...mirrored, ...listVisits(mirrored) };
}

/**
 * Frees the memory of all columns that `kept` does not share, and makes them empty. The garbage collector waits until dozens of
 * megabytes of old columns have gathered.
 */
export function freeLines(lines: Lines, kept: Lines): void {
  const keptColumns = new Set<unknown>(Object.values(kept));
  for (const column of Object.values(lines)) {
    const buffer = ArrayBuffer.isView(column) && !keptColumns.has(column) ? column.buffer : null;
    if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
  }
}

interface DraftRun {
  trip: number;
  day: number;
  start: number;
  arrivals: number;
  departures: number;
}

/** Collects runs, one list of stops at a time, and splits them into lines. */
export function createDraft(offsets: { at(index: number): number | undefined }) {
  const run = {
    trip: [] as number[],
    day: [] as number[],
    start: [] as number[],
    arrivals: [] as number[],
    departures: [] as number[],
  };
  const columns = {
    modes: [] as number[],
    firstCall: [0],
    stops: [] as number[],
    flags: [] as number[],
    firstRun: [0],
  };
  const ordered: number[] = [];
  let first = 0;

  function overtakes(later: number, earlier: number, count: number): boolean {
    const ahead = (run.start[later] as number) - (run.start[earlier] as number);
    const isLater = (column: number[]) => {
      const [laterTime, earlierTime] = [column[later] as number, column[earlier] as number];
      if (laterTime === earlierTime) return false;
      for (let index = 0; index < count; index++) {
        if (ahead + (offsets.at(laterTime + index) as number) < (offsets.at(earlierTime + index) as number))
          return true;
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
    /** Makes lines from the runs added since the last call. */
    closeLines(stops: ArrayLike<number>, flags: ArrayLike<number>, mode: number): void {
      const runs: number[] = [];
      for (let one = first; one < run.trip.length; one++) runs.push(one);
      first = run.trip.length;
      runs.sort((a, b) => (run.start[a] as number) - (run.start[b] as number));
      const lines: number[][] = [];
      for (const run of runs) {
        const line = lines.find((known) => !overtakes(run, known.at(-1) as number, stops.length));
        if (line) line.push(run);
        else lines.push([run]);
      }
      for (const line of lines) {
        for (const run of line) ordered.push(run);
        for (let index = 0; index < stops.length; index++) {
          const flag = flags[index] as number;
          columns.stops.push(stops[index] as number);
          columns.flags.push(flag & NEEDS_BOOKING ? 0 : flag & (MAY_BOARD | MAY_ALIGHT));
        }
        columns.modes.push(mode);
        columns.firstCall.push(columns.stops.length);
        columns.firstRun.push(ordered.length);
      }
    },
    /** `sources` lists the runs in the order in which they were added. */
    finish(stopCount: number): Lines & { sources: Int32Array } {
      const column = (values: number[]) => Int32Array.from(ordered, (run) => values[run] as number);
      const lineCount = columns.modes.length;
      const lineOfRun = new Int32Array(ordered.length);
      for (let line = 0; line < lineCount; line++)
        lineOfRun.fill(line, columns.firstRun[line], columns.firstRun[line + 1]);
      const lines = {
        stopCount,
        lineCount,
        modes: new Uint8Array(columns.modes),
        firstCall: new Int32Array(columns.firstCall),
        stops: new Int32Array(columns.stops),
        flags: new Uint8Array(columns.flags),
        firstRun: new Int32Array(columns.firstRun),
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

export function listVisits({ stops, firstCall, stopCount }: Pick<Lines, 'stops' | 'firstCall' | 'stopCount'>) {
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
