import type { Lines } from './lines.ts';
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

export interface Found extends FromUntil {
  rides: Ride[];
}

export const MAX_RIDES = 7;
/** The labels of a search, by round (number of rides) and stop. One set of labels is reused by all searches, one at a time. */
export interface Labels {
  rounds: number;
  /** When a rider arrives at a stop, and when the next ride can be boarded there. */
  arrived: Int32Array;
  ready: Int32Array;
  /** The ride behind `arrived`, and the stop from which the rider walked for `ready`. */
  boardRun: Int32Array;
  boardAt: Int32Array;
  alightRun: Int32Array;
  alightAt: Int32Array;
  walkedFrom: Int32Array;
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
    arrived: column(),
    ready: column(),
    boardRun: column(),
    boardAt: column(),
    alightRun: column(),
    alightAt: column(),
    walkedFrom: column(),
    followed: new Int32Array(0),
    left: { alighted: [], ready: [], aboard: [], of: null },
    visits: createWindowVisits(stopCount),
  };
}

/** Lists the rides to a stop in a round by following the labels back from it. */
export function toRides(lines: Lines, labels: Labels, round: number, last: number): Ride[] {
  const { ready, boardRun, boardAt, alightRun, alightAt, walkedFrom } = labels;
  const { stopCount } = lines;
  const rides: Ride[] = [];
  let stop = last;
  for (let at = round; at > 0; ) {
    const label = at * stopCount + stop;
    const [run, board] = [boardRun[label] as number, boardAt[label] as number];
    rides.unshift({ run, board, alightRun: alightRun[label] as number, alight: alightAt[label] as number });
    const boarded = lines.stops[(lines.firstCall[lines.lineOfRun[run] as number] as number) + board] as number;
    // Later rounds hold copies of a label: go back to the round that set it.
    for (at--; at > 0 && ready[at * stopCount + boarded] === ready[(at - 1) * stopCount + boarded]; at--);
    stop = walkedFrom[at * stopCount + boarded] as number;
  }
  return rides;
}
