import { type Position, pathLengthMetres } from '../transit/stop.ts';
import type { Leg, LegEnd } from './leg.ts';

/** A gentle pace, for the walks whose duration upstream does not tell: metres a second. */
const WALKING_PACE = 1.1;

/**
 * The legs, each beginning where the one before ended. Between two rides that do not, the walk that upstream reports
 * only as foot path information becomes a leg; a walk between rides begins and ends at their very platforms.
 */
export function joinLegs(legs: readonly Leg[]): Leg[] {
  const joined: Leg[] = [];
  for (const [index, leg] of legs.entries()) {
    const before = joined.at(-1);
    const next = legs[index + 1];
    if (before && leg.mode !== 'walk' && before.mode !== 'walk' && before.destination.stopId !== leg.origin.stopId) {
      joined.push(walkBetween(before, leg));
    }
    joined.push(leg.mode === 'walk' ? anchorWalk(leg, before, next) : leg);
  }
  return joined;
}

function walkBetween(before: Leg, next: Leg): Leg {
  const told = before.walkAfter?.path ?? [];
  const hasPath = told.length >= 2;
  const path: Position[] = hasPath ? told : [before.destination.position, next.origin.position];
  const metres = pathLengthMetres(path);
  const seconds = Math.max(0, before.walkAfter?.durationSeconds ?? next.walkBeforeSeconds ?? metres / WALKING_PACE);
  const start = before.destination.planned;
  return {
    mode: 'walk',
    route: null,
    lineName: null,
    direction: null,
    origin: { ...before.destination, realtime: null },
    destination: { ...next.origin, planned: new Date(start.getTime() + seconds * 1000), realtime: null },
    durationMinutes: Math.round(seconds / 60),
    // A straight line is no way to walk: its length would be a guess.
    distanceMetres: hasPath ? Math.round(metres) : null,
    stops: 0,
    isLive: false,
    path,
    alerts: [],
    walkAfter: null,
    walkBeforeSeconds: null,
  };
}

/** Walks name their ends less well than rides do: without platform, sometimes only by their stop. */
function anchorWalk(walk: Leg, before: Leg | undefined, next: Leg | undefined): Leg {
  return {
    ...walk,
    origin: before ? placedAt(walk.origin, before.destination) : walk.origin,
    destination: next && next.mode !== 'walk' ? placedAt(walk.destination, next.origin) : walk.destination,
  };
}

function placedAt(end: LegEnd, { stopId, name, platform, position, parent }: LegEnd): LegEnd {
  return { ...end, stopId, name, platform, position, parent };
}
