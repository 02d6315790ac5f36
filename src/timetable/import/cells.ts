import { firstFrom } from '../../core/binary-search.ts';
import { Int32Column, Uint8Column, Uint16Column } from '../../core/columns.ts';
import { distanceMetres } from '../../transit/position.ts';
import { CELL_CHANGE_SECONDS, CELL_UNIT_SECONDS, LONGEST_UNITS, type MapCells, MOST_CELLS } from '../map-cells.ts';
import { MAX_OVERLAP_SECONDS, MAX_STAND_SECONDS, SAME_STAND_METRES } from '../timetable.ts';

/** What the times between cells depend on. */
type CellNetwork = Record<
  | 'stopLat'
  | 'stopLng'
  | 'patternCalls'
  | 'patternTrips'
  | 'callStop'
  | 'visitStart'
  | 'visitPattern'
  | 'tripPattern'
  | 'tripStart'
  | 'tripArrivals'
  | 'tripDepartures'
  | 'blockStart'
  | 'blockTrips',
  Pick<Int32Column, 'length' | 'valueAt'>
> &
  Record<'visitPosition' | 'walkStart' | 'walkStop' | 'walkSeconds' | 'offsets', ArrayLike<number>>;

/** The longest time that is followed. Longer ones count as this. */
const FAR = LONGEST_UNITS * CELL_UNIT_SECONDS;
/** The length of a degree of longitude, if one of latitude is 1. */
const NARROW = 0.83;

/**
 * Splits the map into cells with about as many stops each, and finds the least time between them: over the trips of all days,
 * each at its fastest, as if riders could board and alight at every call. So no journey of the timetable is faster.
 */
export function createCells(network: CellNetwork, mostCells = MOST_CELLS): MapCells {
  const cells = splitStops(network, mostCells);
  const stopCell = new Uint16Column(network.stopLat.length);
  for (const [cell, stops] of cells.entries()) for (const stop of stops) stopCell[stop] = cell;
  const timesTo = createTimesTo(network);
  const cellUnits = new Uint8Column(cells.length ** 2).fill(LONGEST_UNITS);
  for (const [to, stops] of cells.entries()) {
    const ready = timesTo(stops);
    for (let stop = 0; stop < ready.length; stop++) {
      const at = to * cells.length + stopCell.valueAt(stop);
      const units = Math.floor(ready.valueAt(stop) / CELL_UNIT_SECONDS);
      if (units < cellUnits.valueAt(at)) cellUnits[at] = units;
    }
  }
  return { stopCell, cellUnits };
}

/** Halves the stops across their longer side until there are enough cells. */
function splitStops({ stopLat, stopLng }: CellNetwork, mostCells: number): Int32Column[] {
  let cells = [Int32Column.from({ length: stopLat.length }, (_, stop) => stop)];
  while (cells.length * 2 <= mostCells && cells.some(({ length }) => length > 1)) {
    cells = cells.flatMap((stops) => (stops.length > 1 ? halve(stops) : [stops]));
  }
  return cells;

  function halve(stops: Int32Column): Int32Column[] {
    const isHigh = spanOf(stops, stopLat) > spanOf(stops, stopLng) * NARROW;
    const along = isHigh ? stopLat : stopLng;
    stops.sort((one, other) => along.valueAt(one) - along.valueAt(other));
    const middle = stops.length >> 1;
    return [stops.subarray(0, middle), stops.subarray(middle)];
  }
}

function spanOf(stops: Int32Column, along: CellNetwork['stopLat']): number {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const stop of stops) {
    least = Math.min(least, along.valueAt(stop));
    most = Math.max(most, along.valueAt(stop));
  }
  return most - least;
}

/**
 * Returns a function that finds, for each stop, the least seconds from a ride that calls there to alighting at one of the given
 * stops. It searches backwards with Dijkstra's algorithm: the next stop is one of those with the least time left.
 */
function createTimesTo(network: CellNetwork) {
  const { stopLat, walkStart, walkStop, walkSeconds, patternCalls, callStop } = network;
  const { visitStart, visitPattern, visitPosition } = network;
  const hops = buildHops(network);
  const previous = listContinuations(network);
  /** The least time left: by stop, once a rider can board there and has alighted there; by call, for riders on board. */
  const ready = new Int32Column(stopLat.length);
  const alighted = new Int32Column(stopLat.length);
  const aboard = new Int32Column(hops.length);
  const queue = createQueue(2 * stopLat.length);

  return (targets: Int32Column): Int32Column => {
    ready.fill(FAR);
    alighted.fill(FAR);
    aboard.fill(FAR);
    for (const stop of targets) alight(stop, 0);
    for (let item = queue.next(); item >= 0; item = queue.next()) {
      if (item & 1) walkBack(item >> 1);
      else rideBack(item >> 1);
    }
    return ready;
  };

  function alight(stop: number, left: number): void {
    if (left >= alighted.valueAt(stop)) return;
    alighted[stop] = left;
    queue.add(2 * stop, left);
  }

  function rideBack(stop: number): void {
    const left = alighted.valueAt(stop);
    for (let visit = visitStart.valueAt(stop), end = visitStart.valueAt(stop + 1); visit < end; visit++) {
      const pattern = visitPattern.valueAt(visit);
      followBack(pattern, patternCalls.valueAt(pattern) + (visitPosition[visit] as number), left);
    }
  }

  /** Follows a pattern back from a call as long as riders on board have less time left than known. */
  function followBack(pattern: number, last: number, leftAtLast: number): void {
    let left = leftAtLast;
    const first = patternCalls.valueAt(pattern);
    for (let call = last; ; ) {
      if (left >= aboard.valueAt(call)) return;
      aboard[call] = left;
      const stop = callStop.valueAt(call);
      if (left < ready.valueAt(stop)) {
        ready[stop] = left;
        queue.add(2 * stop + 1, left);
      }
      if (call === first) break;
      call--;
      left += hops.valueAt(call);
    }
    const continued = previous.get(pattern);
    if (!continued) return;
    for (const [other, seconds] of continued) {
      followBack(other, patternCalls.valueAt(other + 1) - 1, Math.max(0, left + seconds));
    }
  }

  function walkBack(stop: number): void {
    const left = ready.valueAt(stop);
    alight(stop, left + CELL_CHANGE_SECONDS);
    for (let at = walkStart[stop] as number, end = walkStart[stop + 1] as number; at < end; at++) {
      alight(walkStop[at] as number, left + Math.max(CELL_CHANGE_SECONDS, walkSeconds[at] as number));
    }
  }
}

