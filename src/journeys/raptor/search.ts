import { MAY_ALIGHT, MAY_BOARD } from '../../timetable/call-flags.ts';
import { findRun, listDepartures } from './departures.ts';
import { type Found, type Labels, NEVER, toRides } from './labels.ts';
import { boundArrival } from './last-ride.ts';
import { callAt, type Footpaths, type Lines, lastPosition, lastPositionOf, mirrorLine, offsetsOf } from './lines.ts';
import { type Destination, NO_SEARCH, type Range, type Search, type Walk } from './query.ts';
import { createTimeLeft, FAR } from './time-left.ts';

/** Times for more rides left take longer to find than they save, on journeys of up to `USUAL_RIDES` rides and on others. */
const MOST_LEFT = { usually: 2, ofLong: 3 };
const USUAL_RIDES = 4;

const UNKNOWN = -0x80000000;
const WINDOW_SECONDS = 3600;

/** A journey with fewer rides than another one within its time may take this many times as long. */
const SLOWEST = 2;

/** The latest arrival of a journey that leaves then and is listed beside the quick one. */
export function latestBeside(quick: Pick<Found, 'departsAt' | 'arrivesAt'>, departsAt: number): number {
  return departsAt + SLOWEST * (quick.arrivesAt - quick.departsAt);
}

/**
 * Searches in one direction. `begin` starts a search. `reach` then finds the earliest arrival with plain RAPTOR. `range` finds
 * the Pareto set of departure, arrival and number of rides with range RAPTOR: it runs the rounds for each departure, latest
 * first. Labels are kept from one departure to the next, so that later departures prune earlier ones. Before each round
 * `checkDeadline` may end the search by throwing.
 */
