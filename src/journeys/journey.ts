import { SECOND_MS } from '../core/clock.ts';
import { bestKnown, type PlannedAndRealtime } from '../transit/time.ts';
import type { Leg } from './leg.ts';
import type { LegEnd } from './leg-end.ts';

/**
 * A way from one stop to another. Each leg begins where the previous one ended, and walks have the realtime of the adjacent rides.
 */
export interface Journey {
  /** At least one. */
  legs: readonly Leg[];
  /** Set if upstream lists it in addition to the consecutive ones; it may leave at any later time. */
  isAdditional?: boolean;
  /** The lifts out of service where it boards or alights; null if no alerts are known, absent unless looked up. */
  liftsOut?: readonly { stopId: string; name: string; alertId: string }[] | null;
}

/** Where and when the journey starts, by its first leg. Live if the first ride is, because a leading walk moves with it. */
export function originOf({ legs }: Journey): LegEnd {
  return (legs[0] as Leg).origin;
}

/** Where and when the journey ends, by its last leg. Live if the last ride is, because a trailing walk moves with it. */
export function destinationOf({ legs }: Journey): LegEnd {
  return (legs.at(-1) as Leg).destination;
}

export function countChanges({ legs }: Journey): number {
  return Math.max(0, legs.filter((leg) => leg.mode !== 'walk').length - 1);
}

/**
 * The latest time to set out and still catch the first vehicle, by best-known times unless `timeOf` returns others; null for a
 * walk.
 */
export function latestStart({ legs }: Journey, timeOf: (time: PlannedAndRealtime) => Date = bestKnown): Date | null {
  const first = legs.findIndex((leg) => leg.mode !== 'walk');
  const ride = legs[first];
  if (!ride) return null;
  return new Date(timeOf(ride.origin).getTime() - sumSeconds(legs.slice(0, first)) * SECOND_MS);
}

/** Whether one of its rides is cancelled. */
export function isCancelled({ legs }: Journey): boolean {
  return legs.some((leg) => leg.isCancelled);
}

/** Whether it is known to need a lift that is out of service. */
export function lacksLift({ liftsOut }: Journey): boolean {
  return (liftsOut?.length ?? 0) > 0;
}

export function isOnDemand({ legs }: Journey): boolean {
  return legs.some((leg) => leg.isOnDemand);
}

/** A change between two rides. */
export interface Change {
  /** The index of the leg before it. */
  index: number;
  before: Leg;
  /** The index of the ride after it. */
  next: number;
  ride: Leg;
  walkSeconds: number;
  /** The best-known time left after the walk. */
  spareSeconds: number;
}

/** Lists the changes between rides. */
export function listChanges({ legs }: Journey): Change[] {
  const rides = [...legs.entries()].filter(([, { mode }]) => mode !== 'walk');
  return rides.slice(1).map(([next, ride], place) => {
    const [index, before] = rides[place] as [number, Leg];
    const walkSeconds = sumSeconds(legs.slice(index + 1, next));
    const between = bestKnown(ride.origin).getTime() - bestKnown(before.destination).getTime();
    return { index, before, next, ride, walkSeconds, spareSeconds: between / SECOND_MS - walkSeconds };
  });
}

/** A change with less time to spare is at risk, because live times are rounded to minutes. */
const AT_RISK_SECONDS = 2 * 60;
const TIGHT_SECONDS = 5 * 60;
export const CHANGE_RATINGS = ['on_time', 'tight', 'at_risk'] as const;

/** Rates a change by best-known times. A missed one is at risk too. */
export function rateChange(change: Change): (typeof CHANGE_RATINGS)[number] {
  if (isMissed(change) || change.spareSeconds < AT_RISK_SECONDS) return 'at_risk';
  return change.spareSeconds < TIGHT_SECONDS ? 'tight' : 'on_time';
}

export function isMissed({ before, ride, spareSeconds }: Change): boolean {
  return spareSeconds < 0 || before.isCancelled || ride.isCancelled;
}

/** Whether each ride can be caught from the previous one. */
export function isPossible(journey: Journey): boolean {
  return listChanges(journey).every(({ spareSeconds }) => spareSeconds >= 0);
}

/** Returns the journey with the paths of its rides read from disk, where better ones than straight lines exist. */
export async function drawPaths(journey: Journey): Promise<Journey> {
  const legs = journey.legs.map(async (leg) => (leg.drawPath ? { ...leg, path: await leg.drawPath() } : leg));
  return { ...journey, legs: await Promise.all(legs) };
}

function sumSeconds(walks: readonly Leg[]): number {
  return walks.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
}
