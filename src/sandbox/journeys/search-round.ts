import type { NetworkIndex, PatternNode } from '../network/network-index.ts';
import { type Run, runAt } from '../timetable/run.ts';
import { firstRunFrom, type RunList, type Timetable } from '../timetable/timetable.ts';
import type { Footpaths } from './footpath.ts';

/** The network and timetable of a search, and what the search may use of them. */
export interface Search {
  index: NetworkIndex;
  timetable: Timetable;
  footpaths: Footpaths;
  /** Whether the search may use the pattern. */
  isWanted: (pattern: PatternNode) => boolean;
  /** Whether the run is cancelled, in whole or at a call. */
  isCut: (run: Run) => boolean;
}

/** The points that one round reached better than all rounds before it. Ticks; infinite for all other points. */
export interface Round {
  /** When the best ride arrives at the point. */
  arrived: Float64Array;
  /** When the next ride can begin at the point, after the change. */
  ready: Float64Array;
  /** The point at which the ride before that change ended. */
  walkedFrom: Int32Array;
  /* The ride that arrived: its pattern, the run's position in the timetable, the calls at its two ends. */
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

/** Every wanted pattern that calls at a marked point, with its first such call in the direction of the search. */
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
 * Rides one pattern from `firstStep` on, in the earliest run that can be boarded, and calls `arrive` for every call
 * reached. Runs of a pattern do not overtake each other, so the earliest run is always the best.
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

/**
 * The next run in the direction of the search that starts no sooner than `startSeconds` and is not cut; -1 for none.
 */
function nextPosition(search: Search, pattern: PatternNode, list: RunList, startSeconds: number, sign: number): number {
  const length = list.starts.length;
  let position = sign > 0 ? firstRunFrom(list, startSeconds) : firstRunFrom(list, startSeconds + 1) - 1;
  while (position >= 0 && position < length && search.isCut(runAt(pattern, list, position))) position += sign;
  return position < length ? position : -1;
}

/** Applies the footpaths from the points just reached. Returns the points from which the next round rides. */
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
