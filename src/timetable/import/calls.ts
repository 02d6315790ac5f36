import { type Column, resized } from '../../core/growing-numbers.ts';
import { group } from './growing-arrays.ts';
import type { LeftOut } from './left-out.ts';
import type { ScheduleCalls } from './schedule-file.ts';
import { BOOK_TO_ALIGHT, BOOK_TO_BOARD, MAY_ALIGHT, MAY_BOARD } from './schedule-file.ts';
import { toDistance } from './shapes.ts';
import type { ScheduleZip } from './zip.ts';

/** Upstream's longest trips, of trains across the state, have less than 200. Searches and tables take time for each call. */
const MAX_TRIP_CALLS = 1000;
const MAX_SEQUENCE = 65_535;
const TABLE = {
  name: 'stop_times.txt',
  required: ['trip_id', 'stop_id', 'stop_sequence', 'arrival_time', 'departure_time'],
  optional: ['stop_headsign', 'pickup_type', 'drop_off_type', 'shape_dist_traveled'],
} as const;

/** Where the calls of a trip are in the columns. */
interface CallRange {
  firstCall: number;
  callCount: number;
  /** The departure from its first row, which may be a passing point. */
  startsAt: number;
}

/** The columns of stop_times.txt. */
type RowColumns = Omit<ScheduleCalls, 'load'>;

interface Calls {
  calls: RowColumns;
  headsigns: string[];
  /** By index of the trip; null for trips that are left out. */
  ranges: (CallRange | null)[];
}

interface Known {
  stops: ReadonlyMap<string, number>;
  /** Index by id; -1 for trips that were left out. */
  trips: ReadonlyMap<string, number>;
  tripCount: number;
}

/** The time of a call that the file leaves blank, until it is interpolated. */
export const UNTIMED = -1;

/**
 * Reads the calls of stop_times.txt, which may be in any order. Blank times are interpolated. Passing points, where nobody can
 * board or alight, are skipped.
 */
export async function readCalls(zip: ScheduleZip, known: Known, leftOut: LeftOut): Promise<Calls> {
  const rows = new CallRows(known.tripCount);
  const headsigns = new Map<string, number>();
  // The calls of a trip usually come together.
  let [tripId, trip]: [string, number | undefined] = ['', undefined];
  await zip.readRows(TABLE, (row, at) => {
    const rowTripId = row.text(at.trip_id);
    if (rowTripId !== tripId) [tripId, trip] = [rowTripId, known.trips.get(rowTripId)];
    if (trip === -1) return;
    if (trip === undefined) return leftOut.add('call of an unknown trip');
    const flags = toFlags(row.integer(at.pickup_type) || 0, row.integer(at.drop_off_type) || 0);
    const stop = known.stops.get(row.text(at.stop_id));
    if (stop === undefined) return leftOut.add('call at an unknown stop');
    const sequence = row.integer(at.stop_sequence);
    if (!(sequence <= MAX_SEQUENCE)) return leftOut.add('call without sequence');
    const [arrival, departure] = [row.seconds(at.arrival_time), row.seconds(at.departure_time)];
    const isUntimed = Number.isNaN(arrival) && Number.isNaN(departure);
    if (isUntimed && (row.text(at.arrival_time) || row.text(at.departure_time)) !== '') {
      return leftOut.add('call with an unreadable time');
    }
    rows.add({
      trip,
      stop,
      arrival: isUntimed ? UNTIMED : Number.isNaN(arrival) ? departure : arrival,
      departure: isUntimed ? UNTIMED : Number.isNaN(departure) ? arrival : departure,
      sequence,
      flags,
      headsign: toNumber(row.text(at.stop_headsign), headsigns),
      distance: toDistance(row.decimal(at.shape_dist_traveled)),
    });
  });
  return { ...rows.sort(leftOut), headsigns: [...headsigns.keys()] };
}

/** GTFS values: 0 regular, 1 none, 2 phone ahead, 3 ask the driver. */
function toFlags(pickup: number, dropOff: number): number {
  const mayUse = (pickup === 1 ? 0 : MAY_BOARD) | (dropOff === 1 ? 0 : MAY_ALIGHT);
  return mayUse | (pickup > 1 ? BOOK_TO_BOARD : 0) | (dropOff > 1 ? BOOK_TO_ALIGHT : 0);
}

/** The number of the text, a new one if it is not known; -1 for the empty text. */
function toNumber(text: string, known: Map<string, number>): number {
  if (text === '') return -1;
  const number = known.get(text) ?? known.size;
  known.set(text, number);
  return number;
}

const FIRST_LENGTH = 1 << 16;

type Columns = RowColumns & { trip: Int32Array };

