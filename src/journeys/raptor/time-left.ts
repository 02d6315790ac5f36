import { MAY_ALIGHT, MAY_BOARD } from '../../timetable/call-flags.ts';
import { callAt, type Footpaths, type Lines, lastPosition } from './lines.ts';
import type { Window } from './window.ts';

/** The destination cannot be reached with the rides left. */
export const FAR = 0xffff;
/** The longest time that fits; longer ones count as this. */
export const LONG = 0xfffe;

/**
 * The least seconds to the destination, by number of rides left. `alighted` is by stop, for a rider who has alighted there;
 * `ready` by stop, for one who can board there; `aboard` by call, for one who leaves it on board. All searches in one direction
 * use the same rows, one at a time.
 */
export interface TimeLeftRows {
  alighted: Uint16Array<ArrayBuffer>[];
  ready: Uint16Array<ArrayBuffer>[];
  aboard: Uint16Array<ArrayBuffer>[];
  /** The destination for which the rows were made. */
  of: Target | null;
}

/** The stops where journeys end, and how riders change on the way. */
export interface Target {
  egress: readonly { stop: number; seconds: number }[];
  changeSeconds: number;
  footpaths: Footpaths;
}

/**
 * Finds lower bounds of the time to a destination that hold throughout the window: a search backwards along all lines that run
 * then, each at its fastest and without waiting. Searches drop a label that would be too late even so. Each round only follows the
 * lines at stops that the round before improved, which are few.
 */
