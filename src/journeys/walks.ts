import { LeftOut } from '../transit/left-out.ts';
import { distanceMetres, type Position, pathLengthMetres } from '../transit/place.ts';
import { bestKnown } from '../transit/time.ts';
import { LEG_DEFAULTS, type Leg } from './leg.ts';
import type { LegEnd } from './leg-end.ts';

/** A gentle pace, in metres per second, for walks whose duration upstream does not report. */
const WALKING_PACE = 1.1;
/** The minimum of a guessed duration: every change takes some time. */
const MIN_GUESS_SECONDS = 60;
/** The fastest plausible walk, in metres per second. */
const MAX_PACE = 2.5;
/** A reported length is not plausible above this pace, in metres per second (120 metres a minute). */
const RUNNING_PACE = 2;
/** The maximum distance between a stop and its platforms. In recorded journeys it is at most 255 metres. */
const STATION_METRES = 500;

/**
 * Joins the legs, so that each begins where the previous one ended. If the platforms of two rides differ, the walk that
 * upstream reports only as foot path information becomes a leg. A walk between rides begins and ends at their exact platforms.
 * Throws `LeftOut` if two adjacent ends are so far apart that a leg must be missing.
 */
export function joinLegs(legs: readonly Leg[]): Leg[] {
  const joinedLegs: Leg[] = [];
  for (const [index, leg] of legs.entries()) {
    const before = joinedLegs.at(-1);
    const next = legs[index + 1];
    if (before && leg.mode !== 'walk' && before.mode !== 'walk' && before.destination.stopId !== leg.origin.stopId) {
      const walk = walkBetween(before, leg);
      requestNear(before, leg, walk.durationSeconds);
      joinedLegs.push(walk);
    } else if (index > 0) {
      requestNear(legs[index - 1] as Leg, leg, 0);
    }
    joinedLegs.push(leg.mode === 'walk' ? anchorWalk(leg, before, next) : leg);
  }
  return joinedLegs;
}

function requestNear({ destination }: Leg, { origin }: Leg, walkSeconds: number): void {
  const metres = distanceMetres(destination.position, origin.position);
  if (metres > STATION_METRES + walkSeconds * MAX_PACE) throw new LeftOut('legs apart');
}

function walkBetween(before: Leg, next: Leg): Leg {
  const reportedPath = before.walkAfter?.path ?? [];
  const hasPath = reportedPath.length >= 2;
  const path: Position[] = hasPath ? reportedPath : [before.destination.position, next.origin.position];
  const metres = pathLengthMetres(path);
  const seconds = before.walkAfter?.durationSeconds ?? next.walkBeforeSeconds ?? guessSeconds(metres, before, next);
  const durationSeconds = Math.max(0, seconds);
  const { planned } = before.destination;
  return withPossibleLength({
    ...LEG_DEFAULTS,
    origin: { ...before.destination, realtime: null },
    destination: { ...next.origin, planned: new Date(planned.getTime() + durationSeconds * 1000), realtime: null },
    durationSeconds,
    distanceMetres: hasPath ? Math.round(metres) : null,
    path,
  });
}

/** Returns the walk to a ride that leaves from another platform; its duration is guessed if unknown. */
export function walkTo({ origin }: Leg, from: LegEnd, knownSeconds: number | null): Leg {
  const guess = Math.ceil(distanceMetres(from.position, origin.position) / WALKING_PACE);
  const durationSeconds = knownSeconds ?? Math.max(MIN_GUESS_SECONDS, guess);
  return {
    ...LEG_DEFAULTS,
    origin: { ...from, planned: plus(origin.planned, -durationSeconds), realtime: null },
    destination: { ...origin, realtime: null },
    durationSeconds,
    path: [from.position, origin.position],
  };
}

/** A guess never makes a change impossible if upstream allows time for it. */
function guessSeconds(metres: number, before: Leg, next: Leg): number {
  const leftSeconds = (bestKnown(next.origin).getTime() - bestKnown(before.destination).getTime()) / 1000;
  const seconds = Math.max(MIN_GUESS_SECONDS, metres / WALKING_PACE);
  return leftSeconds < 0 ? seconds : Math.min(seconds, leftSeconds);
}

/** Upstream's walks often lack platforms or name only the stop; its rides have the platforms. */
function anchorWalk(walk: Leg, before: Leg | undefined, next: Leg | undefined): Leg {
  return withPossibleLength({
    ...walk,
    origin: before ? placedAt(walk.origin, before.destination) : walk.origin,
    destination: next && next.mode !== 'walk' ? placedAt(walk.destination, next.origin) : walk.destination,
  });
}

