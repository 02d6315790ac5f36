import { LeftOut } from '../transit/left-out.ts';
import { distanceMetres, type Position, pathLengthMetres } from '../transit/place.ts';
import { bestKnown } from '../transit/time.ts';
import { LEG_DEFAULTS, type Leg } from './leg.ts';
import type { LegEnd } from './leg-end.ts';

/** A gentle pace in metres a second, for walks whose duration upstream does not report. */
const WALKING_PACE = 1.1;
/** A guess is never shorter: no change takes no time. */
const SHORTEST_GUESS_SECONDS = 60;
/** The fastest walk that is believed, in metres a second. */
const FASTEST_PACE = 2.5;
/** A reported length that takes so many metres a second, 120 a minute, is not believed. */
const RUNNING_PACE = 2;
/** A stop and the farthest of its platforms may be so far apart. In recorded journeys it is 255 metres at most. */
const STATION_METRES = 500;

/**
 * The legs, each beginning where the one before ended. Between two rides whose platforms differ, the walk that upstream
 * reports only as foot path information becomes a leg; a walk between rides begins and ends at their very platforms.
 * Throws `LeftOut` where neighbours lie so far apart that a leg between them must be missing.
 */
export function joinLegs(legs: readonly Leg[]): Leg[] {
  const joined: Leg[] = [];
  for (const [index, leg] of legs.entries()) {
    const before = joined.at(-1);
    const next = legs[index + 1];
    if (before && leg.mode !== 'walk' && before.mode !== 'walk' && before.destination.stopId !== leg.origin.stopId) {
      const walk = walkBetween(before, leg);
      needNear(before, leg, walk.durationSeconds);
      joined.push(walk);
    } else if (index > 0) {
      needNear(legs[index - 1] as Leg, leg, 0);
    }
    joined.push(leg.mode === 'walk' ? anchorWalk(leg, before, next) : leg);
  }
  return joined;
}

function needNear({ destination }: Leg, { origin }: Leg, walkSeconds: number): void {
  const metres = distanceMetres(destination.position, origin.position);
  if (metres > STATION_METRES + walkSeconds * FASTEST_PACE) throw new LeftOut('legs apart');
}

function walkBetween(before: Leg, next: Leg): Leg {
  const reported = before.walkAfter?.path ?? [];
  const hasPath = reported.length >= 2;
  const path: Position[] = hasPath ? reported : [before.destination.position, next.origin.position];
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

/** The walk from a platform to a ride that leaves from another one; its duration is guessed where it is not known. */
export function walkTo({ origin }: Leg, from: LegEnd, knownSeconds: number | null): Leg {
  const guess = Math.ceil(distanceMetres(from.position, origin.position) / WALKING_PACE);
  const durationSeconds = knownSeconds ?? Math.max(SHORTEST_GUESS_SECONDS, guess);
  return {
    ...LEG_DEFAULTS,
    origin: { ...from, planned: plus(origin.planned, -durationSeconds), realtime: null },
    destination: { ...origin, realtime: null },
    durationSeconds,
    path: [from.position, origin.position],
  };
}

/** A guess never makes a change impossible for which upstream leaves time. */
function guessSeconds(metres: number, before: Leg, next: Leg): number {
  const leftSeconds = (bestKnown(next.origin).getTime() - bestKnown(before.destination).getTime()) / 1000;
  const seconds = Math.max(SHORTEST_GUESS_SECONDS, metres / WALKING_PACE);
  return leftSeconds < 0 ? seconds : Math.min(seconds, leftSeconds);
}

/** Upstream's walks often have ends without a platform, or name only the stop; its rides name the platforms. */
function anchorWalk(walk: Leg, before: Leg | undefined, next: Leg | undefined): Leg {
  return withPossibleLength({
    ...walk,
    origin: before ? placedAt(walk.origin, before.destination) : walk.origin,
    destination: next && next.mode !== 'walk' ? placedAt(walk.destination, next.origin) : walk.destination,
  });
}

/** The walk from another place, with its times. */
export function walkFrom(walk: Leg, place: LegEnd): Leg {
  return withPossibleLength({ ...walk, origin: placedAt(walk.origin, place) });
}

/**
 * Upstream measures between other ends than those of the walk, and its paths sometimes lead round a block. A reported length that is
 * shorter than the straight line, or too long for the duration, is replaced by the straight line.
 */
function withPossibleLength(walk: Leg): Leg {
  const { origin, destination, distanceMetres: reported, durationSeconds } = walk;
  if (reported === null) return walk;
  const straight = Math.ceil(distanceMetres(origin.position, destination.position));
  const isPossible = reported >= straight && reported < durationSeconds * RUNNING_PACE;
  return isPossible ? walk : { ...walk, distanceMetres: straight };
}

/** The end with its times, at another place. */
function placedAt({ planned, realtime }: LegEnd, place: LegEnd): LegEnd {
  return { ...place, planned, realtime };
}

/**
 * The legs, in which every walk has the real-time of the ride it hangs on: a walk follows the ride before it, a leading
 * walk is timed backwards from the ride after it. Planned times stay; a walk on a ride without real-time has none.
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

/** Upstream's own estimates of the walk are taken where they fit between the legs around it. */
function walkAfter(walk: Leg, before: Leg, nextRide: Leg | undefined): Leg {
  const arrival = before.destination.realtime;
  if (!arrival) return mustBeginEarlier(walk, before, nextRide) ? follow(walk, before.destination.planned) : walk;
  const own = findEstimate(walk, before.destination);
  const fits = own && own.start >= arrival && (!nextRide || own.end <= bestKnown(nextRide.origin));
  return fits ? timedWalk(walk, own.start, own.end) : follow(walk, arrival);
}

/** A walk is sometimes planned with time to spare; a live ride after it that leaves early uses up that time. */
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
  const own = findEstimate(walk, next.origin);
  if (own && own.end <= departure) return timedWalk(walk, own.start, own.end);
  return timedWalk(walk, plus(departure, -walk.durationSeconds), departure);
}

/** An estimate that repeats the planned time, although the leg it hangs on has moved, is no estimate. */
function findEstimate({ walkEstimate, origin }: Leg, { planned, realtime }: LegEnd): Leg['walkEstimate'] {
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
