import { MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { LEG_DEFAULTS, type Leg, type LegEnd } from '../transit/journey.ts';
import { LeftOut } from '../transit/left-out.ts';
import { distanceMetres, type Position, pathLengthMetres } from '../transit/place.ts';
import { bestKnown } from '../transit/time.ts';

/** A gentle pace, in metres per second, for walks whose duration upstream does not report. */
const WALKING_PACE = 1.1;
/** The minimum of a guessed duration: every change takes some time. */
const MIN_GUESS_MS = MINUTE_MS;
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
      requestNear(before, leg, walk.durationMs);
      joinedLegs.push(walk);
    } else if (index > 0) {
      requestNear(legs[index - 1] as Leg, leg, 0);
    }
    joinedLegs.push(leg.mode === 'walk' ? anchorWalk(leg, before, next) : leg);
  }
  return joinedLegs;
}

function requestNear({ destination }: Leg, { origin }: Leg, walkMs: number): void {
  const metres = distanceMetres(destination.position, origin.position);
  if (metres > STATION_METRES + (walkMs / SECOND_MS) * MAX_PACE) throw new LeftOut('legs apart');
}

function walkBetween(before: Leg, next: Leg): Leg {
  const reportedPath = before.walkAfter?.path ?? [];
  const hasPath = reportedPath.length >= 2;
  const path: Position[] = hasPath ? reportedPath : [before.destination.position, next.origin.position];
  const metres = pathLengthMetres(path);
  const reported = before.walkAfter?.durationMs ?? next.walkBeforeMs;
  const durationMs = Math.max(0, reported ?? guessDuration(metres, before, next));
  return withPossibleLength({
    ...LEG_DEFAULTS,
    origin: { ...before.destination, realtimeAt: null },
    destination: { ...next.origin, plannedAt: before.destination.plannedAt + durationMs, realtimeAt: null },
    durationMs,
    distanceMetres: hasPath ? Math.round(metres) : null,
    path,
  });
}

/** Returns the walk to a ride that leaves from another platform; its duration is guessed if unknown. */
export function walkTo({ origin }: Leg, from: LegEnd, knownMs: number | null): Leg {
  const guess = Math.ceil(distanceMetres(from.position, origin.position) / WALKING_PACE);
  const durationMs = knownMs ?? Math.max(MIN_GUESS_MS, guess * SECOND_MS);
  return {
    ...LEG_DEFAULTS,
    origin: { ...from, plannedAt: origin.plannedAt - durationMs, realtimeAt: null },
    destination: { ...origin, realtimeAt: null },
    durationMs,
    path: [from.position, origin.position],
  };
}

/** A guess never makes a change impossible if upstream allows time for it. */
function guessDuration(metres: number, before: Leg, next: Leg): number {
  const leftMs = bestKnown(next.origin) - bestKnown(before.destination);
  const guess = Math.max(MIN_GUESS_MS, (metres / WALKING_PACE) * SECOND_MS);
  return leftMs < 0 ? guess : Math.min(guess, leftMs);
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
  const { origin, destination, distanceMetres: reportedMetres, durationMs } = walk;
  if (reportedMetres === null) return walk;
  const straight = Math.ceil(distanceMetres(origin.position, destination.position));
  const isPossible = reportedMetres >= straight && reportedMetres < (durationMs / SECOND_MS) * RUNNING_PACE;
  return isPossible ? walk : { ...walk, distanceMetres: straight };
}

/** Returns the end moved to another place, with its times unchanged. */
function placedAt({ plannedAt, realtimeAt }: LegEnd, place: LegEnd): LegEnd {
  return { ...place, plannedAt, realtimeAt };
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
  const arrival = before.destination.realtimeAt;
  if (!arrival) return mustBeginEarlier(walk, before, nextRide) ? follow(walk, before.destination.plannedAt) : walk;
  const ownEstimate = estimateWalk(walk, before.destination);
  const fits =
    ownEstimate && ownEstimate.startsAt >= arrival && (!nextRide || ownEstimate.endsAt <= bestKnown(nextRide.origin));
  return fits ? timedWalk(walk, ownEstimate.startsAt, ownEstimate.endsAt) : follow(walk, arrival);
}

/** A walk is sometimes planned with spare time, which is lost if the next ride leaves early. */
function mustBeginEarlier(walk: Leg, before: Leg, nextRide: Leg | undefined): boolean {
  const departure = nextRide?.origin.realtimeAt;
  if (!departure || walk.destination.plannedAt <= departure) return false;
  return before.destination.plannedAt + walk.durationMs <= departure;
}

function follow(walk: Leg, arrival: number): Leg {
  return timedWalk(walk, arrival, arrival + walk.durationMs);
}

function walkBefore(walk: Leg, next: Leg): Leg {
  const departure = next.origin.realtimeAt;
  if (!departure) return walk;
  const ownEstimate = estimateWalk(walk, next.origin);
  if (ownEstimate && ownEstimate.endsAt <= departure) return timedWalk(walk, ownEstimate.startsAt, ownEstimate.endsAt);
  return timedWalk(walk, departure - walk.durationMs, departure);
}

/** Ignores an estimate that repeats the planned time although the adjacent leg has moved. */
function estimateWalk({ walkEstimate, origin }: Leg, { plannedAt, realtimeAt }: LegEnd): Leg['walkEstimate'] {
  const repeatsPlanned = walkEstimate?.startsAt === origin.plannedAt;
  return repeatsPlanned && realtimeAt !== plannedAt ? null : walkEstimate;
}

function timedWalk(walk: Leg, startsAt: number, endsAt: number): Leg {
  const { origin, destination } = walk;
  return { ...walk, origin: { ...origin, realtimeAt: startsAt }, destination: { ...destination, realtimeAt: endsAt } };
}
