import { int32At } from '../../core/columns.ts';
import { BOOK_TO_ALIGHT, BOOK_TO_BOARD, MAY_ALIGHT, MAY_BOARD } from '../../timetable/call-flags.ts';

/** The time of what never happens. */
export const NEVER = 0x7fffffff;

/**
 * The runs of some days in the form that RAPTOR needs: grouped into lines. All runs of a line make the same stops and none
 * overtakes another. Times are seconds since the start of one of the days, the base. Everything is stored in columns; the entries
 * of item `n` lie from `first…[n]` up to `first…[n + 1]`.
 */
export interface Lines {
  stopCount: number;
  /** How many lines and runs there are. Columns may be longer. */
  lineCount: number;
  runCount: number;
  /**
   * Lines and runs below these numbers are the timetable's, the others those of feeds. A planned run that a feed has changed stays,
   * but is not `usable`.
   */
  plannedLines: number;
  plannedRuns: number;
  /** The mode of each line, as its index in `MODES`. */
  modes: Uint8Array;
  firstCall: Int32Array;
  /** For each call of a line, its stop and the flags of `ScheduleCalls`. */
  stops: Int32Array;
  flags: Uint8Array;
  /** For each call, the least seconds to the next call of the line. */
  hops: Uint16Array;
  firstRun: Int32Array;
  /** For each run, when it begins, and where in `offsets` its arrivals and departures begin (seconds after its start). */
  starts: Int32Array;
  arrivals: Int32Array;
  departures: Int32Array;
  offsets: Int32Array;
  lineOfRun: Int32Array;
  /** The run that the vehicle makes after the last call with its riders on board; -1 if there is none. */
  nextRuns: Int32Array;
  /** The trip of each run, and its day relative to that of the base. The trip is -1 for a run that only a feed has. */
  trips: Int32Array;
  days: Int8Array;
  /** For each run, 0 if it does not run as planned; null if all runs do. */
  usable: Uint8Array | null;
  /** The planned lines at each stop, as pairs of line and position. */
  firstVisit: Int32Array;
  visits: Int32Array;
  /** The visits of the other lines, and the offsets of their runs; null if there are none. */
  live: (Visits & { offsets: Int32Array }) | null;
}

/** The lines at each stop, as pairs of line and position. Those of stop `n` are from `firstVisit[n]` up to `firstVisit[n + 1]`. */
export interface Visits {
  firstVisit: Int32Array;
  visits: Int32Array;
}

/** Lines before their visits and hops are known. */
type LinesAlone = Omit<Lines, 'hops' | keyof Visits>;

/** The offsets to which the runs of a line refer. */
export function offsetsOf({ live, offsets, plannedLines }: Lines, line: number): Int32Array {
  return line < plannedLines ? offsets : (live as NonNullable<Lines['live']>).offsets;
}

/** The walks between stops, in columns. The walks from stop `n` are the entries from `first[n]` up to `first[n + 1]`. */
export interface Footpaths {
  first: Int32Array;
  targets: Int32Array;
  seconds: Int32Array;
  /** Whether some walks take less time than at the usual pace. */
  isFast?: boolean;
}

/** The arrival and departure of a run at a call, in seconds since the base of the lines. */
export function callAt(lines: Lines, run: number, position: number) {
  const { firstCall, lineOfRun, stops, flags, starts, arrivals, departures } = lines;
  const line = lineOfRun[run] as number;
  const offsets = offsetsOf(lines, line);
  const call = (firstCall[line] as number) + position;
  const start = starts[run] as number;
  return {
    stop: stops[call] as number,
    flags: flags[call] as number,
    arrivesAt: start + (offsets[(arrivals[run] as number) + position] as number),
    departsAt: start + (offsets[(departures[run] as number) + position] as number),
  };
}

/** The trip of a run, which is -1 for a run that only a feed has, and its day relative to that of the base. */
export function tripOf({ trips, days }: Lines, run: number): { trip: number; day: number } {
  return { trip: int32At(trips, run), day: days[run] as number };
}

export function lastPosition(lines: Lines, run: number): number {
  return lastPositionOf(lines, lines.lineOfRun[run] as number);
}

export function lastPositionOf({ firstCall }: Lines, line: number): number {
  return (firstCall[line + 1] as number) - (firstCall[line] as number) - 1;
}

/** The number of a line in the mirrored lines. Planned lines and the others are mirrored apart. */
export function mirrorLine({ plannedLines, lineCount }: Lines, line: number): number {
  return line < plannedLines ? plannedLines - 1 - line : plannedLines + lineCount - 1 - line;
}

