import { MAY_ALIGHT, MAY_BOARD } from '../../timetable/call-flags.ts';
import { CELL_CHANGE_SECONDS } from '../../timetable/map-cells.ts';
import { boundByCells, type CellBounds } from './cell-bounds.ts';
import { findRun, listDepartures } from './departures.ts';
import { clearLabels, copyRound, type Found, type FromUntil, type Labels, toRides } from './labels.ts';
import { boundArrival } from './last-ride.ts';
import {
  callAt,
  type Footpaths,
  type Lines,
  lastPosition,
  lastPositionOf,
  mirrorLine,
  NEVER,
  offsetsOf,
} from './lines.ts';
import { type Destination, NO_SEARCH, type Range, type Search, type Walk } from './query.ts';
import { createTimeLeft, FAR } from './time-left.ts';
import { createWindow } from './window.ts';

/** `timeLeft` is used for up to this many rides left: for more, it takes longer than it saves. */
const MOST_LEFT = 2;

/** The `firstBoarding` of a line that is not in the queue. */
const NOT_QUEUED = NEVER;

/** Windows are opened this much wider, for the later passes of a search: their `reach` begins later, their `range` earlier. */
const REACH_SECONDS = 9 * 3600;
const RANGE_SECONDS = 3 * 3600;

/** A journey with fewer rides is listed beside a quicker one if it takes at most this many times as long. */
const SLOWEST = 2;

