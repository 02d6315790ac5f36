import { MAY_ALIGHT, MAY_BOARD } from '../../timetable/import/schedule-file.ts';
import type { Footpaths } from './footpaths.ts';
import type { Lines } from './lines.ts';

/** A walk between a place and a stop. */
export interface Walk {
  stop: number;
  seconds: number;
}

/** A search for journeys. Times are seconds since the base of the lines. */
export interface Search {
  access: readonly Walk[];
  egress: readonly Walk[];
  /** Journeys leave the origin from `from` up to, but not at, `until`. */
  from: number;
  until: number;
  /** No journey arrives later. */
  latest: number;
  maxRides: number;
  /** The least time between getting off and getting on. */
  changeSeconds: number;
  /**
   * Whether journeys that leave at `until` or later count against earlier ones. They are not returned, unless `from` is `until`:
   * then those are that arrive first, of a rider who waits from that moment on.
   */
  isOpen: boolean;
  /** One byte a line, run or stop: 0 where it may not be used; null where all may be. */
  allowed: { lines: Uint8Array | null; runs: Uint8Array | null; stops: Uint8Array | null };
}

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

const NEVER = 0x7fffffff;
const MOST_RIDES = 7;

/** The columns of a search, by round and stop: after at most so many rides. Searches share them, one at a time. */
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

/**
 * Finds the Pareto set of journeys over departure, arrival and number of rides (range RAPTOR). For each moment at
 * which a journey can begin, the latest first, it runs the rounds of RAPTOR on labels that stay from one moment to the next,
 * so that a later departure prunes the earlier ones.
 */
