import { MAY_ALIGHT, MAY_BOARD } from '../timetable/import/schedule-file.ts';
import type { Ride } from './raptor/labels.ts';
import { callAt, type Footpaths, type Lines, lastPosition } from './raptor/lines.ts';

/** A second of walking counts as two on board, because a rider may have luggage. */
const WALKING_WEIGHT = 2;

/**
 * Returns the same rides, with each change at the stop with the least walking, and with waiting preferred to riding on and
 * back. A search by arrival changes at the first possible stop and so misses better ones further on.
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

/** Yields the stops within walking distance and the seconds to each; the stop itself comes first. */
export function* listWalks({ first, targets, seconds }: Footpaths, stop: number): Generator<[number, number]> {
  yield [stop, 0];
  for (let at = first[stop] as number; at < (first[stop + 1] as number); at++) {
    yield [targets[at] as number, seconds[at] as number];
  }
}

/** The walk between two stops in seconds; 0 if they are the same. */
export function walkBetween(footpaths: Footpaths, from: number, to: number): number {
  for (const [target, seconds] of listWalks(footpaths, from)) if (target === to) return seconds;
  return 0;
}
