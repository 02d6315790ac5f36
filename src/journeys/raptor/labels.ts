import type { Lines } from './lines.ts';

/** A ride from call `board` of a run to call `alight` of `alightRun`, as which the vehicle may have gone on. */
export interface Ride {
  run: number;
  board: number;
  alightRun: number;
  alight: number;
}

export interface Found {
  departsAt: number;
  arrivesAt: number;
  rides: Ride[];
}

export const NEVER = 0x7fffffff;
export const MOST_RIDES = 7;
/** The labels of a search, by round and stop: after at most so many rides. Searches share them, one at a time. */
export type Labels = ReturnType<typeof createLabels>;

export function createLabels(stopCount: number) {
  const rounds = MOST_RIDES + 1;
  const column = () => new Int32Array(rounds * stopCount);
  return {
    rounds,
    /** When a rider has got off at a stop, and when he may get on there. */
    arrived: column(),
    ready: column(),
    /** The ride that `arrived` is due to, and the stop from which the rider walked for `ready`. */
    boardRun: column(),
    boardAt: column(),
    alightRun: column(),
    alightAt: column(),
    walkedFrom: column(),
  };
}

/** The rides to a stop in a round: follows the labels back from there. */
export function readRides(lines: Lines, labels: Labels, round: number, last: number): Ride[] {
  const { ready, boardRun, boardAt, alightRun, alightAt, walkedFrom } = labels;
  const { stopCount } = lines;
  const rides: Ride[] = [];
  let stop = last;
  for (let at = round; at > 0; ) {
    const label = at * stopCount + stop;
    const [run, board] = [boardRun[label] as number, boardAt[label] as number];
    rides.unshift({ run, board, alightRun: alightRun[label] as number, alight: alightAt[label] as number });
    const boarded = lines.stops[(lines.firstCall[lines.lineOfRun[run] as number] as number) + board] as number;
    // A label is copied to the rounds after its own.
    for (at--; at > 0 && ready[at * stopCount + boarded] === ready[(at - 1) * stopCount + boarded]; at--);
    stop = walkedFrom[at * stopCount + boarded] as number;
  }
  return rides;
}
