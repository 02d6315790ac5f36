import { SECOND_MS } from '../core/clock.ts';
import { bestKnown, type PlannedAndRealtime } from '../transit/time.ts';
import type { Leg } from './leg.ts';
import type { LegEnd } from './leg-end.ts';

/** A way from one stop to another, as mapped: each leg begins where the one before ended, walks move with the rides. */
export interface Journey {
  /** At least one. */
  legs: readonly Leg[];
  /** Set where upstream lists it beside those that follow one another, at any later time. */
  isAdditional?: boolean;
}

/** The place and time at which it starts, by the first leg. Live when the first ride is: a leading walk moves with it. */
export function originOf({ legs }: Journey): LegEnd {
  return (legs[0] as Leg).origin;
}

/** The place and time at which it ends, by the last leg. Live when the last ride is: a trailing walk moves with it. */
export function destinationOf({ legs }: Journey): LegEnd {
  return (legs.at(-1) as Leg).destination;
}

export function countChanges({ legs }: Journey): number {
  return Math.max(0, legs.filter((leg) => leg.mode !== 'walk').length - 1);
}

/** The last moment at which one can set out and still reach the first vehicle, best known unless asked for otherwise; null for a walk. */
export function latestStart({ legs }: Journey, timeOf: (time: PlannedAndRealtime) => Date = bestKnown): Date | null {
  const first = legs.findIndex((leg) => leg.mode !== 'walk');
  const ride = legs[first];
  if (!ride) return null;
  return new Date(timeOf(ride.origin).getTime() - sumSeconds(legs.slice(0, first)) * SECOND_MS);
}

/** Whether one of its rides does not run. */
export function isCancelled({ legs }: Journey): boolean {
  return legs.some((leg) => leg.isCancelled);
}

/** Whether one of its rides must be booked. */
export function isOnDemand({ legs }: Journey): boolean {
  return legs.some((leg) => leg.isOnDemand);
}

/** The changes from one ride to the next, by the numbers of the legs. `spareSeconds` are by best-known times, beside the walk between. */
export function listChanges({ legs }: Journey) {
  const rides = [...legs.entries()].filter(([, { mode }]) => mode !== 'walk');
  return rides.slice(1).map(([next, ride], place) => {
    const [index, before] = rides[place] as [number, Leg];
    const walkSeconds = sumSeconds(legs.slice(index + 1, next));
    const between = bestKnown(ride.origin).getTime() - bestKnown(before.destination).getTime();
    return { index, before, next, ride, walkSeconds, spareSeconds: between / SECOND_MS - walkSeconds };
  });
}

/** Whether every ride can be reached from the one before it. */
export function isPossible(journey: Journey): boolean {
  return listChanges(journey).every(({ spareSeconds }) => spareSeconds >= 0);
}

/** The journey with the paths of its rides read from disk, where there are better ones than straight lines. */
export async function drawPaths(journey: Journey): Promise<Journey> {
  const legs = journey.legs.map(async (leg) => (leg.drawPath ? { ...leg, path: await leg.drawPath() } : leg));
  return { ...journey, legs: await Promise.all(legs) };
}

function sumSeconds(walks: readonly Leg[]): number {
  return walks.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
}
