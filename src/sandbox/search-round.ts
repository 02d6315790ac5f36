import type { Footpaths } from './footpath.ts';
import type { NetworkIndex, PatternNode } from './network-index.ts';
import { type Run, runAt } from './run.ts';
import { firstRunFrom, type RunList, type Timetable } from './timetable.ts';

/** What a search runs on and may use. */
export interface Search {
  index: NetworkIndex;
  timetable: Timetable;
  footpaths: Footpaths;
  /** Lines that may be used. */
  isWanted: (pattern: PatternNode) => boolean;
  /** Runs that carry nobody. */
  isCut: (run: Run) => boolean;
}

/** One round: what it reached better than all rounds before it. Ticks; infinite where it did not. */
export interface Round {
  /** When a ride ends at the point. */
  arrived: Float64Array;
  /** When a ride can begin at the point, the change included. */
  ready: Float64Array;
  /** The point whence one walked to be ready. */
  walkedFrom: Int32Array;
  /** The ride by which one arrived. */
  pattern: Int32Array;
  position: Int32Array;
  boarded: Int32Array;
  alighted: Int32Array;
}

export function emptyRound(size: number): Round {
  return {
    arrived: new Float64Array(size).fill(Infinity),
    ready: new Float64Array(size).fill(Infinity),
    walkedFrom: new Int32Array(size).fill(-1),
    pattern: new Int32Array(size).fill(-1),
    position: new Int32Array(size).fill(-1),
    boarded: new Int32Array(size).fill(-1),
    alighted: new Int32Array(size).fill(-1),
  };
}

/** Every wanted pattern that calls at a marked point, with the first such call in the order of search. */
export function patternsFrom(search: Search, marked: ReadonlySet<number>, sign: number): Map<PatternNode, number> {
  const patterns = new Map<PatternNode, number>();
  for (const point of marked) {
    for (const { pattern, call } of search.index.points[point]?.calls ?? []) {
      const step = sign > 0 ? call : pattern.points.length - 1 - call;
      const known = patterns.get(pattern);
      if (known !== undefined ? step < known : search.isWanted(pattern)) patterns.set(pattern, step);
    }
  }
  return patterns;
}

/**
 * Rides one pattern from its first step on, always in the run that comes first, and reports every call one gets to.
 * Runs of a pattern never overtake each other, so an earlier one is never the worse one.
 */
export function ridePattern(
  search: Search,
  pattern: PatternNode,
  firstStep: number,
  sign: number,
  before: Round,
  arrive: (point: number, tick: number, position: number, boarded: number, alighted: number) => void,
): void {
  const list = search.timetable(pattern);
  const length = pattern.points.length;
  let position = -1;
  let boarded = -1;
  for (let step = firstStep; step < length; step++) {
    const call = sign > 0 ? step : length - 1 - step;
    const point = pattern.points[call]?.index ?? 0;
    const offset = pattern.offsetSeconds[call] ?? 0;
    let tick = Infinity;
    if (position >= 0) {
      tick = sign * ((list.starts[position] ?? 0) + offset);
      arrive(point, tick, position, boarded, call);
    }
    const ready = before.ready[point] ?? Infinity;
    if (ready <= tick && ready < Infinity) {
      const earlier = nextPosition(search, pattern, list, sign * ready - offset, sign);
      if (earlier >= 0 && (position < 0 || sign * (earlier - position) < 0)) {
        position = earlier;
        boarded = call;
      }
    }
  }
}

/** The next run in the order of search that starts no sooner than `startSeconds` and carries people; -1 for none. */
function nextPosition(search: Search, pattern: PatternNode, list: RunList, startSeconds: number, sign: number): number {
  const length = list.starts.length;
  let position = sign > 0 ? firstRunFrom(list, startSeconds) : firstRunFrom(list, startSeconds + 1) - 1;
  while (position >= 0 && position < length && search.isCut(runAt(pattern, list, position))) position += sign;
  return position < length ? position : -1;
}

/** Walks and changes from the points just reached; returns the points from which the next round may ride. */
export function walkOn(
  search: Search,
  reached: ReadonlySet<number>,
  round: Round,
  bestReady: Float64Array,
  bestEnd: number,
): Set<number> {
  const marked = new Set<number>();
  for (const from of reached) {
    const node = search.index.points[from];
    if (node === undefined) continue;
    for (const { to, seconds } of search.footpaths(node)) {
      const ready = (round.arrived[from] ?? Infinity) + seconds;
      if (ready >= (bestReady[to.index] ?? 0) || ready >= bestEnd) continue;
      bestReady[to.index] = ready;
      round.ready[to.index] = ready;
      round.walkedFrom[to.index] = from;
      marked.add(to.index);
    }
  }
  return marked;
}