export function createSearcher(
  lines: Lines,
  footpaths: Footpaths,
  labels: Labels,
  checkDeadline: () => void = () => {},
) {
  const { stopCount } = lines;
  const { rounds, arrived, ready, boardRun, boardAt, alightRun, alightAt, walkedFrom } = labels;
  let query: Search = NO_SEARCH;
  let maxRides = 0;
  /** The labels of the rounds up to this one are those of this search. */
  let openRounds = 0;
  let bounds: Range['bounds'] = null;
  /** By round: labels at this time or later cannot improve the arrival at the destination. */
  const cutoff = new Int32Array(rounds);
  const timeLeft = createTimeLeft(lines, labels.left);
  /** With up to so many rides left, `timeLeft` drops labels; -1 for a search that is not aimed at a destination. */
  let mostLeft = -1;
  const nothingLeft = new Uint16Array(stopCount);
  /** In this round, the least time to the destination for riders who alight at a stop, or can board there. */
  let leftAlighted = nothingLeft;
  let leftReady = nothingLeft;
  /** The same for riders on board who leave a call. Null in a search that is not aimed at a destination. */
  let leftAboard: Uint16Array | null = null;
  /** The first position on each line from which `reach` has followed it; `NEVER` for other lines. The search back follows only these. */
  const followed = new Int32Array(lines.modes.length).fill(NEVER);
  /**
   * By round and line, the first run that was ridden with so many rides or fewer, and where it was boarded. From there on, only earlier
   * runs are worth boarding.
   */
  const ridden = new Int32Array(rounds * lines.modes.length);
  const riddenFrom = new Int32Array(rounds * lines.modes.length);
  /** When the first run of each line begins that is still on its way at `windowStart`; `UNKNOWN` until it is needed. */
  const nextStart = new Int32Array(lines.modes.length);
  let windowStart = NEVER;
  /** `reach` continues this many seconds past the first arrival. */
  let slack = 0;
  /** By round, the first arrival that `reach` found at the destination. */
  const arrivals = new Int32Array(rounds);
  const bestStop = new Int32Array(rounds);
  const improved = new Uint8Array(rounds);
  const egressSeconds = new Int32Array(stopCount).fill(-1);
  /** The columns have room for the lines of later snapshots. */
  const firstPosition = new Int32Array(lines.modes.length).fill(-1);
  /** The last position of a line in the queue where it may be boarded. */
  const lastPositions = new Int32Array(lines.modes.length);
  const queue: number[] = [];
  const isMarked = new Uint8Array(stopCount);
  let markedStops: number[] = [];
  /** The stops that were marked in the previous round. */
  const isBoarding = new Uint8Array(stopCount);
  const boarding: number[] = [];

  function mark(stop: number): void {
    if (isMarked[stop]) return;
    isMarked[stop] = 1;
    markedStops.push(stop);
  }

  function board(stop: number): void {
    if (isBoarding[stop]) return;
    isBoarding[stop] = 1;
    boarding.push(stop);
  }

  function enqueue(line: number, position: number): void {
    if (endOf(line) < 0) return;
    const earliestPosition = firstPosition[line] as number;
    if (earliestPosition === -1) {
      queue.push(line);
      lastPositions[line] = position;
    } else if (position > (lastPositions[line] as number)) lastPositions[line] = position;
    if (earliestPosition !== -1 && position >= earliestPosition) return;
    firstPosition[line] = position;
    if (position < (followed[line] as number)) followed[line] = position;
  }

  /** Collects the lines at the marked stops, each from its first marked stop on. */
  function collectLines(round: number): void {
    const { live } = lines;
    boundTimeLeft(round);
    for (const stop of markedStops) {
      isMarked[stop] = 0;
      board(stop);
      enqueueVisits(lines, stop, round);
      if (live) enqueueVisits(live, stop, round);
    }
    markedStops.length = 0;
  }

  /** Adds the lines at a stop that lead to the destination in time, as far as known, and have a run that begins by then. */
  function enqueueVisits(
    { firstVisit, visits }: Pick<Lines, 'firstVisit' | 'visits'>,
    stop: number,
    round: number,
  ): void {
    const { firstCall } = lines;
    const { lines: isAllowed } = query.allowed;
    const aboard = leftAboard;
    const latest = cutoff[round] as number;
    const left = Math.min(FAR, latest - (ready[(round - 1) * stopCount + stop] as number));
    for (let at = firstVisit[stop] as number, end = firstVisit[stop + 1] as number; at < end; at++) {
      const line = visits[at * 2] as number;
      let start = nextStart[line] as number;
      if (start === UNKNOWN) start = findNextStart(line);
      if (start >= latest) continue;
      const position = visits[at * 2 + 1] as number;
      if (aboard && (aboard[(firstCall[line] as number) + position] as number) >= left) continue;
      if (!isAllowed || isAllowed[line]) enqueue(line, position);
    }
  }

  /** Only runs before this one are worth boarding at a call of a line. */
  function endAt(row: number, line: number, position: number): number {
    return (position >= (riddenFrom[row + line] as number) ? ridden[row + line] : lines.firstRun[line + 1]) as number;
  }

  /** Records that a run was boarded in a round. Where vehicles continue, a later run may lead elsewhere. */
  function recordRidden(round: number, line: number, position: number, run: number): void {
    if (timeLeft.continues[line]) return;
    const { length } = lines.modes;
    for (let at = round * length + line; at <= maxRides * length + line; at += length) {
      if (run >= (ridden[at] as number)) return;
      ridden[at] = run;
      riddenFrom[at] = position;
    }
  }

  /** Most lines have no run at the time of the search. */
  function findNextStart(line: number): number {
    const { firstRun, starts, departures, arrivals } = lines;
    const offsets = offsetsOf(lines, line);
    const last = lastPositionOf(lines, line);
    const end = firstRun[line + 1] as number;
    let low = firstRun[line] as number;
    for (let high = end; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] as number) + (offsets[(arrivals[middle] as number) + last] as number) < windowStart) {
        low = middle + 1;
      } else high = middle;
    }
    const start = low < end ? (starts[low] as number) + (offsets[departures[low] as number] as number) : NEVER;
    nextStart[line] = start;
    return start;
  }

  /** What is known of an earlier time is true of a later one, but may be of little use. */
  function openWindow(from: number): void {
    if (from >= windowStart && from < windowStart + WINDOW_SECONDS) return;
    windowStart = from;
    nextStart.fill(UNKNOWN);
  }

  function refresh(): void {
    windowStart = NEVER;
    timeLeft.refresh();
  }

  function clearRidden(): void {
    const { length } = lines.modes;
    riddenFrom.fill(0, 0, (maxRides + 1) * length);
    for (let round = 1; round <= maxRides; round++) ridden.set(lines.firstRun.subarray(1, length + 1), round * length);
  }

  /** Clears the labels of more rounds. Filling all of them takes as long as a small search. */
  function openTo(round: number): void {
    arrived.fill(NEVER, openRounds * stopCount, (round + 1) * stopCount);
    ready.fill(NEVER, openRounds * stopCount, (round + 1) * stopCount);
    openRounds = Math.max(openRounds, round + 1);
  }

  /** Whether the search in the other direction cannot reach this stop in time with the remaining rides. */
  function isBeyond(bound: Int32Array | undefined, round: number, stop: number, at: number): boolean {
    return bound !== undefined && (bound[(maxRides - round) * stopCount + stop] as number) > 0 - at;
  }

  /** The last useful position on a line: where the search in the other direction has boarded it first. Less than 0 if it has not. */
  function endOf(line: number): number {
    const end = lastPositionOf(lines, line);
    return bounds ? end - (bounds.followed[mirrorLine(lines, line)] as number) : end;
  }

  /** Chooses the rows of a round. */
  function boundTimeLeft(round: number): void {
    const { alighted, ready: boarding, aboard } = labels.left;
    const ridesLeft = maxRides - round;
    leftAlighted = (ridesLeft <= mostLeft && alighted[ridesLeft]) || nothingLeft;
    leftReady = (ridesLeft <= mostLeft && boarding[ridesLeft]) || nothingLeft;
    leftAboard = (ridesLeft < mostLeft && aboard[ridesLeft + 1]) || null;
  }

  /** Lowers the labels of this and later rounds: with more rides allowed, a rider arrives no later. */
  function lower(column: Int32Array, label: number, at: number): void {
    const end = (maxRides + 1) * stopCount;
    for (let later = label; later < end && (column[later] as number) > at; later += stopCount) column[later] = at;
  }

  function arrive(round: number, stop: number, at: number, run: number, board: number, last: number, alight: number) {
    const label = round * stopCount + stop;
    if (at >= (arrived[label] as number) || at + (leftAlighted[stop] as number) >= (cutoff[round] as number)) return;
    if (isBeyond(bounds?.ready, round, stop, at)) return;
    boardRun[label] = run;
    boardAt[label] = board;
    alightRun[label] = last;
    alightAt[label] = alight;
    lower(arrived, label, at);
    mark(stop);
    const walk = egressSeconds[stop] as number;
    if (walk >= 0 && at + walk < (cutoff[round] as number)) arriveAtEnd(round, stop, at + walk);
  }

  function arriveAtEnd(round: number, stop: number, at: number): void {
    bestStop[round] = stop;
    improved[round] = 1;
    arrivals[round] = Math.min(at, arrivals[round] as number);
    cutOff(round, rounds, at + slack);
  }

  /** Later arrivals with these numbers of rides are dropped. */
  function cutOff(from: number, until: number, at: number): void {
    for (let round = from; round < until; round++) if (at < (cutoff[round] as number)) cutoff[round] = at;
  }

  /**
   * Rides along a line from its first marked stop. The rider alights wherever that is an improvement, and boards wherever an
   * earlier run can be caught.
   */
  function ride(round: number, line: number): void {
    const { firstCall, stops, firstRun, starts, arrivals, departures } = lines;
    const offsets = offsetsOf(lines, line);
    const { runs, stops: usable } = query.allowed;
    const flags = query.allowed.flags ?? lines.flags;
    const aboard = leftAboard;
    const first = firstCall[line] as number;
    const last = first + endOf(line);
    const before = (round - 1) * stopCount;
    const row = round * stopCount;
    const riddenRow = round * lines.modes.length;
    /** The run of the ride: only an earlier one is worth boarding. */
    let end = firstRun[line + 1] as number;
    const lastBoarding = first + (lastPositions[line] as number);
    let isOnBoard = false;
    let board = 0;
    let start = 0;
    let arrivalsAt = 0;
    for (let call = first + (firstPosition[line] as number); call <= last; call++) {
      const stop = stops[call] as number;
      const position = call - first;
      if (isOnBoard) {
        const at = start + (offsets[arrivalsAt + position] as number);
        if (at >= (cutoff[round] as number)) {
          stayOn(round, line, end, board);
          isOnBoard = false;
        } else if (
          at + (leftAlighted[stop] as number) < (cutoff[round] as number) &&
          at < (arrived[row + stop] as number) &&
          (flags[call] as number) & MAY_ALIGHT
        ) {
          if (!usable || usable[stop]) arrive(round, stop, at, end, board, end, position);
        }
        if (aboard && at + (aboard[call] as number) >= (cutoff[round] as number)) isOnBoard = false;
      }
      if (call > lastBoarding) {
        if (!isOnBoard) return;
        continue;
      }
      // The other stops were used for boarding in an earlier round.
      if (!isBoarding[stop] || !((flags[call] as number) & MAY_BOARD) || call === last) continue;
      if (usable && !usable[stop]) continue;
      const from = ready[before + stop] as number;
      const left = aboard ? (aboard[call] as number) : 0;
      if (left === FAR || from + left >= (cutoff[round] as number)) continue;
      const earlier = findRun(lines, line, position, from, Math.min(end, endAt(riddenRow, line, position)), runs);
      if (earlier < 0) continue;
      if (isOnBoard) stayOn(round, line, end, board);
      end = earlier;
      board = position;
      start = starts[earlier] as number;
      arrivalsAt = arrivals[earlier] as number;
      const leavesAt = start + (offsets[(departures[earlier] as number) + position] as number);
      isOnBoard = leavesAt + left < (cutoff[round] as number);
      if (isOnBoard) recordRidden(round, line, position, end);
    }
    if (isOnBoard) stayOn(round, line, end, board);
  }

  /**
   * Staying in the vehicle is no change, even when it continues as another run. The times of a late vehicle may overlap: it is not
   * left at a stop before the end of its first run.
   */
  function stayOn(round: number, from: number, run: number, board: number): void {
    if (!timeLeft.continues[from]) return;
    const { allowed } = query;
    const flags = allowed.flags ?? lines.flags;
    const { firstCall, stops, starts, arrivals, lineOfRun, nextRuns } = lines;
    if ((nextRuns[run] as number) < 0) return;
    const end = callAt(lines, run, lastPosition(lines, run)).arrivesAt;
    for (let next = nextRuns[run] as number; next >= 0; next = nextRuns[next] as number) {
      const line = lineOfRun[next] as number;
      if ((allowed.lines && !allowed.lines[line]) || (allowed.runs && !allowed.runs[next])) return;
      followed[line] = 0;
      const offsets = offsetsOf(lines, line);
      const first = firstCall[line] as number;
      const count = (firstCall[line + 1] as number) - first;
      for (let position = 1; position < count; position++) {
        const stop = stops[first + position] as number;
        if (!((flags[first + position] as number) & MAY_ALIGHT) || (allowed.stops && !allowed.stops[stop])) continue;
        const at = (starts[next] as number) + (offsets[(arrivals[next] as number) + position] as number);
        if (at >= end) arrive(round, stop, at, run, board, next, position);
      }
    }
  }

  /** From each stop where a ride ends, the rider changes there or walks to nearby stops. */
  function walk(round: number): void {
    const { first, targets, seconds } = query.footpaths ?? footpaths;
    const { changeSeconds } = query;
    const row = round * stopCount;
    const reached = markedStops;
    markedStops = [];
    for (const stop of reached) isMarked[stop] = 0;
    for (const stop of reached) {
      const at = arrived[row + stop] as number;
      prepare(round, stop, at + changeSeconds, stop);
      for (let index = first[stop] as number, end = first[stop + 1] as number; index < end; index++) {
        prepare(round, targets[index] as number, at + Math.max(changeSeconds, seconds[index] as number), stop);
      }
    }
  }

  function prepare(round: number, stop: number, at: number, from: number): void {
    const label = round * stopCount + stop;
    if (at + (leftReady[stop] as number) >= (cutoff[round] as number) || at >= (ready[label] as number)) return;
    if (isBeyond(bounds?.arrived, round, stop, at)) return;
    walkedFrom[label] = from;
    lower(ready, label, at);
    mark(stop);
  }

  /** Of several destinations, the one reached last bounds the search. */
  function boundByEnds(round: number, ends: readonly Destination[]): void {
    const row = round * stopCount;
    const firstAt = ({ egress, walked }: Destination) =>
      egress.reduce((first, { stop, seconds }) => Math.min(first, (arrived[row + stop] as number) + seconds), walked);
    const last = ends.reduce((latest, end) => Math.max(latest, firstAt(end)), Number.NEGATIVE_INFINITY);
    for (let other = 0; other < rounds; other++) cutoff[other] = Math.min(cutoff[other] as number, last + 1);
  }

  /** Runs the rounds on the enqueued stops. */
  function runRounds(): void {
    try {
      for (let round = 1; round <= maxRides && queue.length > 0; round++) {
        checkDeadline();
        for (const line of queue) {
          ride(round, line);
          firstPosition[line] = -1;
        }
        queue.length = 0;
        for (const stop of boarding) isBoarding[stop] = 0;
        boarding.length = 0;
        if (query.ends) boundByEnds(round, query.ends);
        if (round < maxRides) {
          walk(round);
          collectLines(round + 1);
        }
      }
    } finally {
      unmark();
    }
  }

  /** Clears what is left of the last round, for the next search. */
  function unmark(): void {
    for (const line of queue) firstPosition[line] = -1;
    queue.length = 0;
    for (const stop of boarding) isBoarding[stop] = 0;
    boarding.length = 0;
    for (const stop of markedStops) isMarked[stop] = 0;
    markedStops.length = 0;
  }

  function begin(search: Search): void {
    for (const { stop } of query.egress) egressSeconds[stop] = -1;
    timeLeft.begin({
      egress: search.egress,
      changeSeconds: search.changeSeconds,
      footpaths: search.footpaths ?? footpaths,
    });
    query = search;
    // The first arrival at one of several destinations must not end the search for the others.
    for (const { stop, seconds } of query.ends ? [] : query.egress) {
      const walkSeconds = egressSeconds[stop] as number;
      egressSeconds[stop] = walkSeconds < 0 ? seconds : Math.min(walkSeconds, seconds);
    }
    openRounds = 0;
    cutoff.fill(Math.min(NEVER, query.latest + 1));
    bounds = null;
    mostLeft = -1;
    slack = 0;
    arrivals.fill(NEVER);
    followed.fill(NEVER);
    labels.followed = followed;
  }

  return {
    begin,
    refresh,

    /**
     * Returns the first arrival by number of rides, for a departure at `from`. Labels are then valid until `slackSeconds` after
     * the earliest arrival. Without a destination, all labels up to `latest` are valid.
     */
    reach(from: number, rides: number, slackSeconds: number): Int32Array {
      maxRides = rides;
      slack = slackSeconds;
      openTo(maxRides);
      clearRidden();
      openWindow(from);
      mostLeft =
        query.egress.length > 0 ? Math.min(rides, rides > USUAL_RIDES ? MOST_LEFT.ofLong : MOST_LEFT.usually) : -1;
      if (mostLeft >= 0) timeLeft.extend(mostLeft, (cutoff[0] as number) - from);
      boundTimeLeft(0);
      for (const { stop, seconds } of query.access) {
        if (!query.allowed.stops || query.allowed.stops[stop]) prepare(0, stop, from + seconds, -1);
      }
      collectLines(1);
      runRounds();
      return arrivals;
    },

    /** After `reach`: see `boundArrival` of `last-ride.ts`. */
    boundArrival: (egress: readonly Walk[], until: number) =>
      boundArrival(lines, labels, query, { egress, until, rides: maxRides }),

    *range(range: Range): Generator<Found> {
      ({ bounds, maxRides } = range);
      openTo(maxRides);
      clearRidden();
      openWindow(range.from);
      const quick = [...(range.known ?? [])];
      for (const { arrivesAt, rides } of quick) cutOff(rides.length, rounds, arrivesAt);
      for (const [departsAt, departures] of listDepartures(lines, query, range)) {
        improved.fill(0);
        for (const one of quick) {
          cutOff(0, one.rides.length, Math.max(one.arrivesAt, latestBeside(one, departsAt) + 1));
        }
        for (const { stop, seconds, line, position } of departures) {
          if (isBeyond(bounds?.arrived, 0, stop, departsAt + seconds)) continue;
          lower(ready, stop, departsAt + seconds);
          board(stop);
          enqueue(line, position);
        }
        boundTimeLeft(1);
        runRounds();
        for (let round = 1; round < rounds; round++) {
          if (improved[round]) {
            const stop = bestStop[round] as number;
            const arrivesAt = (arrived[round * stopCount + stop] as number) + (egressSeconds[stop] as number);
            const found = { departsAt, arrivesAt, rides: toRides(lines, labels, round, stop) };
            quick.push(found);
            yield found;
          }
        }
      }
    },
  };
}