/** The number of a run in the mirrored lines. Planned runs and the others are mirrored apart. */
export function mirrorRun({ plannedRuns, runCount }: Lines, run: number): number {
  return run < plannedRuns ? plannedRuns - 1 - run : plannedRuns + runCount - 1 - run;
}

/** The flags without boarding and alighting that must be booked. */
export function withoutBooked(flags: Uint8Array): Uint8Array {
  return flags.map(
    (flag) => flag & ~((flag & BOOK_TO_BOARD ? MAY_BOARD : 0) | (flag & BOOK_TO_ALIGHT ? MAY_ALIGHT : 0)),
  );
}

const mirroredOffsets = new WeakMap<Int32Array, Int32Array>();

/** Cached, because all days share the offsets of the timetable. */
function mirrorOffsets(offsets: Int32Array): Int32Array {
  const known = mirroredOffsets.get(offsets);
  if (known) return known;
  // In shared memory if the offsets are.
  const Memory = offsets.buffer.constructor as new (bytes: number) => ArrayBufferLike;
  const mirrored = new Int32Array(new Memory(offsets.byteLength));
  for (let at = 0, last = offsets.length - 1; at <= last; at++) mirrored[at] = -(offsets[last - at] as number);
  mirroredOffsets.set(offsets, mirrored);
  return mirrored;
}

/** Planned lines in both directions, in memory that threads can share. */
export interface SharedLines {
  planned: Lines;
  mirrored: Lines;
}

/** Mirrors planned lines and moves both to shared memory. The columns of `lines` become empty. */
export function shareLines(lines: Lines): SharedLines {
  const mirrored = mirrorLines(lines);
  const shared = { planned: copyToShared(lines), mirrored: copyToShared(mirrored) };
  freeLines(lines);
  freeLines(mirrored);
  return shared;
}

/** Opens lines that another thread shares, with the `offsets` of this thread's timetable. */
export function openShared({ planned, mirrored }: SharedLines, offsets: Int32Array): SharedLines {
  if (!mirroredOffsets.has(offsets)) mirroredOffsets.set(offsets, mirrored.offsets);
  return { planned: { ...planned, offsets }, mirrored: { ...mirrored, offsets: mirrorOffsets(offsets) } };
}

/** Copies the columns to shared memory, except the offsets, which are shared already. */
function copyToShared(lines: Lines): Lines {
  const { offsets, ...others } = lines;
  const columns = Object.entries(others).filter((entry): entry is [string, Int32Array] => ArrayBuffer.isView(entry[1]));
  const places = columns.map(([name, column]) => ({ name, column, bytes: Math.ceil(column.byteLength / 8) * 8 }));
  const memory = new SharedArrayBuffer(places.reduce((sum, { bytes }) => sum + bytes, 0));
  let start = 0;
  const copies = places.map(({ name, column, bytes }) => {
    const Column = column.constructor as typeof Int32Array;
    const copy = new Column(memory, start, column.length);
    copy.set(column);
    start += bytes;
    return [name, copy];
  });
  return { ...lines, ...Object.fromEntries(copies), offsets };
}

/**
 * Returns planned lines with time reversed: the last item comes first, arrivals become departures. The latest departure is then
 * found by a search for the earliest arrival. Item `n` of a column was the `n`th from its end.
 */
export function mirrorLines(lines: Lines): Lines {
  const { firstCall, firstRun, lineOfRun, lineCount, offsets, starts, nextRuns, usable } = lines;
  const runCount = starts.length;
  const mirrorStarts = (first: Int32Array) =>
    first.map((_, index) => (first.at(-1) as number) - (first[first.length - 1 - index] as number));
  // Loops, because functions called for each item take twice as long.
  const mirroredRuns = {
    starts: new Int32Array(runCount),
    arrivals: new Int32Array(runCount),
    departures: new Int32Array(runCount),
    lineOfRun: new Int32Array(runCount),
    nextRuns: new Int32Array(runCount).fill(-1),
  };
  for (let run = 0; run < runCount; run++) {
    const mirrored = runCount - 1 - run;
    const line = lineOfRun[run] as number;
    const next = nextRuns[run] as number;
    const end = offsets.length - ((firstCall[line + 1] as number) - (firstCall[line] as number));
    mirroredRuns.starts[mirrored] = -(starts[run] as number);
    mirroredRuns.arrivals[mirrored] = end - (lines.departures[run] as number);
    mirroredRuns.departures[mirrored] = end - (lines.arrivals[run] as number);
    mirroredRuns.lineOfRun[mirrored] = lineCount - 1 - line;
    if (next >= 0) mirroredRuns.nextRuns[runCount - 1 - next] = mirrored;
  }
  const mirroredFlags = lines.flags.toReversed();
  for (let call = 0; call < mirroredFlags.length; call++) {
    const flag = mirroredFlags[call] as number;
    const actions = (flag & MAY_BOARD ? MAY_ALIGHT : 0) | (flag & MAY_ALIGHT ? MAY_BOARD : 0);
    const booked = (flag & BOOK_TO_BOARD ? BOOK_TO_ALIGHT : 0) | (flag & BOOK_TO_ALIGHT ? BOOK_TO_BOARD : 0);
    mirroredFlags[call] = actions | booked;
  }
  const hops = new Uint16Array(lines.hops.length);
  hops.set(lines.hops.toReversed().subarray(1));
  const mirrored: Lines = {
    ...lines,
    ...mirroredRuns,
    modes: lines.modes.toReversed(),
    firstCall: mirrorStarts(firstCall),
    stops: lines.stops.toReversed(),
    flags: mirroredFlags,
    hops,
    firstRun: mirrorStarts(firstRun),
    offsets: mirrorOffsets(offsets),
    trips: lines.trips.toReversed(),
    days: lines.days.toReversed(),
    usable: usable?.toReversed() ?? null,
  };
  return { ...mirrored, ...listVisits(mirrored) };
}