/** Returns the walk moved to start at another place, with its times unchanged. */
export function walkFrom(walk: Leg, place: LegEnd): Leg {
  return withPossibleLength({ ...walk, origin: placedAt(walk.origin, place) });
}

/**
 * Corrects an implausible length. Upstream measures between other points than the ends of the walk, and its paths sometimes
 * circle a block. A length shorter than the straight line, or too long for the duration, is replaced with the straight line.
 */
function withPossibleLength(walk: Leg): Leg {
  const { origin, destination, distanceMetres: reportedMetres, durationSeconds } = walk;
  if (reportedMetres === null) return walk;
  const straight = Math.ceil(distanceMetres(origin.position, destination.position));
  const isPossible = reportedMetres >= straight && reportedMetres < durationSeconds * RUNNING_PACE;
  return isPossible ? walk : { ...walk, distanceMetres: straight };
}

/** Returns the end moved to another place, with its times unchanged. */
function placedAt({ planned, realtime }: LegEnd, place: LegEnd): LegEnd {
  return { ...place, planned, realtime };
}

/**
 * Returns the legs with the live times of each walk from an adjacent ride: a walk follows the ride before it; a leading walk is
 * timed backwards from the ride after it. Planned times do not change. A walk next to a ride without live times has none.
 */
export function timeWalks(legs: readonly Leg[]): Leg[] {
  const firstRide = legs.findIndex((leg) => leg.mode !== 'walk');
  const timed = [...legs];
  for (let index = firstRide - 1; index >= 0; index--) {
    timed[index] = walkBefore(timed[index] as Leg, timed[index + 1] as Leg);
  }
  for (let index = firstRide + 1; firstRide !== -1 && index < timed.length; index++) {
    const leg = timed[index] as Leg;
    const nextRide = timed.find((other, at) => at > index && other.mode !== 'walk');
    if (leg.mode === 'walk') timed[index] = walkAfter(leg, timed[index - 1] as Leg, nextRide);
  }
  return timed;
}

/** Upstream's own estimates of the walk are used if they fit between the adjacent legs. */
function walkAfter(walk: Leg, before: Leg, nextRide: Leg | undefined): Leg {
  const arrival = before.destination.realtime;
  if (!arrival) return mustBeginEarlier(walk, before, nextRide) ? follow(walk, before.destination.planned) : walk;
  const ownEstimate = estimateWalk(walk, before.destination);
  const fits =
    ownEstimate && ownEstimate.start >= arrival && (!nextRide || ownEstimate.end <= bestKnown(nextRide.origin));
  return fits ? timedWalk(walk, ownEstimate.start, ownEstimate.end) : follow(walk, arrival);
}

/** A walk is sometimes planned with spare time, which is lost if the next ride leaves early. */
function mustBeginEarlier(walk: Leg, before: Leg, nextRide: Leg | undefined): boolean {
  const departure = nextRide?.origin.realtime;
  if (!departure || walk.destination.planned <= departure) return false;
  return plus(before.destination.planned, walk.durationSeconds) <= departure;
}

function follow(walk: Leg, arrival: Date): Leg {
  return timedWalk(walk, arrival, plus(arrival, walk.durationSeconds));
}

function walkBefore(walk: Leg, next: Leg): Leg {
  const departure = next.origin.realtime;
  if (!departure) return walk;
  const ownEstimate = estimateWalk(walk, next.origin);
  if (ownEstimate && ownEstimate.end <= departure) return timedWalk(walk, ownEstimate.start, ownEstimate.end);
  return timedWalk(walk, plus(departure, -walk.durationSeconds), departure);
}

/** Ignores an estimate that repeats the planned time although the adjacent leg has moved. */
function estimateWalk({ walkEstimate, origin }: Leg, { planned, realtime }: LegEnd): Leg['walkEstimate'] {
  const repeatsPlanned = walkEstimate?.start.getTime() === origin.planned.getTime();
  const hasMoved = realtime?.getTime() !== planned.getTime();
  return repeatsPlanned && hasMoved ? null : walkEstimate;
}

function timedWalk(walk: Leg, start: Date, end: Date): Leg {
  return { ...walk, origin: { ...walk.origin, realtime: start }, destination: { ...walk.destination, realtime: end } };
}

function plus(instant: Date, seconds: number): Date {
  return new Date(instant.getTime() + seconds * 1000);
}
