import { callAt, type Lines, NEVER } from './lines.ts';
import type { TimeLeftRows } from './time-left.ts';
import { createWindowVisits, type WindowVisits } from './window.ts';

/**
 * A ride from call `board` of one run to call `alight` of `alightRun`. The two runs differ if the vehicle continues as another
 * run.
 */
export interface Ride {
  run: number;
  board: number;
  alightRun: number;
  alight: number;
}

/** When a journey begins and ends. */
export interface FromUntil {
  departsAt: number;
  arrivesAt: number;
}

/** A journey without its walks. Times are seconds since the base of the lines. */
export interface Found extends FromUntil {
  rides: Ride[];
}

export const MAX_RIDES = 7;
/** If a search has reached more than one in this many stops, it is faster to clear and copy the labels of all stops. */
const MOST_SINGLE = 8;
/** The labels of a search, by round (number of rides) and stop. One set of labels is reused by all searches, one at a time. */
export interface Labels {
  rounds: number;
  /** When a rider arrives at a stop, and when the next ride can be boarded there. */
  arrived: Int32Array;
  ready: Int32Array;
  /** For each label, the four numbers of the `Ride` behind `arrived`, which lie in one cache line. */
  rides: Int32Array;
  /** The stop from which the rider walked for `ready`. */
  walkedFrom: Int32Array;
  /** The stops that have a label. Most searches reach few stops, so only these are cleared for the next one. */
  reached: number[];
  isReached: Uint8Array;
  /** The first position on each line from which the search followed it; `NEVER` for other lines. */
  followed: Int32Array;
  /** Lower bounds of the time to the destination. */
  left: TimeLeftRows;
  visits: WindowVisits;
}

export function createLabels(stopCount: number): Labels {
  const rounds = MAX_RIDES + 1;
  const column = () => new Int32Array(rounds * stopCount);
  return {
    rounds,
    arrived: column().fill(NEVER),
    ready: column().fill(NEVER),
    rides: new Int32Array(4 * rounds * stopCount),
    walkedFrom: column(),
    reached: [],
    isReached: new Uint8Array(stopCount),
    followed: new Int32Array(0),
    left: { alighted: [], ready: [], aboard: [], of: null },
    visits: createWindowVisits(stopCount),
  };
}

/** The ride behind a label, which must be that of the round that set it: rides are not copied to later rounds. */
export function rideAt({ rides }: Labels, label: number): Ride {
  const [run, board, alightRun, alight] = rides.subarray(4 * label, 4 * label + 4) as unknown as RideNumbers;
  return { run, board, alightRun, alight };
}

type RideNumbers = [run: number, board: number, alightRun: number, alight: number];

/** Clears the labels of the search before. */
export function clearLabels(labels: Labels): void {
  const { arrived, ready, reached, isReached, rounds } = labels;
  const stopCount = isReached.length;
  if (hasMany(labels)) {
    arrived.fill(NEVER);
    ready.fill(NEVER);
    isReached.fill(0);
  } else {
    for (let start = 0; start < rounds * stopCount; start += stopCount) {
      for (const stop of reached) arrived[start + stop] = ready[start + stop] = NEVER;
    }
    for (const stop of reached) isReached[stop] = 0;
  }
  reached.length = 0;
}

/** Copies the labels of the round before, which must be complete. */
export function copyRound(labels: Labels, round: number): void {
  const { arrived, ready, reached, isReached } = labels;
  const stopCount = isReached.length;
  const [before, row] = [(round - 1) * stopCount, round * stopCount];
  if (hasMany(labels)) {
    arrived.copyWithin(row, before, row);
    ready.copyWithin(row, before, row);
    return;
  }
  for (const stop of reached) {
    arrived[row + stop] = arrived[before + stop] as number;
    ready[row + stop] = ready[before + stop] as number;
  }
}

function hasMany({ reached, isReached }: Labels): boolean {
  return reached.length > isReached.length / MOST_SINGLE;
}

/** Lists the rides to a stop in a round by following the labels back from it. */
export function toRides(lines: Lines, labels: Labels, round: number, last: number): Ride[] {
  const { ready, walkedFrom } = labels;
  const { stopCount } = lines;
  const rides: Ride[] = [];
  let stop = last;
  for (let at = round; at > 0; ) {
    const ride = rideAt(labels, at * stopCount + stop);
    rides.unshift(ride);
    const boarded = callAt(lines, ride.run, ride.board).stop;
    // Later rounds hold copies of a label: go back to the round that set it.
    for (at--; at > 0 && ready[at * stopCount + boarded] === ready[(at - 1) * stopCount + boarded]; at--);
    stop = walkedFrom[at * stopCount + boarded] as number;
  }
  return rides;
}
