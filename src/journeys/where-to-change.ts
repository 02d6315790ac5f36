import { MAY_ALIGHT, MAY_BOARD } from '../timetable/import/schedule-file.ts';
import type { Ride } from './raptor/labels.ts';
import { callAt, type Footpaths, type Lines, lastPosition } from './raptor/lines.ts';

/** A second on foot is as bad as two on board: one may have luggage. */
const WALKING_WEIGHT = 2;

/**
 * The same rides, with each change where one walks least and waits instead of riding. A search by arrival changes at the first
 * stop at which it can, and rides on past a better one.
 */
export function chooseChanges(
  lines: Lines,
  footpaths: Footpaths,
  rides: readonly Ride[],
  { changeSeconds, usableStops }: { changeSeconds: number; usableStops: Uint8Array | null },
): Ride[] {
  const chosen = rides.map((ride) => ({ ...ride }));
  const isUsable = (stop: number) => !usableStops || usableStops[stop] === 1;
  for (const [index, next] of chosen.entries()) {
    const before = chosen[index - 1];
    if (!before) continue;
    const boardings = new Map<number, { position: number; departsAt: number }[]>();
    const endOfNext = next.run === next.alightRun ? next.alight : lastPosition(lines, next.run);
    for (let position = 0; position < endOfNext; position++) {
      const { stop, flags, departsAt } = callAt(lines, next.run, position);
      if (!(flags & MAY_BOARD) || !isUsable(stop)) continue;
      const known = boardings.get(stop);
      if (known) known.push({ position, departsAt });
      else boardings.set(stop, [{ position, departsAt }]);
    }
    let least = Number.POSITIVE_INFINITY;
    const { alightRun } = before;
    const first = before.run === alightRun ? before.board + 1 : 1;
    const end = lastPosition(lines, alightRun);
    for (let alight = first; alight <= end; alight++) {
      const { stop, flags, arrivesAt } = callAt(lines, alightRun, alight);
      if (!(flags & MAY_ALIGHT) || !isUsable(stop)) continue;
      for (const [target, seconds] of listWalks(footpaths, stop)) {
        for (const { position, departsAt } of boardings.get(target) ?? []) {
          if (arrivesAt + Math.max(changeSeconds, seconds) > departsAt) continue;
          const cost = seconds * WALKING_WEIGHT + arrivesAt - departsAt;
          if (cost >= least) continue;
          least = cost;
          before.alight = alight;
          next.board = position;
        }
      }
    }
  }
  return chosen;
}

/** The stops at which one can be on foot, the stop itself first, and the seconds. */
function* listWalks({ first, targets, seconds }: Footpaths, stop: number): Generator<[number, number]> {
  yield [stop, 0];
  for (let at = first[stop] as number; at < (first[stop + 1] as number); at++) {
    yield [targets[at] as number, seconds[at] as number];
  }
}

/** The seconds of the walk from stop to stop; 0 at the same one. */
export function walkBetween(footpaths: Footpaths, from: number, to: number): number {
  for (const [target, seconds] of listWalks(footpaths, from)) if (target === to) return seconds;
  return 0;
}