/** The latest arrival of a journey that leaves at `departsAt` and is still listed beside the quick one. */
export function latestBeside(quick: FromUntil, departsAt: number): number {
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
  cells: CellBounds | null = null,
) {
  const { stopCount } = lines;
  const { rounds, arrived, ready, rides, walkedFrom, reached, isReached } = labels;
  let query: Search = NO_SEARCH;
  let maxRides = 0;
  let bounds: Range['bounds'] = null;
  /** Whether each round begins with a copy of the labels of the round before. */
  let isCopying = false;
  /** By round: labels at this time or later cannot improve the arrival at the destination. */
  const cutoff = new Int32Array(rounds);
  const window = createWindow(lines, labels.visits);
  const timeLeft = createTimeLeft(lines, labels.left, window);
  /** `timeLeft` drops labels with up to this many rides left; -1 for a search that is not aimed at a destination. */
  let mostLeft = -1;
  const nothingLeft = new Uint16Array(stopCount);
  /** By stop, the least time to the destination between cells of the map, and the walks there for which it was found. */
  const leftByCells = cells ? new Uint16Array(stopCount) : nothingLeft;
  let cellsOf: readonly Walk[] | null = null;
  /** `leftByCells` where it is used in this search, else all 0. */
  let leftAnyway = nothingLeft;
  /**
   * In this round, by stop, the least time to the destination: for riders who alight there, and for riders who can board there.
   * Where `timeLeft` is not used, the first is 0 and the second is `leftAnyway`.
   */
  let leftAlighted = nothingLeft;
  let leftReady = nothingLeft;
  /** The same by call, for riders who stay on board. Null where `timeLeft` is not used: `leftAnyway` then applies, by stop. */
  let leftAboard: Uint16Array | null = null;
  /** The first position on each line from which `reach` has followed it; `NEVER` for other lines. The search back follows only these. */
  const followed = new Int32Array(lines.modes.length).fill(NEVER);
  /**
   * By round and line, the first run that was boarded with that many rides or fewer, and at which position. From there on, only
   * earlier runs are worth boarding.
   */
  const ridden = new Int32Array(rounds * lines.modes.length);
  const riddenFrom = new Int32Array(rounds * lines.modes.length);
  /** The lines of `ridden` to clear before the next search; null for all. */
  let riddenLines: number[] | null = null;
  /** `reach` continues this many seconds past the first arrival. */
  let slack = 0;
  /** By round, the first arrival that `reach` found at the destination. */
  const arrivals = new Int32Array(rounds);
  const bestStop = new Int32Array(rounds);
  const improved = new Uint8Array(rounds);
  const egressSeconds = new Int32Array(stopCount).fill(-1);
  /** By line, with room for the lines of later snapshots: the first and the last call where it may be boarded in this round. */
  const firstBoarding = new Int32Array(lines.modes.length).fill(NOT_QUEUED);
  const lastBoarding = new Int32Array(lines.modes.length);
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
    recordReached(stop);
  }

  function recordReached(stop: number): void {
    if (isReached[stop]) return;
    isReached[stop] = 1;
    reached.push(stop);
  }

  function board(stop: number): void {
    if (isBoarding[stop]) return;
    isBoarding[stop] = 1;
    boarding.push(stop);
  }

  /** Adds a line that may be boarded at a call to the queue. */
  function enqueue(line: number, call: number): void {
    if (endOf(line) < 0) return;
    if (firstBoarding[line] === NOT_QUEUED) {
      queue.push(line);
      firstBoarding[line] = lastBoarding[line] = call;
    } else {
      firstBoarding[line] = Math.min(call, firstBoarding[line] as number);
      lastBoarding[line] = Math.max(call, lastBoarding[line] as number);
    }
    const position = call - (lines.firstCall[line] as number);
    if (position < (followed[line] as number)) followed[line] = position;
  }

  /** Collects the lines at the marked stops, each from its first marked stop on. */
  function collectLines(round: number): void {
    boundTimeLeft(round);
    for (const stop of markedStops) {
      isMarked[stop] = 0;
      board(stop);
      enqueueVisits(stop, round);
    }
    markedStops.length = 0;
  }

  /** Adds the lines at a stop to the queue, without those that are known to be too late for the destination. */
  function enqueueVisits(stop: number, round: number): void {
    const { lines: isAllowed } = query.allowed;
    const aboard = leftAboard;
    const latest = cutoff[round] as number;
    const left = Math.min(FAR, latest - (ready[(round - 1) * stopCount + stop] as number));
    const end = window.list(stop);
    const { first, items } = window.visits;
    const { starts } = window;
    for (let at = first[stop] as number; at < end; at += 2) {
      const line = items[at] as number;
      if ((starts[line] as number) >= latest) continue;
      const call = items[at + 1] as number;
      // Usually the line is in the queue already, from an earlier call.
      if (call >= (firstBoarding[line] as number)) {
        if (call > (lastBoarding[line] as number)) lastBoarding[line] = call;
      } else if ((!aboard || (aboard[call] as number) < left) && (!isAllowed || isAllowed[line])) enqueue(line, call);
    }
  }

  /**
   * Records that a run was boarded in a round; not on lines whose vehicles continue, because there a later run may lead elsewhere.
   */
  function recordRidden(round: number, line: number, position: number, run: number): void {
    if (timeLeft.continues[line]) return;
    const { length } = lines.modes;
    riddenLines?.push(line);
    for (let at = round * length + line; at <= maxRides * length + line; at += length) {
      if (run >= (ridden[at] as number)) return;
      ridden[at] = run;
      riddenFrom[at] = position;
    }
  }

  function refresh(): void {
    window.refresh();
    timeLeft.refresh();
    riddenLines = null;
  }

  function clearRidden(): void {
    const { length } = lines.modes;
    if (riddenLines && riddenLines.length < length) {
      for (let start = 0; start < rounds * length; start += length) {
        for (const line of riddenLines) {
          ridden[start + line] = lines.firstRun[line + 1] as number;
          riddenFrom[start + line] = 0;
        }
      }
    } else {
      riddenFrom.fill(0);
      for (let round = 0; round < rounds; round++) ridden.set(lines.firstRun.subarray(1, length + 1), round * length);
    }
    riddenLines = [];
  }

  /**
   * Whether the search in the other direction has not reached this stop with the remaining rides, or only too late to meet this
   * one.
   */
  function isBeyond(bound: Int32Array | undefined, round: number, stop: number, at: number): boolean {
    return bound !== undefined && (bound[(maxRides - round) * stopCount + stop] as number) > 0 - at;
  }

  /**
   * The last useful position on a line: the first one where the search in the other direction has boarded it. Less than 0 if it has
   * not.
   */
  function endOf(line: number): number {
    const end = lastPositionOf(lines, line);
    return bounds ? end - (bounds.followed[mirrorLine(lines, line)] as number) : end;
  }

  /** Uses the times between cells, unless journeys may be faster than these. */
  function aimByCells(): void {
    const { changeSeconds, egress, footpaths: chosen = footpaths } = query;
    if (!cells || egress.length === 0) return;
    if (lines.live || chosen.isFast || changeSeconds < CELL_CHANGE_SECONDS) return;
    if (cellsOf !== egress) boundByCells(leftByCells, cells, egress);
    cellsOf = egress;
    leftAnyway = leftByCells;
  }

  /** Chooses the rows of `timeLeft` that apply in a round. */
  function boundTimeLeft(round: number): void {
    const { alighted, ready: boarding, aboard } = labels.left;
    const ridesLeft = maxRides - round;
    leftAlighted = (ridesLeft <= mostLeft && alighted[ridesLeft]) || nothingLeft;
    leftReady = (ridesLeft <= mostLeft && boarding[ridesLeft]) || leftAnyway;
    leftAboard = (ridesLeft < mostLeft && aboard[ridesLeft + 1]) || null;
  }

  /**
   * Lowers the labels of this and later rounds: with more rides allowed, a rider arrives no later. `reach` copies the labels of all
   * stops from round to round instead, which takes less time than to lower many here.
   */
  function lower(column: Int32Array, label: number, at: number): void {
    const end = isCopying ? label + 1 : (maxRides + 1) * stopCount;
    for (let later = label; later < end && (column[later] as number) > at; later += stopCount) column[later] = at;
  }

  function arrive(round: number, stop: number, at: number, run: number, board: number, last: number, alight: number) {
    const label = round * stopCount + stop;
    if (at >= (arrived[label] as number) || at + (leftAlighted[stop] as number) >= (cutoff[round] as number)) return;
    if (isBeyond(bounds?.ready, round, stop, at)) return;
    const ride = 4 * label;
    rides[ride] = run;
    rides[ride + 1] = board;
    rides[ride + 2] = last;
    rides[ride + 3] = alight;
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

  /** Drops arrivals at this time or later with `from` up to, but not including, `until` rides. */
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
    const byStop = leftAnyway;
    const alighted = leftAlighted;
    const known = arrived;
    const isOpen = isBoarding;
    let latest = cutoff[round] as number;
    const first = firstCall[line] as number;
    const last = first + endOf(line);
    const rowBefore = (round - 1) * stopCount;
    const row = round * stopCount;
    const riddenAt = riddenFrom[round * lines.modes.length + line] as number;
    const riddenRun = ridden[round * lines.modes.length + line] as number;
    const firstOfLine = firstRun[line] as number;
    /** The run of the ride: only an earlier one is worth boarding. */
    let end = firstRun[line + 1] as number;
    /** The `before` for which the next two values are cached. */
    let lastBefore = -1;
    let lastStart = 0;
    let lastDepartures = 0;
    const lastCall = lastBoarding[line] as number;
    let isOnBoard = false;
    let board = 0;
    /** An earlier ride has already followed the runs from this one on, where their vehicles continue. */
    let until = 0;
    let start = 0;
    let arrivalsAt = 0;
    for (let call = firstBoarding[line] as number; call <= last; call++) {
      const stop = stops[call] as number;
      const position = call - first;
      if (isOnBoard) {
        const at = start + (offsets[arrivalsAt + position] as number);
        if (at >= latest) {
          stayOn(round, line, end, until, board);
          isOnBoard = false;
        } else if (
          at < (known[row + stop] as number) &&
          at + (alighted[stop] as number) < latest &&
          (flags[call] as number) & MAY_ALIGHT &&
          (!usable || usable[stop])
        ) {
          arrive(round, stop, at, end, board, end, position);
          latest = cutoff[round] as number;
        }
        if (at + (aboard ? (aboard[call] as number) : (byStop[stop] as number)) >= latest) isOnBoard = false;
      }
      if (call > lastCall) {
        if (!isOnBoard) return;
        continue;
      }
      // The other stops were used for boarding in an earlier round.
      if (!isOpen[stop] || !((flags[call] as number) & MAY_BOARD) || call === last) continue;
      if (usable && !usable[stop]) continue;
      const from = ready[rowBefore + stop] as number;
      const left = aboard ? (aboard[call] as number) : (byStop[stop] as number);
      if (left === FAR || from + left >= latest) continue;
      const before = position >= riddenAt ? Math.min(end, riddenRun) : end;
      if (before <= firstOfLine) continue;
      if (before !== lastBefore) {
        lastBefore = before;
        lastStart = starts[before - 1] as number;
        lastDepartures = departures[before - 1] as number;
      }
      // Usually the rider cannot catch even the last of these runs.
      if (lastStart + (offsets[lastDepartures + position] as number) < from) continue;
      const earlier = findRun(lines, line, position, from, before, runs);
      if (earlier < 0) continue;
      if (isOnBoard) stayOn(round, line, end, until, board);
      end = earlier;
      until = before;
      board = position;
      start = starts[earlier] as number;
      arrivalsAt = arrivals[earlier] as number;
      const leavesAt = start + (offsets[(departures[earlier] as number) + position] as number);
      isOnBoard = leavesAt + left < latest;
      if (isOnBoard) recordRidden(round, line, position, end);
    }
    if (isOnBoard) stayOn(round, line, end, until, board);
  }

  /**
   * Staying in the vehicle is no change, even when it continues as another run. Runs of one line may continue on different lines,
   * so this follows the first run to each of them, from `run` up to `until`.
   */
  function stayOn(round: number, from: number, run: number, until: number, board: number): void {
    if (!timeLeft.continues[from]) return;
    const { runs } = query.allowed;
    const { starts, lineOfRun, lineCount, nextRuns } = lines;
    const latest = cutoff[round] as number;
    const lineAfter = (one: number) => {
      const next = nextRuns[one] as number;
      return next < 0 ? -1 : (lineOfRun[next] as number);
    };
    const known: number[] = [];
    for (let later = run; later < until && (starts[later] as number) < latest; later++) {
      const next = nextRuns[later] as number;
      if (next < 0 || (runs && !runs[later])) continue;
      // The vehicle may continue once more.
      const onward = lineAfter(later) * (lineCount + 1) + lineAfter(next) + 1;
      if (known.includes(onward)) continue;
      known.push(onward);
      continueAs(round, later, board);
    }
  }

  /**
   * Follows the runs that a vehicle continues as. If it is late, their times may overlap: riders alight only after the end of
   * `run`.
   */
  function continueAs(round: number, run: number, board: number): void {
    const { allowed } = query;
    const flags = allowed.flags ?? lines.flags;
    const { firstCall, stops, starts, arrivals, lineOfRun, nextRuns } = lines;
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
    // Most walks lead nowhere. They are dropped here, without a function call for each.
    const latest = cutoff[round] as number;
    const left = leftReady;
    const known = ready;
    const arrivedAt = markedStops;
    markedStops = [];
    for (const stop of arrivedAt) isMarked[stop] = 0;
    for (const stop of arrivedAt) {
      const at = arrived[row + stop] as number;
      prepare(round, stop, at + changeSeconds, stop);
      for (let index = first[stop] as number, end = first[stop + 1] as number; index < end; index++) {
        const target = targets[index] as number;
        const readyAt = at + Math.max(changeSeconds, seconds[index] as number);
        if (readyAt >= (known[row + target] as number) || readyAt + (left[target] as number) >= latest) continue;
        prepare(round, target, readyAt, stop);
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
    for (let other = 0; other < rounds; other++) cutoff[other] = Math.min(cutoff[other] as number, last + 1 + slack);
  }

  /** Runs the rounds, beginning with the lines in the queue. */
  function runRounds(): void {
    try {
      for (let round = 1; round <= maxRides && (queue.length > 0 || isCopying); round++) {
        if (isCopying) copyRound(labels, round);
        if (queue.length === 0) continue;
        checkDeadline();
        for (const line of queue) {
          ride(round, line);
          firstBoarding[line] = NOT_QUEUED;
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
    for (const line of queue) firstBoarding[line] = NOT_QUEUED;
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
    clearLabels(labels);
    cutoff.fill(Math.min(NEVER, query.latest + 1));
    bounds = null;
    mostLeft = -1;
    leftAnyway = nothingLeft;
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
      isCopying = true;
      clearRidden();
      window.open(from, cutoff[0] as number, { after: REACH_SECONDS });
      mostLeft = query.egress.length > 0 ? Math.min(rides - 1, MOST_LEFT) : -1;
      if (mostLeft >= 0) timeLeft.extend(mostLeft);
      aimByCells();
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
      isCopying = false;
      clearRidden();
      window.open(range.from, query.latest + 1, { before: RANGE_SECONDS });
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
          recordReached(stop);
          board(stop);
          enqueue(line, (lines.firstCall[line] as number) + position);
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