export function createTimeLeft(lines: Lines, rows: TimeLeftRows, window: Window) {
  const { alighted, ready, aboard } = rows;
  const { stopCount, firstCall, stops, flags, hops } = lines;
  let target: Target = { egress: [], changeSeconds: 0, footpaths: NO_FOOTPATHS };
  /** The number of rows made for `target`. */
  let count = 0;
  /** The `window.opened` for which the rows were made. */
  let opened = 0;
  /** For each line, those whose vehicles continue as it. */
  let previous = new Map<number, Continuation[]>();
  /** Whether vehicles of a line continue as another one. */
  const continues = new Uint8Array(lines.modes.length);
  /** The least time left at the end of a line whose vehicles continue. */
  const onward = new Uint16Array(lines.modes.length);
  /** The call from which a line in the queue is followed back; -1 for other lines. */
  const furthest = new Int32Array(lines.modes.length).fill(-1);
  const queue: number[] = [];
  const isMarked = new Uint8Array(stopCount);
  const marked: number[] = [];
  const isImproved = new Uint8Array(stopCount);
  /** The stops where a rider who alights has less time left than with fewer rides. */
  let improved: number[] = [];

  /** Reads the lines again, after they have changed. */
  function refresh(): void {
    previous = listContinuations(lines);
    continues.fill(0);
    for (const all of previous.values()) for (const { line } of all) continues[line] = 1;
    count = 0;
  }

  refresh();
  return { begin, refresh, extend, continues };

  /** Sets the destination. If it is the same as before, the rows are kept. */
  function begin(next: Target): void {
    const { egress, changeSeconds, footpaths } = target;
    if (next.egress === egress && next.changeSeconds === changeSeconds && next.footpaths === footpaths) return;
    target = next;
    count = 0;
  }

  /** Makes the rows for up to this many rides left, in the open window. */
  function extend(rideCount: number): void {
    if (count === 0 || rows.of !== target || window.opened !== opened) startRows();
    for (; count <= rideCount; count++) addRow(count);
  }

  function rowOf(column: Uint16Array<ArrayBuffer>[], index: number, length = stopCount): Uint16Array<ArrayBuffer> {
    if (column[index]?.length !== length) column[index] = new Uint16Array(length);
    return column[index] as Uint16Array<ArrayBuffer>;
  }

  function startRows(): void {
    opened = window.opened;
    const row = rowOf(alighted, 0).fill(FAR);
    rowOf(ready, 0).fill(FAR);
    rowOf(aboard, 0, stops.length).fill(FAR);
    forget();
    for (const { stop, seconds } of target.egress) {
      row[stop] = Math.min(seconds, row[stop] as number);
      improve(stop);
    }
    onward.fill(FAR);
    rows.of = target;
    count = 1;
  }

  function addRow(row: number): void {
    const before = alighted[row - 1] as Uint16Array<ArrayBuffer>;
    const boarding = rowOf(ready, row);
    const after = rowOf(alighted, row);
    const riding = rowOf(aboard, row, stops.length);
    boarding.set(ready[row - 1] as Uint16Array);
    after.set(before);
    riding.set(aboard[row - 1] as Uint16Array);
    for (const stop of improved) enqueueVisits(stop);
    forget();
    // `followBack` appends the lines whose vehicles continue as this one.
    for (let at = 0; at < queue.length; at++) followBack(queue[at] as number, before, boarding, riding);
    queue.length = 0;
    walkBack(boarding, after);
  }

  function improve(stop: number): void {
    if (isImproved[stop]) return;
    isImproved[stop] = 1;
    improved.push(stop);
  }

  function forget(): void {
    for (const stop of improved) isImproved[stop] = 0;
    improved = [];
  }

  function enqueueVisits(stop: number): void {
    const end = window.list(stop);
    const { first, items } = window.visits;
    for (let at = first[stop] as number; at < end; at += 2) enqueue(items[at] as number, items[at + 1] as number);
  }

  function enqueue(line: number, call: number): void {
    const known = furthest[line] as number;
    if (known < 0) queue.push(line);
    if (known < call) furthest[line] = call;
  }

  /** Follows a line back to its first call, from the last one where riders alight for the destination. */
  function followBack(line: number, before: Uint16Array, boarding: Uint16Array, riding: Uint16Array): void {
    const first = firstCall[line] as number;
    let call = furthest[line] as number;
    if (call + 1 === firstCall[line + 1]) riding[call] = Math.min(onward[line] as number, riding[call] as number);
    let left = riding[call] as number;
    furthest[line] = -1;
    for (; call > first; call--) {
      const alightHere = before[stops[call] as number] as number;
      if (alightHere < left && (flags[call] as number) & MAY_ALIGHT) left = alightHere;
      if (left < LONG) left = Math.min(left + (hops[call - 1] as number), LONG);
      const known = riding[call - 1] as number;
      if (left >= known) {
        left = known;
        continue;
      }
      riding[call - 1] = left;
      if (!((flags[call - 1] as number) & MAY_BOARD)) continue;
      const stop = stops[call - 1] as number;
      if (left >= (boarding[stop] as number)) continue;
      boarding[stop] = left;
      mark(stop);
    }
    if (left >= FAR) return;
    for (const { line: other, seconds } of previous.get(line) ?? []) {
      const atEnd = Math.max(0, Math.min(left + seconds, LONG));
      if (atEnd >= (onward[other] as number)) continue;
      onward[other] = atEnd;
      enqueue(other, (firstCall[other + 1] as number) - 1);
    }
  }

  function mark(stop: number): void {
    if (isMarked[stop]) return;
    isMarked[stop] = 1;
    marked.push(stop);
  }

  /**
   * Extends the times at stops where a ride begins to the stops where the ride before it may end: the same ones, and those within a
   * walk.
   */
  function walkBack(boarding: Uint16Array, after: Uint16Array): void {
    const { changeSeconds, footpaths } = target;
    const { first, targets, seconds } = footpaths;
    for (const stop of marked) {
      isMarked[stop] = 0;
      const left = boarding[stop] as number;
      const change = Math.min(left + changeSeconds, LONG);
      if (change < (after[stop] as number)) {
        after[stop] = change;
        improve(stop);
      }
      for (let at = first[stop] as number, end = first[stop + 1] as number; at < end; at++) {
        const walk = Math.min(left + Math.max(changeSeconds, seconds[at] as number), LONG);
        const other = targets[at] as number;
        if (walk >= (after[other] as number)) continue;
        after[other] = walk;
        improve(other);
      }
    }
    marked.length = 0;
  }
}

const NO_FOOTPATHS: Footpaths = { first: new Int32Array(1), targets: new Int32Array(0), seconds: new Int32Array(0) };

/**
 * A line whose vehicles continue as another one. `seconds` is the least time from its end to the start of the other; negative if a
 * vehicle is late.
 */
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
