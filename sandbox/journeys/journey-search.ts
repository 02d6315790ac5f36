import type { NetworkIndex, PatternNode, PointNode } from '../network/network-index.ts';
import { plannedSeconds, type Run } from '../timetable/run.ts';
import { firstRunFrom, type Timetable } from '../timetable/timetable.ts';
import { footpathsFrom } from './footpath.ts';

/*
 * Finds the earliest arrival in rounds, as in RAPTOR: round n takes one more ride from every point reached with n-1 rides. It
 * uses planned times only. A backward search for the latest departure uses the same code: times are negated ("ticks"), and
 * patterns are read from their last call. Footpaths take equally long in both directions.
 */

/** A ride on one run; the calls are indices in its pattern, in order of travel. */
export interface Ride {
  run: Run;
  fromCall: number;
  toCall: number;
}

/** A point where the search may start or end, with the walk between it and the endpoint. */
export interface Entrance {
  point: PointNode;
  walkSeconds: number;
}

/** What a search returns: the rides, and the entrances where they start and end. Times are epoch seconds. */
export interface Found {
  /** Forward, the arrival at the destination; backward, the departure from the origin. */
  endSeconds: number;
  /** At least one, in order of travel. */
  rides: Ride[];
  /** The entrances used, in order of travel. */
  first: Entrance;
  last: Entrance;
}

/** The network and timetable of a search, and which parts of them it may use. */
export interface Search {
  index: NetworkIndex;
  timetable: Timetable;
  /** Whether the search may use the pattern. */
  isWanted: (pattern: PatternNode) => boolean;
  /** Whether the run is cancelled, entirely or at one call. */
  isCancelled: (run: Run) => boolean;
}

/** A ride that reached a point. `boarded` and `alighted` are calls; in a backward search, the later call is boarded. */
interface Arrival {
  tick: number;
  run: Run;
  boarded: number;
  alighted: number;
}

/** The points that a round reached better than all previous rounds. */
interface Round {
  arrived: Map<PointNode, Arrival>;
  /** The points where the next ride can begin, after the change, each with where the previous ride ended. */
  ready: Map<PointNode, PointNode>;
  /** When it can begin. */
  readyTicks: Ticks;
  /** Where the round reached the destination; absent if it was not better. */
  end?: PointNode;
}

const MAX_RIDES = 7;

/** By index of each point; `Infinity` where the search has not been. */
export type Ticks = Float64Array;

/**
 * Returns the best journey with one ride, with two rides and so on, as long as one more ride improves it. So the last one ends
 * earliest (backward: latest). A forward search leads from a departure time to the earliest arrival, a backward search from an
 * arrival time to the latest departure. Journeys that end after `limitSeconds` (backward: before it) are not found. `ready` is
 * the first tick at which a ride can begin at each point. `bounds` is the `ready` of an earlier search in the other direction:
 * points that it did not reach in time are skipped.
 */
export function searchRounds(
  search: Search,
  direction: 'forward' | 'backward',
  startSeconds: number,
  starts: readonly Entrance[],
  goals: readonly Entrance[],
  limitSeconds: number,
  bounds?: Ticks,
): { journeys: Found[]; ready: Ticks } {
  const sign = direction === 'forward' ? 1 : -1;
  const ticks = () => new Float64Array(search.index.points.length).fill(Infinity);
  const goalWalks = ticks();
  for (const { point, walkSeconds } of goals) goalWalks[point.index] = walkSeconds;
  const bestArrived = ticks();
  const bestReady = ticks();
  const newRound = (): Round => ({ arrived: new Map(), ready: new Map(), readyTicks: ticks() });
  let before = newRound();
  for (const { point, walkSeconds } of starts) {
    const tick = sign * startSeconds + walkSeconds;
    bestReady[point.index] = tick;
    before.readyTicks[point.index] = tick;
    before.ready.set(point, point);
  }

  const rounds = [before];
  const journeys: Found[] = [];
  let bestEnd = sign * limitSeconds;
  while (rounds.length <= MAX_RIDES && before.ready.size > 0) {
    const round = newRound();
    rounds.push(round);
    const arrive = (point: PointNode, tick: number, run: Run, boarded: number, alighted: number) => {
      if (tick >= bestEnd || tick >= at(bestArrived, point)) return;
      // Ticks of the two directions are the same times, negated.
      if (bounds && at(bounds, point) > -tick) return;
      bestArrived[point.index] = tick;
      round.arrived.set(point, { tick, run, boarded, alighted });
      const atGoal = tick + at(goalWalks, point);
      if (atGoal >= bestEnd) return;
      bestEnd = atGoal;
      round.end = point;
    };
    for (const [pattern, firstStep] of patternsFrom(search, before.ready.keys(), sign)) {
      ridePattern(search, pattern, firstStep, sign, before.readyTicks, arrive);
    }
    const { end } = round;
    if (end) {
      const { rides, start } = traceRides(rounds, end, sign);
      const [from, to] = [entranceAt(starts, start), entranceAt(goals, end)];
      const [first, last] = sign > 0 ? [from, to] : [to, from];
      journeys.push({ endSeconds: sign * bestEnd, rides, first, last });
    }
    walkOn(search, round, bestReady, bestEnd);
    before = round;
  }
  return { journeys, ready: bestReady };
}