export function createSearcher(lines: Lines, footpaths: Footpaths, labels: Labels) {
  const { stopCount } = lines;
  const { rounds, arrived, ready, boardRun, boardAt, alightRun, alightAt, walkedFrom } = labels;
  const size = rounds * stopCount;
  const best = new Int32Array(rounds);
  const bestStop = new Int32Array(rounds);
  const egressSeconds = new Int32Array(stopCount).fill(-1);
  const firstPosition = new Int32Array(lines.lineCount).fill(-1);
  const queue: number[] = [];
  const isMarked = new Uint8Array(stopCount);
  let marked: number[] = [];
  /** The stops that were marked in the round before. */
  const isBoarding = new Uint8Array(stopCount);
  let boarding: number[] = [];

  function mark(stop: number): void {
    if (isMarked[stop]) return;
    isMarked[stop] = 1;
    marked.push(stop);
  }

  /** Collects the lines at the marked stops, each from its first marked stop on. */
  function collectLines({ allowed }: Search): void {
    const { firstVisit, visits } = lines;
    for (const stop of marked) {
      isMarked[stop] = 0;
      isBoarding[stop] = 1;
      for (let at = firstVisit[stop] as number, end = firstVisit[stop + 1] as number; at < end; at++) {
        const line = visits[at * 2] as number;
        const position = visits[at * 2 + 1] as number;
        if (allowed.lines && !allowed.lines[line]) continue;
        const known = firstPosition[line] as number;
        if (known === -1) queue.push(line);
        if (known === -1 || position < known) firstPosition[line] = position;
      }
    }
    [marked, boarding] = [[], marked];
  }

  /** The first run of the line that leaves the call at or after `from`, before run `end`; -1 for none. */
  function findRun(line: number, position: number, from: number, end: number, runs: Uint8Array | null): number {
    const { firstRun, starts, departures, offsets } = lines;
    let low = firstRun[line] as number;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] as number) + (offsets[(departures[middle] as number) + position] as number) < from) {
        low = middle + 1;
      } else high = middle;
    }
    while (runs && low < end && !runs[low]) low++;
    return low < end ? low : -1;
  }

  /** The first run before `run` that leaves the call at or after `from`, mostly none; -1 for none. */
  function findEarlier(line: number, position: number, from: number, run: number, runs: Uint8Array | null): number {
    const { firstRun, starts, departures, offsets } = lines;
    let found = -1;
    for (let one = run - 1; one >= (firstRun[line] as number); one--) {
      if ((starts[one] as number) + (offsets[(departures[one] as number) + position] as number) < from) break;
      if (!runs || runs[one]) found = one;
    }
    return found;
  }

  function arrive(round: number, stop: number, at: number, run: number, board: number, last: number, alight: number) {
    const label = round * stopCount + stop;
    if (at >= (arrived[label] as number) || at >= (best[round] as number)) return;
    boardRun[label] = run;
    boardAt[label] = board;
    alightRun[label] = last;
    alightAt[label] = alight;
    for (let later = label; later < size && (arrived[later] as number) > at; later += stopCount) arrived[later] = at;
    mark(stop);
    const walk = egressSeconds[stop] as number;
    if (walk < 0 || at + walk >= (best[round] as number)) return;
    for (let later = round; later < rounds && (best[later] as number) > at + walk; later++) best[later] = at + walk;
    bestStop[round] = stop;
    improved[round] = 1;
  }
  const improved = new Uint8Array(rounds);

  /** Rides along a line from its first marked stop: gets off wherever that is an improvement, and on wherever an earlier run can be had. */
  function ride(round: number, line: number, search: Search): void {
    const { firstCall, stops, flags, firstRun, starts, arrivals, offsets } = lines;
    const { runs, stops: usable } = search.allowed;
    const first = firstCall[line] as number;
    const last = (firstCall[line + 1] as number) - 1;
    const before = (round - 1) * stopCount;
    const row = round * stopCount;
    let run = -1;
    let board = 0;
    let start = 0;
    let arrivalsAt = 0;
    for (let call = first + (firstPosition[line] as number); call <= last; call++) {
      const stop = stops[call] as number;
      const position = call - first;
      if (run >= 0) {
        const at = start + (offsets[arrivalsAt + position] as number);
        if (at >= (best[round] as number)) {
          stayOn(round, run, board, search);
          run = -1;
        } else if (at < (arrived[row + stop] as number) && (flags[call] as number) & MAY_ALIGHT) {
          if (!usable || usable[stop]) arrive(round, stop, at, run, board, run, position);
        }
      }
      // The other stops were boarded from in an earlier round.
      if (!isBoarding[stop] || !((flags[call] as number) & MAY_BOARD) || call === last) continue;
      if (usable && !usable[stop]) continue;
      const from = ready[before + stop] as number;
      const earlier =
        run >= 0
          ? findEarlier(line, position, from, run, runs)
          : findRun(line, position, from, firstRun[line + 1] as number, runs);
      if (earlier < 0) continue;
      if (run >= 0) stayOn(round, run, board, search);
      run = earlier;
      board = position;
      start = starts[run] as number;
      arrivalsAt = arrivals[run] as number;
    }
    if (run >= 0) stayOn(round, run, board, search);
  }

  /** In the same vehicle no change is made, however it goes on. */
  function stayOn(round: number, run: number, board: number, { allowed }: Search): void {
    const { firstCall, stops, flags, starts, arrivals, offsets, lineOfRun, nextRuns } = lines;
    for (let next = nextRuns[run] as number; next >= 0; next = nextRuns[next] as number) {
      const line = lineOfRun[next] as number;
      if ((allowed.lines && !allowed.lines[line]) || (allowed.runs && !allowed.runs[next])) return;
      const first = firstCall[line] as number;
      const count = (firstCall[line + 1] as number) - first;
      for (let position = 1; position < count; position++) {
        const stop = stops[first + position] as number;
        if (!((flags[first + position] as number) & MAY_ALIGHT) || (allowed.stops && !allowed.stops[stop])) continue;
        const at = (starts[next] as number) + (offsets[(arrivals[next] as number) + position] as number);
        arrive(round, stop, at, run, board, next, position);
      }
    }
  }

  /** From where a ride ends the rider changes there, or walks to stops around. */
  function walk(round: number, changeSeconds: number): void {
    const { first, targets, seconds } = footpaths;
    const row = round * stopCount;
    const reached = marked;
    marked = [];
    for (const stop of reached) isMarked[stop] = 0;
    for (const stop of reached) {
      const at = arrived[row + stop] as number;
      getReady(round, stop, at + changeSeconds, stop);
      for (let index = first[stop] as number, end = first[stop + 1] as number; index < end; index++) {
        getReady(round, targets[index] as number, at + Math.max(changeSeconds, seconds[index] as number), stop);
      }
    }
  }

  function getReady(round: number, stop: number, at: number, from: number): void {
    const label = round * stopCount + stop;
    if (at >= (ready[label] as number) || at >= (best[round] as number)) return;
    walkedFrom[label] = from;
    for (let later = label; later < size && (ready[later] as number) > at; later += stopCount) ready[later] = at;
    mark(stop);
  }

  /** Follows the labels back from the end of the last ride. */
  function readRides(round: number): Ride[] {
    const rides: Ride[] = [];
    let stop = bestStop[round] as number;
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

  /** The moments at which a journey can begin with a run at one of the stops, the latest first, each with its stops. */
  function listBeginnings({ access, from, until, allowed }: Search): [at: number, walks: Walk[]][] {
    const { firstVisit, visits, firstCall, flags, firstRun, starts, departures, offsets } = lines;
    const beginnings = new Map<number, Walk[]>();
    for (const walk of access) {
      const { stop, seconds } = walk;
      if (allowed.stops && !allowed.stops[stop]) continue;
      for (let index = firstVisit[stop] as number; index < (firstVisit[stop + 1] as number); index++) {
        const line = visits[index * 2] as number;
        const position = visits[index * 2 + 1] as number;
        const call = (firstCall[line] as number) + position;
        if (!((flags[call] as number) & MAY_BOARD) || call === (firstCall[line + 1] as number) - 1) continue;
        if (allowed.lines && !allowed.lines[line]) continue;
        const end = firstRun[line + 1] as number;
        let run = findRun(line, position, from + seconds, end, allowed.runs);
        for (; run >= 0 && run < end; run++) {
          const at = (starts[run] as number) + (offsets[(departures[run] as number) + position] as number) - seconds;
          if (at >= until) break;
          if (allowed.runs && !allowed.runs[run]) continue;
          const known = beginnings.get(at);
          if (!known) beginnings.set(at, [walk]);
          else if (known.at(-1) !== walk) known.push(walk);
        }
      }
    }
    return [...beginnings].sort(([one], [other]) => other - one);
  }

  function runRounds(walks: readonly Walk[], departsAt: number, wanted: Search): void {
    improved.fill(0);
    for (const { stop, seconds } of walks) {
      if (!wanted.allowed.stops || wanted.allowed.stops[stop]) getReady(0, stop, departsAt + seconds, -1);
    }
    for (let round = 1; round <= Math.min(wanted.maxRides, MOST_RIDES) && marked.length > 0; round++) {
      collectLines(wanted);
      for (const line of queue) {
        ride(round, line, wanted);
        firstPosition[line] = -1;
      }
      queue.length = 0;
      for (const stop of boarding) isBoarding[stop] = 0;
      if (round < wanted.maxRides) walk(round, wanted.changeSeconds);
    }
    for (const stop of marked) isMarked[stop] = 0;
    marked = [];
  }

  return function search(wanted: Search): Found[] {
    arrived.fill(NEVER);
    ready.fill(NEVER);
    best.fill(Math.min(NEVER, wanted.latest + 1));
    for (const { stop, seconds } of wanted.egress) {
      const known = egressSeconds[stop] as number;
      egressSeconds[stop] = known < 0 ? seconds : Math.min(known, seconds);
    }
    const found: Found[] = [];
    const collect = (departsAt: number) => {
      for (let round = 1; round < rounds; round++) {
        if (improved[round]) found.push({ departsAt, arrivesAt: best[round] as number, rides: readRides(round) });
      }
    };
    if (wanted.isOpen) {
      runRounds(wanted.access, wanted.until, wanted);
      if (wanted.from === wanted.until) collect(wanted.until);
    }
    for (const [departsAt, walks] of listBeginnings(wanted)) {
      runRounds(walks, departsAt, wanted);
      collect(departsAt);
    }
    for (const { stop } of wanted.egress) egressSeconds[stop] = -1;
    return found;
  };
}
