import { bestKnown, type PlannedAndRealtime } from '../efa/realtime.ts';
import type { Leg } from './leg.ts';
import type { LegEnd } from './leg-end.ts';

/** A way from one stop to another, as mapped: each leg begins where the one before ended, walks move with the rides. */
export interface Journey {
  /** At least one. */
  legs: readonly Leg[];
}

/** Where and when it starts, by the first leg. Live when the first ride is: a leading walk moves with it. */
export function originOf({ legs }: Journey): LegEnd {
  return (legs[0] as Leg).origin;
}

/** Where and when it ends, by the last leg. Live when the last ride is: a trailing walk moves with it. */
export function destinationOf({ legs }: Journey): LegEnd {
  return (legs.at(-1) as Leg).destination;
}

export function countChanges({ legs }: Journey): number {
  return Math.max(0, legs.filter((leg) => leg.mode !== 'walk').length - 1);
}

/** Whether one of its rides does not run. */
export function isCancelled({ legs }: Journey): boolean {
  return legs.some((leg) => leg.isCancelled);
}

/** Whether every ride can be reached from the one before it: by best-known times, the walk between them included. */
export function isPossible({ legs }: Journey): boolean {
  let arrival: PlannedAndRealtime | null = null;
  let walkSeconds = 0;
  for (const leg of legs) {
    if (leg.mode === 'walk') {
      walkSeconds += leg.durationSeconds;
      continue;
    }
    if (arrival && bestKnown(arrival).getTime() + walkSeconds * 1000 > bestKnown(leg.origin).getTime()) return false;
    arrival = leg.destination;
    walkSeconds = 0;
  }
  return true;
}

/**
 * What the journeys call the stop asked for: the name of that very point, else of the stop whose platform it is, else
 * the name that most journeys use. Light rail has a name of its own for its part of a station ("Town Hall Light Rail"),
 * so that its names come last.
 */
export function findEndName(journeys: readonly Journey[], stopId: string, end: 'origin' | 'destination'): string {
  const ends = journeys.map((journey) => {
    const leg = journey.legs.at(end === 'origin' ? 0 : -1) as Leg;
    return { ...leg[end], isLightRail: leg.mode === 'lightrail' };
  });
  const candidates = [false, true].flatMap((isLightRail) => {
    const those = ends.filter((one) => one.isLightRail === isLightRail);
    return [
      those.filter((one) => one.stopId === stopId).map(({ name }) => name),
      those.flatMap(({ parent }) => (parent?.ids.includes(stopId) ? parent.name : [])),
    ];
  });
  const names = [...candidates, ends.map(({ name }) => name)].find((list) => list.length > 0) ?? [];
  return findMostFrequent(names) ?? stopId;
}

function findMostFrequent(names: readonly string[]): string | undefined {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, group]) => ({ name, count: group.length }));
  return counts.sort((one, other) => other.count - one.count)[0]?.name;
}
