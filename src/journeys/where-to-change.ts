import { int32At } from '../core/columns.ts';
import { BOOK_TO_ALIGHT, BOOK_TO_BOARD, MAY_ALIGHT, MAY_BOARD } from '../timetable/call-flags.ts';
import type { Ride } from './raptor/labels.ts';
import { callAt, type Footpaths, type Lines, lastPosition } from './raptor/lines.ts';

/** A second of walking counts as two on board, because a rider may have luggage. */
const WALKING_WEIGHT = 2;

type ChangeOptions = { changeSeconds: number; usableStops: Uint8Array | null; withoutBooking?: boolean };

/**
 * Returns the same rides, with each change at the stop with the least walking, and with waiting preferred to riding on and
 * back. A search by arrival changes at the first possible stop and so misses better ones further on.
 */
export function chooseChanges(
  lines: Lines,
  footpaths: Footpaths,
  rides: readonly Ride[],
  options: ChangeOptions,
): Ride[] {
  const changedRides = rides.map((ride) => ({ ...ride }));
  for (const [index, next] of changedRides.entries()) {
    const before = changedRides[index - 1];
    if (before) moveChange(lines, footpaths, [before, next], options);
  }
  return changedRides;
}

function moveChange(
  lines: Lines,
  footpaths: Footpaths,
  [before, next]: readonly [Ride, Ride],
  { changeSeconds, usableStops, withoutBooking }: ChangeOptions,
): void {
  const mayChange = ({ stop, flags }: { stop: number; flags: number }, action: number, booked: number) =>
    flags & action && !(withoutBooking && flags & booked) && (!usableStops || usableStops[stop] === 1);
  const { run, alightRun } = before;
  const ends = listCalls(
    lines,
    alightRun,
    run === alightRun ? before.board + 1 : 1,
    lastPosition(lines, alightRun) + 1,
  );
  // The times of a late vehicle and of its next run may overlap.
  const earliest =
    run === alightRun ? Number.NEGATIVE_INFINITY : callAt(lines, run, lastPosition(lines, run)).arrivesAt;
  const starts = listCalls(
    lines,
    next.run,
    0,
    next.run === next.alightRun ? next.alight : lastPosition(lines, next.run),
  );
  const boardings = Map.groupBy(
    starts.filter((start) => mayChange(start, MAY_BOARD, BOOK_TO_BOARD)),
    ({ stop }) => stop,
  );
  let lowestCost = Number.POSITIVE_INFINITY;
  const isEnd = (end: (typeof ends)[0]) => mayChange(end, MAY_ALIGHT, BOOK_TO_ALIGHT) && end.arrivesAt >= earliest;
  for (const end of ends.filter(isEnd)) {
    for (const [target, seconds] of listWalks(footpaths, end.stop)) {
      for (const start of boardings.get(target) ?? []) {
        const cost = seconds * WALKING_WEIGHT + end.arrivesAt - start.departsAt;
        if (cost >= lowestCost || end.arrivesAt + Math.max(changeSeconds, seconds) > start.departsAt) continue;
        lowestCost = cost;
        before.alight = end.position;
        next.board = start.position;
      }
    }
  }
}

function listCalls(lines: Lines, run: number, from: number, until: number) {
  const positions = Array.from({ length: until - from }, (_, index) => from + index);
  return positions.map((position) => ({ position, ...callAt(lines, run, position) }));
}

/** Yields the stops within walking distance and the seconds to each; the stop itself comes first. */
export function* listWalks({ first, targets, seconds }: Footpaths, stop: number): Generator<[number, number]> {
  yield [stop, 0];
  for (let at = int32At(first, stop); at < int32At(first, stop + 1); at++) {
    yield [int32At(targets, at), int32At(seconds, at)];
  }
}

/** The walk between two stops in seconds; 0 if they are the same or have no footpath. */
export function walkBetween(footpaths: Footpaths, from: number, to: number): number {
  for (const [target, seconds] of listWalks(footpaths, from)) if (target === to) return seconds;
  return 0;
}
