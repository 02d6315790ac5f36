import { bestKnown } from '../efa/realtime.ts';
import type { Leg } from './leg.ts';
import type { LegEnd } from './leg-end.ts';

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
