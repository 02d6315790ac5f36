import { bestKnown } from '../efa/realtime.ts';
import { type Position, pathLengthMetres } from '../transit/stop.ts';
import type { Leg } from './leg.ts';
import type { LegEnd } from './leg-end.ts';

/** A gentle pace in metres a second, for walks whose duration upstream does not report. */
const WALKING_PACE = 1.1;

/**
 * The legs, each beginning where the one before ended. Between two rides whose platforms differ, the walk that upstream
 * reports only as foot path information becomes a leg; a walk between rides begins and ends at their very platforms.
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
  const reported = before.walkAfter?.path ?? [];
  const hasPath = reported.length >= 2;
  const path: Position[] = hasPath ? reported : [before.destination.position, next.origin.position];
  const metres = pathLengthMetres(path);
  const seconds = before.walkAfter?.durationSeconds ?? next.walkBeforeSeconds ?? guessSeconds(metres, before, next);
  const durationSeconds = Math.max(0, seconds);
  const { planned } = before.destination;
  return {
    mode: 'walk',
    runId: null,
    route: null,
    lineName: null,
    direction: null,
    origin: { ...before.destination, realtime: null },
    destination: { ...next.origin, planned: new Date(planned.getTime() + durationSeconds * 1000), realtime: null },
    durationSeconds,
    // Without a reported path the only length at hand is that of a straight line, which is no walking distance.
    distanceMetres: hasPath ? Math.round(metres) : null,
    stops: 0,
    isLive: false,
    isCancelled: false,
    path,
    alerts: [],
    isAccessible: null,
    walkEstimate: null,
    walkAfter: null,
    walkBeforeSeconds: null,
  };
}

/** A guess never makes a change impossible for which upstream leaves time. */
function guessSeconds(metres: number, before: Leg, next: Leg): number {
  const leftSeconds = (bestKnown(next.origin).getTime() - bestKnown(before.destination).getTime()) / 1000;
  const seconds = metres / WALKING_PACE;
  return leftSeconds < 0 ? seconds : Math.min(seconds, leftSeconds);
}

/** Upstream's walks often have ends without a platform, or name only the stop; its rides name the platforms. */
function anchorWalk(walk: Leg, before: Leg | undefined, next: Leg | undefined): Leg {
  return {
    ...walk,
    origin: before ? placedAt(walk.origin, before.destination) : walk.origin,
    destination: next && next.mode !== 'walk' ? placedAt(walk.destination, next.origin) : walk.destination,
  };
}

function placedAt({ planned, realtime }: LegEnd, place: LegEnd): LegEnd {
  return { ...place, planned, realtime };
}