/** Growing columns, in the order of the file. */
class CallRows {
  #length = 0;
  /** The number of each trip here: trips are numbered in the order of their first calls; -1 if it has none yet. */
  readonly #numbers: Int32Array;
  readonly #trips: number[] = [];
  readonly #columns: Columns = {
    trip: new Int32Array(FIRST_LENGTH),
    stop: new Int32Array(FIRST_LENGTH),
    arrival: new Int32Array(FIRST_LENGTH),
    departure: new Int32Array(FIRST_LENGTH),
    sequence: new Uint16Array(FIRST_LENGTH),
    flags: new Uint8Array(FIRST_LENGTH),
    headsign: new Int32Array(FIRST_LENGTH),
    distance: new Int32Array(FIRST_LENGTH),
  };

  constructor(tripCount: number) {
    this.#numbers = new Int32Array(tripCount).fill(-1);
  }

  add(call: Readonly<Record<keyof Columns, number>>): void {
    const columns = this.#columns;
    const index = this.#length++;
    if (index === columns.trip.length) this.#replace((column) => resized(column, index + (index >> 1)));
    columns.trip[index] = this.#numberOf(call.trip);
    columns.stop[index] = call.stop;
    columns.arrival[index] = call.arrival;
    columns.departure[index] = call.departure;
    columns.sequence[index] = call.sequence;
    columns.flags[index] = call.flags;
    columns.headsign[index] = call.headsign;
    columns.distance[index] = call.distance;
  }

  #numberOf(trip: number): number {
    const known = this.#numbers[trip] as number;
    if (known >= 0) return known;
    this.#numbers[trip] = this.#trips.length;
    return this.#trips.push(trip) - 1;
  }

  /** Groups the calls by trip, in order of their sequence. */
  sort(leftOut: LeftOut): { calls: RowColumns; ranges: (CallRange | null)[] } {
    const { order, ranges } = this.#order(leftOut);
    Object.assign(this.#columns, { trip: new Int32Array() });
    // Most files are in order. Then no column exists twice.
    const isInOrder = order.every((row, index) => index === 0 || row > (order[index - 1] as number));
    this.#replace((from) => {
      const to = isInOrder ? from : (from.slice() as typeof from);
      for (let index = 0; index < order.length; index++) to[index] = from[order[index] as number] as number;
      return resized(to, order.length);
    });
    const { trip: _trip, ...calls } = this.#columns;
    return { calls, ranges };
  }

  /** Lists the calls by trip and sequence, without repeated ones and passing points, and fills their blank times. */
  #order(leftOut: LeftOut): { order: Uint32Array; ranges: (CallRange | null)[] } {
    const { trip: numberOf, sequence, departure, flags } = this.#columns;
    const tripCount = this.#trips.length;
    const { start, members: order } = group(tripCount, this.#length, (row) => numberOf[row] as number);
    const none = { firstCall: 0, callCount: 0, startsAt: UNTIMED };
    const ranges: (CallRange | null)[] = Array.from(this.#numbers, () => none);
    let length = 0;
    for (const [number, trip] of this.#trips.entries()) {
      const own = order.subarray(start[number], start[number + 1]);
      if (own.length > MAX_TRIP_CALLS) {
        leftOut.add(`trip with more than ${MAX_TRIP_CALLS} calls`);
        ranges[trip] = null;
        continue;
      }
      sortBySequence(own, sequence);
      const rows = own.filter((row, index) => index === 0 || sequence[row] !== sequence[own[index - 1] as number]);
      for (let repeated = rows.length; repeated < own.length; repeated++) leftOut.add('repeated call');
      fillTimes(rows, this.#columns);
      const firstCall = length;
      for (const row of rows) {
        if (flags[row] === 0) leftOut.add('passing point');
        else if (departure[row] === UNTIMED) leftOut.add('call without time');
        else order[length++] = row;
      }
      const startsAt = departure[rows[0] as number] as number;
      ranges[trip] = { firstCall, callCount: length - firstCall, startsAt };
    }
    return { order: order.subarray(0, length), ranges };
  }

  /** Replaces one column at a time, so that at most one exists twice. */
  #replace(replace: (column: Column) => Column): void {
    for (const name of Object.keys(this.#columns) as (keyof Columns)[]) {
      const column = this.#columns[name] as Column;
      if (column.length > 0) Object.assign(this.#columns, { [name]: replace(column) });
    }
  }
}

/** Sorts the rows of a trip in place; most are in order already. */
function sortBySequence(rows: Uint32Array, sequence: Uint16Array): void {
  const sequenceOf = (row: number) => sequence[row] as number;
  const isSorted = rows.every((row, index) => index === 0 || sequenceOf(rows[index - 1] as number) < sequenceOf(row));
  if (!isSorted) rows.sort((a, b) => sequenceOf(a) - sequenceOf(b) || a - b);
}

/**
 * Fills the blank times between two timed calls in place: by the distances along the shape if all of them are known, else
 * evenly. Blank times at either end stay.
 */
function fillTimes(rows: Uint32Array, { arrival, departure, distance }: Columns): void {
  const isTimed = (row: number | undefined) => departure[row as number] !== UNTIMED;
  let last = rows.findIndex(isTimed);
  for (let next = last + 1; last >= 0 && next < rows.length; next++) {
    if (!isTimed(rows[next])) continue;
    if (next - last > 1) {
      const between = rows.subarray(last, next + 1);
      const [from, until] = [departure[between[0] as number] as number, arrival[between.at(-1) as number] as number];
      const shares = sharesOf(between, distance);
      for (let index = 1; index < between.length - 1; index++) {
        const seconds = Math.round(from + (until - from) * (shares[index] as number));
        arrival[between[index] as number] = seconds;
        departure[between[index] as number] = seconds;
      }
    }
    last = next;
  }
}

/** How far along each of these calls is from the first to the last, from 0 to 1. */
function sharesOf(rows: Uint32Array, distance: Int32Array): number[] {
  const distances = Array.from(rows, (row) => distance[row] as number);
  const [first, last] = [distances[0] as number, distances.at(-1) as number];
  const areKnown =
    first >= 0 && last > first && distances.every((at, index) => index === 0 || at >= (distances[index - 1] as number));
  return distances.map((at, index) => (areKnown ? (at - first) / (last - first) : index / (rows.length - 1)));
}
