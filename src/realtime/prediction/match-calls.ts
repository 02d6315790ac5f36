import type { Int32Column, Uint16Column } from '../../core/columns.ts';
import { NONE, STOP } from '../feed/packed-feed.ts';
import type { PlannedRuns } from './planned-runs.ts';
import type { RunColumns } from './run-columns.ts';

/** A planned time of a feed and one of the timetable count as the same up to this difference. */
const SAME_TIME_SECONDS = 60;

/** The stop updates of a trip, by their rows in the feed. */
export interface Updates {
  rows: Int32Column;
  first: number;
  count: number;
  /** Converts the text number of a stop identifier to the index of the stop; -1 if the timetable lacks it. */
  stopOf(text: number): number;
  /** The header, in seconds since 1970. */
  base: number;
}

/** The entry of an update without a call: the run has no such call. */
export const UNMATCHED = -1;
/** The entry of an update without a call: the timetable lacks the stop. */
export const UNKNOWN_STOP = -2;

/**
 * Finds the call of each update and writes it to `calls`. First by its sequence number, if the stop is the same or of the same
 * station. Then by its stop, in the order of the run. Last as a call that moved to another stop: by its sequence number, by its
 * planned time, or as the only one of the station. Feeds drop stops that a vehicle has passed, so updates are matched from the
 * last to the first.
 */
export function matchCalls(
  columns: RunColumns,
  updates: Updates,
  runs: PlannedRuns,
  { sequences, isLoop }: { sequences: Uint16Column; isLoop: boolean },
  calls: Int32Column,
): void {
  const { count, stop: stops, update: updateOf } = columns;
  const { rows, first, count: updateCount, stopOf, base } = updates;
  let limit = count;
  let unmatched = 0;
  for (let index = updateCount - 1; index >= 0; index--) {
    const row = (first + index) * STOP.words;
    const text = rows.valueAt(row + STOP.stopId);
    const stop = text === NONE ? NONE : stopOf(text);
    const call = findCall(row, stop);
    if (call < 0) {
      calls[index] = stop === -1 ? UNKNOWN_STOP : UNMATCHED;
      unmatched++;
      continue;
    }
    calls[index] = call;
    updateOf[call] = first + index;
    if (call < limit) limit = call;
  }
  if (unmatched > 0) matchMoved();

  function findCall(row: number, stop: number): number {
    const sequence = rows.valueAt(row + STOP.sequence);
    if (sequence !== NONE) {
      let at = Math.min(limit, count) - 1;
      while (at >= 0 && sequences.valueAt(at) > sequence) at--;
      // The updates may not be in the order of the run.
      if (sequences[at] !== sequence) at = sequences.indexOf(sequence, limit);
      if (at >= 0 && updateOf[at] === -1 && fits(at, stop)) return at;
    }
    if (stop < 0) return -1;
    if (isLoop) return findNearest(row, stop);
    for (let at = limit - 1; at >= 0; at--) if (stops[at] === stop) return at;
    // The updates are not in the order of the run.
    for (let at = limit; at < count; at++) if (stops[at] === stop && updateOf[at] === -1) return at;
    return -1;
  }

  function fits(at: number, stop: number): boolean {
    return stop < 0 || runs.isSameStation(stops.valueAt(at), stop);
  }

  /** Of the calls at this stop before the next matched call: the nearest in time, or the last one if the update has no time. */
  function findNearest(row: number, stop: number): number {
    const planned = plannedTime(rows, row, base);
    const time = planned === NONE ? givenTime(rows, row, base) : planned;
    let nearest = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let at = limit - 1; at >= 0; at--) {
      if (stops[at] !== stop || updateOf[at] !== -1) continue;
      if (time === NONE) return at;
      const apart = Math.abs(time - columns.plannedDeparture.valueAt(at));
      if (apart < least) [nearest, least] = [at, apart];
    }
    return nearest;
  }

  function matchMoved(): void {
    let before = -1;
    for (let index = 0; index < updateCount; index++) {
      const known = calls.valueAt(index);
      if (known >= 0) {
        before = known;
        continue;
      }
      let end = count;
      for (let later = index + 1; later < updateCount; later++) {
        if (calls.valueAt(later) >= 0) {
          end = calls.valueAt(later);
          break;
        }
      }
      const call = findMoved(index, before + 1, end);
      if (call < 0) continue;
      calls[index] = call;
      updateOf[call] = first + index;
      before = call;
    }
  }

  /** The call between two matched ones that the vehicle makes at another stop than planned; -1 if none. */
  function findMoved(index: number, from: number, end: number): number {
    const row = (first + index) * STOP.words;
    const text = rows.valueAt(row + STOP.stopId);
    if (text === NONE) return -1;
    const stop = stopOf(text);
    const sequence = rows.valueAt(row + STOP.sequence);
    const planned = plannedTime(rows, row, base);
    let [here, hereCount, elsewhere] = [-1, 0, -1];
    for (let at = from; at < end; at++) {
      if (updateOf[at] !== -1) continue;
      const isPlannedThen =
        planned !== NONE && Math.abs(planned - columns.plannedDeparture.valueAt(at)) <= SAME_TIME_SECONDS;
      const isHere = stop >= 0 && runs.isSameStation(stops.valueAt(at), stop);
      if (isHere && isPlannedThen) return at;
      if (isHere) [here, hereCount] = [at, hereCount + 1];
      // The first update of a feed is matched by planned time only if it is for the first stop of the run. Otherwise the feed may
      // have dropped the call, and the next one can be planned for the same minute.
      const isSequence = sequence !== NONE && sequences[at] === sequence;
      if (isSequence || (isPlannedThen && (index > 0 || sequence === 1))) elsewhere = at;
    }
    return hereCount === 1 ? here : elsewhere;
  }
}

/** The planned time of a call, computed as time minus delay: of the departure, else of the arrival; `NONE` if unknown. */
export function plannedTime(rows: Int32Column, row: number, base: number): number {
  const departs = plannedBy(rows, row + STOP.departureDelay, base);
  return departs === NONE ? plannedBy(rows, row + STOP.arrivalDelay, base) : departs;
}

/** The planned time from a delay at index `at` and the time in the next word; `NONE` if either is missing. */
export function plannedBy(rows: Int32Column, at: number, base: number): number {
  const [delay, seconds] = [rows.valueAt(at), rows.valueAt(at + 1)];
  return delay === NONE || seconds === NONE ? NONE : (seconds >>> 0) - base - delay;
}

export function givenTime(rows: Int32Column, row: number, base: number): number {
  const seconds = rows.valueAt(row + STOP.departureSeconds);
  const other = rows.valueAt(row + STOP.arrivalSeconds);
  if (seconds !== NONE) return (seconds >>> 0) - base;
  return other === NONE ? NONE : (other >>> 0) - base;
}