/**
 * Frees and empties all columns, except the timetable's offsets and the columns that `others` or other threads use. The garbage
 * collector would wait until dozens of megabytes of old columns have gathered.
 */
export function freeLines(lines: Lines, ...others: readonly (Lines | null)[]): void {
  const shared = new Set<unknown>(others.flatMap((other) => (other ? Object.values(other) : [])));
  const columns = Object.values({ ...lines, ...lines.live, offsets: null });
  freeColumns(columns.filter((column) => !shared.has(column)));
  if (lines.live) freeColumns([lines.live.offsets]);
}

/** Frees the memory of columns of this thread, and makes them empty. */
export function freeColumns(columns: readonly unknown[]): void {
  for (const column of columns) {
    const buffer = ArrayBuffer.isView(column) ? column.buffer : null;
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

/** A list of numbers in a typed array. It is grown and cut to length in place, so that no old arrays are left. */
function createColumn<Column extends Int32Array<ArrayBuffer> | Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(
  Type: { new (length: number): Column; new (buffer: ArrayBuffer): Column },
  capacity: number,
) {
  let values = new Type(capacity);
  let length = 0;
  const resize = (size: number) => {
    values = new Type(values.buffer.transfer(size * values.BYTES_PER_ELEMENT));
  };
  return {
    push(value: number): void {
      if (length === values.length) resize(length + (length >> 1) + 16);
      values[length++] = value;
    },
    append(more: ArrayLike<number>): void {
      const end = length + more.length;
      if (end > values.length) resize(end + (end >> 1) + 16);
      values.set(more, length);
      length = end;
    },
    get length() {
      return length;
    },
    finish(): Column {
      resize(length);
      return values;
    },
  };
}

/**
 * Collects runs, one list of stops at a time, and splits them into lines. `capacity` is about how many runs and calls there will be.
 */
export function createDraft(offsets: ArrayLike<number>, capacity = { runs: 0, calls: 0 }) {
  const runs = {
    trip: createColumn(Int32Array, capacity.runs),
    day: createColumn(Int8Array, capacity.runs),
    start: createColumn(Int32Array, capacity.runs),
    arrivals: createColumn(Int32Array, capacity.runs),
    departures: createColumn(Int32Array, capacity.runs),
    source: createColumn(Int32Array, capacity.runs),
  };
  const lines = {
    modes: createColumn(Uint8Array, 0),
    firstCall: createColumn(Int32Array, 0),
    stops: createColumn(Int32Array, capacity.calls),
    flags: createColumn(Uint8Array, capacity.calls),
    firstRun: createColumn(Int32Array, 0),
  };
  lines.firstCall.push(0);
  lines.firstRun.push(0);
  /** The runs added since the last line was closed, and how many there were before them. */
  let added: DraftRun[] = [];
  let addedBefore = 0;

  return {
    addRun(run: DraftRun): void {
      added.push(run);
    },
    /**
     * Makes lines from the runs added since the last `closeLines`. Runs that start at least `safeSeconds` apart are known not to
     * overtake each other.
     */
    closeLines(
      stops: ArrayLike<number>,
      flags: ArrayLike<number>,
      mode: number,
      safeSeconds = Number.POSITIVE_INFINITY,
    ): void {
      for (const line of splitLines(offsets, added, stops.length, safeSeconds)) {
        for (const index of line) {
          const run = added[index] as DraftRun;
          runs.trip.push(run.trip);
          runs.day.push(run.day);
          runs.start.push(run.start);
          runs.arrivals.push(run.arrivals);
          runs.departures.push(run.departures);
          runs.source.push(addedBefore + index);
        }
        lines.stops.append(stops);
        lines.flags.append(flags);
        lines.modes.push(mode);
        lines.firstCall.push(lines.stops.length);
        lines.firstRun.push(runs.trip.length);
      }
      addedBefore += added.length;
      added = [];
    },
    /** `sources` has, for each run of the lines, its place in the order of `addRun`. */
    finish(stopCount: number): Lines & { sources: Int32Array } {
      const runCount = runs.trip.length;
      const firstRun = lines.firstRun.finish();
      const lineCount = lines.modes.length;
      const lineOfRun = new Int32Array(runCount);
      for (let line = 0; line < lineCount; line++) lineOfRun.fill(line, firstRun[line], firstRun[line + 1]);
      const finished = {
        stopCount,
        lineCount,
        modes: lines.modes.finish(),
        firstCall: lines.firstCall.finish(),
        stops: lines.stops.finish(),
        flags: lines.flags.finish(),
        firstRun,
        starts: runs.start.finish(),
        arrivals: runs.arrivals.finish(),
        departures: runs.departures.finish(),
        offsets: offsets as Int32Array,
        lineOfRun,
        nextRuns: new Int32Array(runCount).fill(-1),
        trips: runs.trip.finish(),
        days: runs.day.finish(),
        runCount,
        plannedLines: lineCount,
        plannedRuns: runCount,
        usable: null,
        live: null,
      };
      return { ...finished, hops: buildHops(finished), ...listVisits(finished), sources: runs.source.finish() };
    },
  };
}

/** Splits runs with the same stops into lines in which none overtakes another. Returns their indices, by start. */
function splitLines(
  offsets: ArrayLike<number>,
  runs: readonly DraftRun[],
  count: number,
  safeSeconds: number,
): readonly number[][] {
  const isLater = (ahead: number, laterTime: number, earlierTime: number) => {
    if (laterTime === earlierTime) return false;
    for (let index = 0; index < count; index++) {
      if (ahead + (offsets[laterTime + index] as number) < (offsets[earlierTime + index] as number)) return true;
    }
    return false;
  };
  const overtakes = (later: DraftRun, earlier: DraftRun) => {
    const ahead = later.start - earlier.start;
    if (ahead >= safeSeconds) return false;
    return isLater(ahead, later.arrivals, earlier.arrivals) || isLater(ahead, later.departures, earlier.departures);
  };
  const startOf = (index: number) => (runs[index] as DraftRun).start;
  const byStart = Array.from(runs, (_, index) => index);
  // Sorting takes as long as the rest, and most runs are in order.
  if (runs.some(({ start }, index) => index > 0 && start < startOf(index - 1))) {
    byStart.sort((a, b) => startOf(a) - startOf(b));
  }
  const lines: number[][] = [];
  for (const index of byStart) {
    const run = runs[index] as DraftRun;
    const line = lines.find((known) => !overtakes(run, runs[known.at(-1) as number] as DraftRun));
    if (line) line.push(index);
    else lines.push([index]);
  }
  return lines;
}

/** The least time between calls, over all runs of a line. Consecutive runs with the same times are read once. */
function buildHops(lines: LinesAlone) {
  const { stops, firstCall, firstRun, arrivals, departures, offsets } = lines;
  const hops = new Uint16Array(stops.length).fill(0xffff);
  for (let line = 0; line + 1 < firstCall.length; line++) {
    const first = firstCall[line] as number;
    const last = (firstCall[line + 1] as number) - 1;
    for (let run = firstRun[line] as number, end = firstRun[line + 1] as number; run < end; run++) {
      const [leaves, arrives] = [departures[run] as number, (arrivals[run] as number) + 1];
      if (
        run > (firstRun[line] as number) &&
        leaves === departures[run - 1] &&
        arrives === (arrivals[run - 1] as number) + 1
      )
        continue;
      for (let call = first; call < last; call++) {
        const seconds = (offsets[arrives + call - first] as number) - (offsets[leaves + call - first] as number);
        if (seconds < (hops[call] as number)) hops[call] = Math.max(0, seconds);
      }
    }
    hops[last] = 0;
  }
  return hops;
}

function listVisits({ stops, firstCall, stopCount }: LinesAlone) {
  const firstVisit = new Int32Array(stopCount + 1);
  for (let call = 0; call < stops.length; call++) {
    const next = (stops[call] as number) + 1;
    firstVisit[next] = (firstVisit[next] as number) + 1;
  }
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