function at(ticks: Ticks, point: PointNode): number {
  return ticks[point.index] ?? Infinity;
}

function entranceAt(entrances: readonly Entrance[], point: PointNode): Entrance {
  return entrances.find((entrance) => entrance.point === point) as Entrance;
}

/** Follows the rides back from the end point of the last round. */
function traceRides(rounds: readonly Round[], end: PointNode, sign: number): { rides: Ride[]; start: PointNode } {
  const rides: Ride[] = [];
  let point = end;
  for (let n = rounds.length - 1; n >= 1; n--) {
    const { run, boarded, alighted } = (rounds[n] as Round).arrived.get(point) as Arrival;
    if (sign > 0) rides.unshift({ run, fromCall: boarded, toCall: alighted });
    else rides.push({ run, fromCall: alighted, toCall: boarded });
    const boardedAt = run.pattern.points[boarded] as PointNode;
    point = rounds[n - 1]?.ready.get(boardedAt) ?? boardedAt;
  }
  return { rides, start: point };
}

/** Returns every usable pattern that calls at one of the points, with its first such call in the direction of the search. */
function patternsFrom(search: Search, points: Iterable<PointNode>, sign: number): Map<PatternNode, number> {
  const patterns = new Map<PatternNode, number>();
  for (const { calls } of points) {
    for (const { pattern, call } of calls) {
      const step = sign > 0 ? call : pattern.points.length - 1 - call;
      const entry = patterns.get(pattern);
      if (entry !== undefined ? step < entry : search.isWanted(pattern)) patterns.set(pattern, step);
    }
  }
  return patterns;
}

/**
 * Rides one pattern from `firstStep` on, in the earliest run that can be boarded, to every call that it reaches. Runs of a
 * pattern do not overtake each other, so the earliest run is always the best.
 */
function ridePattern(
  search: Search,
  pattern: PatternNode,
  firstStep: number,
  sign: number,
  readyTicks: Ticks,
  arrive: (point: PointNode, tick: number, run: Run, boarded: number, alighted: number) => void,
): void {
  let run: Run | undefined;
  let boarded = -1;
  for (let step = firstStep; step < pattern.points.length; step++) {
    const call = sign > 0 ? step : pattern.points.length - 1 - step;
    const point = pattern.points[call] as PointNode;
    const tick = run ? sign * plannedSeconds(run, call) : Infinity;
    if (run) arrive(point, tick, run, boarded, call);
    const readyTick = at(readyTicks, point);
    if (readyTick > tick || readyTick === Infinity) continue;
    const earlier = nextRun(search, pattern, sign * readyTick - (pattern.offsetSeconds[call] ?? 0), sign);
    if (earlier && (!run || sign * (earlier.startSeconds - run.startSeconds) < 0)) {
      run = earlier;
      boarded = call;
    }
  }
}

/** The next run in the direction of the search that starts no sooner than `startSeconds` and is not cancelled. */
function nextRun(search: Search, pattern: PatternNode, startSeconds: number, sign: number): Run | undefined {
  const runs = search.timetable(pattern);
  let position = sign > 0 ? firstRunFrom(runs, startSeconds) : firstRunFrom(runs, startSeconds + 1) - 1;
  let run = runs[position];
  while (run && search.isCancelled(run)) {
    position += sign;
    run = runs[position];
  }
  return run;
}

/** Applies the footpaths from the points that the round has reached. */
function walkOn(search: Search, round: Round, bestReady: Ticks, bestEnd: number): void {
  for (const [from, { tick }] of round.arrived) {
    for (const { to, seconds } of footpathsFrom(search.index, from)) {
      const ready = tick + seconds;
      if (ready >= bestEnd || ready >= at(bestReady, to)) continue;
      bestReady[to.index] = ready;
      round.readyTicks[to.index] = ready;
      round.ready.set(to, from);
    }
  }
}