/** A queue of items below `size` that returns one with the least time, to within `CELL_UNIT_SECONDS`. An item may be added again. */
function createQueue(size: number) {
  const buckets = Array.from({ length: LONGEST_UNITS }, (): number[] => []);
  const isWaiting = new Uint8Array(size);
  let current = 0;
  return {
    add(item: number, seconds: number): void {
      const at = Math.floor(seconds / CELL_UNIT_SECONDS);
      if (at < current) current = at;
      isWaiting[item] = 1;
      (buckets[at] as number[]).push(item);
    },
    /** -1 if none is left. */
    next(): number {
      for (; current < LONGEST_UNITS; current++) {
        const bucket = buckets[current] as number[];
        for (let item = bucket.pop(); item !== undefined; item = bucket.pop()) {
          // An item that was added again with less time has been returned already.
          if (!isWaiting[item]) continue;
          isWaiting[item] = 0;
          return item;
        }
      }
      current = 0;
      return -1;
    },
  };
}

/** For each call of a pattern, the least seconds to the next one. */
function buildHops({ patternCalls, patternTrips, tripArrivals, tripDepartures, offsets }: CellNetwork): Uint16Column {
  const hops = new Uint16Column(patternCalls.valueAt(patternCalls.length - 1)).fill(FAR);
  for (let pattern = 0; pattern + 1 < patternCalls.length; pattern++) {
    const first = patternCalls.valueAt(pattern);
    const last = patternCalls.valueAt(pattern + 1) - 1;
    for (let trip = patternTrips.valueAt(pattern); trip < patternTrips.valueAt(pattern + 1); trip++) {
      const leaves = tripDepartures.valueAt(trip);
      const arrives = tripArrivals.valueAt(trip) + 1;
      for (let call = first; call < last; call++) {
        const seconds = (offsets[arrives + call - first] as number) - (offsets[leaves + call - first] as number);
        if (seconds < hops.valueAt(call)) hops[call] = Math.max(0, seconds);
      }
    }
  }
  return hops;
}

/**
 * For each pattern, those whose vehicles may continue as it, and the least seconds from their end to its start; negative if they
 * overlap. The days of the trips do not matter.
 */
function listContinuations(network: CellNetwork): Map<number, Map<number, number>> {
  const { stopLat, stopLng, blockStart, blockTrips, patternCalls, callStop } = network;
  const { tripPattern, tripStart, tripArrivals, offsets } = network;
  const previous = new Map<number, Map<number, number>>();
  const startAt = (at: number) => tripStart.valueAt(blockTrips.valueAt(at));
  const endOf = (trip: number) => {
    const pattern = tripPattern.valueAt(trip);
    const [first, end] = [patternCalls.valueAt(pattern), patternCalls.valueAt(pattern + 1)];
    const arrival = offsets[tripArrivals.valueAt(trip) + end - first - 1] as number;
    return { pattern, stop: callStop.valueAt(end - 1), at: tripStart.valueAt(trip) + arrival };
  };
  const isSameStand = (one: number, other: number) =>
    one === other || distanceMetres(positionOf(one), positionOf(other)) <= SAME_STAND_METRES;
  // Block 0 has the trips without a block.
  for (let block = 1; block + 1 < blockStart.length; block++) {
    const [first, last] = [blockStart.valueAt(block), blockStart.valueAt(block + 1)];
    for (let at = first; at < last; at++) {
      const end = endOf(blockTrips.valueAt(at));
      const earliest = end.at - MAX_OVERLAP_SECONDS;
      for (let later = firstFrom(first, last, (one) => startAt(one) >= earliest); later < last; later++) {
        const seconds = startAt(later) - end.at;
        if (seconds > MAX_STAND_SECONDS) break;
        const pattern = tripPattern.valueAt(blockTrips.valueAt(later));
        if (later === at || !isSameStand(end.stop, callStop.valueAt(patternCalls.valueAt(pattern)))) continue;
        const all = previous.get(pattern) ?? new Map<number, number>();
        previous.set(pattern, all);
        all.set(end.pattern, Math.min(seconds, all.get(end.pattern) ?? seconds));
      }
    }
  }
  return previous;

  function positionOf(stop: number): [number, number] {
    return [stopLat.valueAt(stop), stopLng.valueAt(stop)];
  }
}
