import { MAY_ALIGHT, MAY_BOARD } from '../../timetable/call-flags.ts';
import { callAt, type Footpaths, type Lines, lastPosition } from './lines.ts';

/** A time that does not fit, or no way to the destination. */
const FAR = 0xffff;
/** Rows cover this many seconds more than the search needs, for later searches to the same destination. */
const SPARE_SECONDS = 2 * 3600;

/**
 * By number of rides left and stop, the least seconds to the destination: for a rider who has alighted there, and for one who can
 * board there. All searches in one direction use the same rows, one at a time.
 */
export interface TimeLeftRows {
  alighted: Uint16Array<ArrayBuffer>[];
  ready: Uint16Array<ArrayBuffer>[];
  /** What the rows lead to. */
  of: Target | null;
}

/** The stops where journeys end, and how riders change on the way. */
export interface Target {
  egress: readonly { stop: number; seconds: number }[];
  changeSeconds: number;
  footpaths: Footpaths;
}

/**
 * Finds the least time to a destination at any time of day: a search backwards along all lines, each at its fastest and without
 * waiting. A label that is too late even so is dropped. Rows are made round by round, because few stops have a direct line.
 */
export function createTimeLeft(lines: Lines, rows: TimeLeftRows) {
  const { alighted, ready } = rows;
  const { stopCount, firstCall, stops, flags, hops } = lines;
  let target: Target = { egress: [], changeSeconds: 0, footpaths: NO_FOOTPATHS };
  /** By row, the time from which on it has no times. */
  const horizons: number[] = [];
  /** That of the row which is made. */
  let horizon = FAR;
  /** The least number of rides from a line to the destination, with itself; 0 if it is not in the rows. */
  const rides = new Uint8Array(lines.modes.length);
  /** For each line, those as which its vehicles came. */
  let previous = new Map<number, Continuation[]>();
  /** Whether vehicles of a line continue as another one. */
  const continues = new Uint8Array(lines.modes.length);
  /** The least time left at the end of a line whose vehicles continue. */
  const onward = new Uint16Array(lines.modes.length);
  /** The position from which a line in the queue is followed; -1 for other lines. */
  const furthest = new Int32Array(lines.modes.length).fill(-1);
  const queue: number[] = [];
  const isMarked = new Uint8Array(stopCount);
  const marked: number[] = [];

  /** Reads the lines again, after they have changed. */
  function refresh(): void {
    previous = listContinuations(lines);
    continues.fill(0);
    for (const all of previous.values()) for (const { line } of all) continues[line] = 1;
    horizons.length = 0;
  }

  refresh();
  return { begin, refresh, extend, rides, continues };

  /** The rows for the same destination are kept. */
  function begin(next: Target): void {
    const { egress, changeSeconds, footpaths } = target;
    if (next.egress === egress && next.changeSeconds === changeSeconds && next.footpaths === footpaths) return;
    target = next;
    horizons.length = 0;
  }

  /** Makes the rows for so many rides left and times up to `seconds`. */
  function extend(rideCount: number, seconds: number): void {
    const needed = Math.min(FAR, seconds);
    const isComplete = horizons.every((known, row) => row > rideCount || known >= needed);
    if (horizons.length === 0 || !isComplete || rows.of !== target) startRows();
    horizon = Math.min(FAR, needed + SPARE_SECONDS);
    while (horizons.length <= rideCount) addRow(horizons.length);
  }

  function rowOf(column: Uint16Array<ArrayBuffer>[], index: number): Uint16Array<ArrayBuffer> {
    column[index] ??= new Uint16Array(stopCount);
    return column[index];
  }

  function startRows(): void {
    const row = rowOf(alighted, 0).fill(FAR);
    rowOf(ready, 0).fill(FAR);
    for (const { stop, seconds } of target.egress) row[stop] = Math.min(seconds, row[stop] as number);
    rides.fill(0);
    onward.fill(FAR);
    rows.of = target;
    horizons.length = 0;
    horizons.push(FAR);
  }

  function addRow(row: number): void {
    const before = alighted[row - 1] as Uint16Array<ArrayBuffer>;
    const beforeThat = row > 1 ? (alighted[row - 2] as Uint16Array) : null;
    const boarding = rowOf(ready, row);
    boarding.set(ready[row - 1] as Uint16Array);
    for (let stop = 0; stop < stopCount; stop++) {
      const seconds = before[stop] as number;
      if (seconds < (beforeThat ? (beforeThat[stop] as number) : FAR)) enqueueVisits(stop);
    }
    // Lines whose vehicles continue as these are added at the end.
    for (let at = 0; at < queue.length; at++) followBack(queue[at] as number, row, before, boarding);
    queue.length = 0;
    const after = rowOf(alighted, row);
    after.set(before);
    walkBack(boarding, after);
    horizons.push(horizon);
  }

  function enqueueVisits(stop: number): void {
    for (const { firstVisit, visits } of lines.live ? [lines, lines.live] : [lines]) {
      for (let at = firstVisit[stop] as number, end = firstVisit[stop + 1] as number; at < end; at++) {
        enqueue(visits[at * 2] as number, visits[at * 2 + 1] as number);
      }
    }
  }

  function enqueue(line: number, position: number): void {
    const known = furthest[line] as number;
    if (known < 0) queue.push(line);
    if (known < position) furthest[line] = position;
  }

  /** Goes along a line from its last call where riders may alight for the destination to its first one. */
  function followBack(line: number, row: number, before: Uint16Array, boarding: Uint16Array): void {
    const first = firstCall[line] as number;
    let call = first + (furthest[line] as number);
    let left = call + 1 === firstCall[line + 1] ? (onward[line] as number) : FAR;
    furthest[line] = -1;
    let leadsThere = false;
    for (; call > first; call--) {
      const alightHere = before[stops[call] as number] as number;
      if (alightHere < left && (flags[call] as number) & MAY_ALIGHT) left = alightHere;
      left += hops[call - 1] as number;
      if (left >= horizon) continue;
      leadsThere = true;
      if (!((flags[call - 1] as number) & MAY_BOARD)) continue;
      const stop = stops[call - 1] as number;
      if (left >= (boarding[stop] as number)) continue;
      boarding[stop] = left;
      mark(stop);
    }
    if (leadsThere) rides[line] ||= row;
    if (left >= horizon) return;
    for (const { line: other, seconds } of previous.get(line) ?? []) {
      const atEnd = Math.max(0, left + seconds);
      if (atEnd >= (onward[other] as number)) continue;
      onward[other] = atEnd;
      enqueue(other, (firstCall[other + 1] as number) - (firstCall[other] as number) - 1);
    }
  }

  function mark(stop: number): void {
    if (isMarked[stop]) return;
    isMarked[stop] = 1;
    marked.push(stop);
  }

  /** From the stops where a ride begins, the rider comes from another ride there or on foot. */
  function walkBack(boarding: Uint16Array, after: Uint16Array): void {
    const { changeSeconds, footpaths } = target;
    const { first, targets, seconds } = footpaths;
    for (const stop of marked) {
      isMarked[stop] = 0;
      const left = boarding[stop] as number;
      const change = left + changeSeconds;
      if (change >= horizon) continue;
      if (change < (after[stop] as number)) after[stop] = change;
      for (let at = first[stop] as number, end = first[stop + 1] as number; at < end; at++) {
        const walk = left + Math.max(changeSeconds, seconds[at] as number);
        const other = targets[at] as number;
        if (walk < horizon && walk < (after[other] as number)) after[other] = walk;
      }
    }
    marked.length = 0;
  }
}

const NO_FOOTPATHS: Footpaths = { first: new Int32Array(1), targets: new Int32Array(0), seconds: new Int32Array(0) };

/** A line whose vehicles continue as another one, at least so many seconds after its end; less than 0 if it is late. */
interface Continuation {
  line: number;
  seconds: number;
}

function listContinuations(lines: Lines): Map<number, Continuation[]> {
  const { nextRuns, runCount, lineOfRun } = lines;
  const previous = new Map<number, Continuation[]>();
  for (let run = 0; run < runCount; run++) {
    const next = nextRuns[run] as number;
    if (next < 0) continue;
    const [line, nextLine] = [lineOfRun[run] as number, lineOfRun[next] as number];
    const seconds = callAt(lines, next, 0).departsAt - callAt(lines, run, lastPosition(lines, run)).arrivesAt;
    const all = previous.get(nextLine) ?? [];
    previous.set(nextLine, all);
    const known = all.find((one) => one.line === line);
    if (known) known.seconds = Math.min(known.seconds, seconds);
    else all.push({ line, seconds });
  }
  return previous;
}
