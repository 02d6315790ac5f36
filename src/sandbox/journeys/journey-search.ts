import type { NetworkIndex, PatternNode, PointNode } from '../network/network-index.ts';
import { type Run, runAt } from '../timetable/run.ts';
import { firstRunFrom, type RunList, type Timetable } from '../timetable/timetable.ts';
import { footpathsFrom } from './footpath.ts';

/*
 * Earliest arrival by rounds, as in RAPTOR: round n takes one more ride from every point reached with n-1 rides.
 * Planned times only. Searching backward finds the latest departure with the same code: times are negated ("ticks"),
 * and patterns are read from their last call. Footpaths take equally long in both directions.
 */

export interface Ride {
  run: Run;
  fromCall: number;
  toCall: number;
}

/** A point where the search may start or end, and the walk between that point and the endpoint. */
export interface Entrance {
  point: PointNode;
  walkSeconds: number;
}

/** `forward` from a departure time to the earliest arrival, `backward` from an arrival time to the latest departure. */
export type Direction = 'forward' | 'backward';

export interface Found {
  /** Forward, the arrival at the destination; backward, the departure from the origin. */
  endSeconds: number;
  /** At least one, in order of travel. */
  rides: Ride[];
  /** The entrances used, in order of travel. */
  first: Entrance;
  last: Entrance;
}

const MOST_RIDES = 7;

/**
 * The best way with one ride, with two rides and so on, as long as one more ride makes it better. So the last one ends
 * earliest (backward: latest). Empty when there is no way before `limitSeconds`.
 */
export function searchRounds(
  search: Search,
  direction: Direction,
  startSeconds: number,
  starts: readonly Entrance[],
  goals: readonly Entrance[],
  limitSeconds: number,
): Found[] {
  const sign = direction === 'forward' ? 1 : -1;
  const size = search.index.points.length;
  const bestArrived = new Float64Array(size).fill(Infinity);
  const bestReady = new Float64Array(size).fill(Infinity);
  const goalWalk = new Float64Array(size).fill(Infinity);
  for (const goal of goals) goalWalk[goal.point.index] = goal.walkSeconds;

  const rounds: Round[] = [emptyRound(size)];
  let marked = new Set<number>();
  for (const start of starts) {
    const i = start.point.index;
    const ready = sign * startSeconds + start.walkSeconds;
    if (ready >= (bestReady[i] ?? Infinity)) continue;
    bestReady[i] = ready;
    (rounds[0] as Round).ready[i] = ready;
    marked.add(i);
  }

  const found: Found[] = [];
  let bestEnd = sign * limitSeconds;
  for (let rides = 1; rides <= MOST_RIDES && marked.size > 0; rides++) {
    const before = rounds[rides - 1] as Round;
    const round = emptyRound(size);
    rounds.push(round);
    const reached = new Set<number>();
    let end: { tick: number; point: number } | undefined;
    for (const [pattern, firstStep] of patternsFrom(search, marked, sign)) {
      ridePattern(search, pattern, firstStep, sign, before, (point, tick, position, boarded, alighted) => {
        if (tick >= (bestArrived[point] ?? 0) || tick >= bestEnd) return;
        bestArrived[point] = tick;
        round.arrived[point] = tick;
        round.pattern[point] = pattern.index;
        round.position[point] = position;
        round.boarded[point] = boarded;
        round.alighted[point] = alighted;
        reached.add(point);
        const atGoal = tick + (goalWalk[point] ?? Infinity);
        if (atGoal < bestEnd) {
          bestEnd = atGoal;
          end = { tick: atGoal, point };
        }
      });
    }
    if (end !== undefined) found.push(traced(search, direction, rounds, rides, end, starts, goals));
    marked = walkOn(search, reached, round, bestReady, bestEnd);
  }
  return found;
}

function traced(
  search: Search,
  direction: Direction,
  rounds: readonly Round[],
  count: number,
  end: { tick: number; point: number },
  starts: readonly Entrance[],
  goals: readonly Entrance[],
): Found {
  const rides: Ride[] = [];
  let point = end.point;
  for (let n = count; n >= 1; n--) {
    const round = rounds[n] as Round;
    const pattern = search.index.patterns[round.pattern[point] ?? 0] as PatternNode;
    const run = runAt(pattern, search.timetable(pattern), round.position[point] ?? 0);
    const boarded = round.boarded[point] ?? 0;
    const alighted = round.alighted[point] ?? 0;
    if (direction === 'forward') rides.unshift({ run, fromCall: boarded, toCall: alighted });
    else rides.push({ run, fromCall: alighted, toCall: boarded });
    point = pattern.points[boarded]?.index ?? 0;
    if (n > 1) point = (rounds[n - 1] as Round).walkedFrom[point] ?? 0;
  }
  const start = bestEntrance(starts, point);
  const goal = bestEntrance(goals, end.point);
  return direction === 'forward'
    ? { endSeconds: end.tick, rides, first: start, last: goal }
    : { endSeconds: -end.tick, rides, first: goal, last: start };
}

function bestEntrance(entrances: readonly Entrance[], point: number): Entrance {
  const there = entrances.filter((entrance) => entrance.point.index === point);
  return there.reduce((best, entrance) => (entrance.walkSeconds < best.walkSeconds ? entrance : best));
}

/** The network and timetable of a search, and what the search may use of them. */
export interface Search {
  index: NetworkIndex;
  timetable: Timetable;
  /** Whether the search may use the pattern. */
  isWanted: (pattern: PatternNode) => boolean;
  /** Whether the run is cancelled, in whole or at a call. */
  isCut: (run: Run) => boolean;
}

/** The points that one round reached better than all rounds before it. Ticks; infinite for all other points. */
type Round = ReturnType<typeof emptyRound>;

function emptyRound(size: number) {
  const ticks = () => new Float64Array(size).fill(Infinity);
  const numbers = () => new Int32Array(size).fill(-1);
  return {
    /** When the best ride arrives at the point. */
    arrived: ticks(),
    /** When the next ride can begin at the point, after the change. */
    ready: ticks(),
    /** The point at which the ride before that change ended. */
    walkedFrom: numbers(),
    /* The ride that arrived: its pattern, the run's position in the timetable, the calls at its two ends. */
    pattern: numbers(),
    position: numbers(),
    boarded: numbers(),
    alighted: numbers(),
  };
}

/** Every wanted pattern that calls at a marked point, with its first such call in the direction of the search. */
function patternsFrom(search: Search, marked: ReadonlySet<number>, sign: number): Map<PatternNode, number> {
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
function ridePattern(
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
function walkOn(
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
    for (const { to, seconds } of footpathsFrom(search.index, node)) {
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
