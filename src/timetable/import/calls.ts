import { group } from './growing-arrays.ts';
import type { LeftOut } from './left-out.ts';
import type { ScheduleCalls } from './schedule-file.ts';
import { MAY_ALIGHT, MAY_BOARD, NEEDS_BOOKING } from './schedule-file.ts';
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
}

interface Calls {
  calls: ScheduleCalls;
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

/**
 * Reads the calls of stop_times.txt, which may be in any order. Passing points, where nobody can board or alight, are skipped.
 */
export async function readCalls(zip: ScheduleZip, known: Known, leftOut: LeftOut): Promise<Calls> {
  const rows = new CallRows();
  const headsigns = new Map<string, number>();
  // The calls of a trip usually come together.
  let [tripId, trip]: [string, number | undefined] = ['', undefined];
  await zip.readRows(TABLE, (row, at) => {
    const rowTripId = row.text(at.trip_id);
    if (rowTripId !== tripId) [tripId, trip] = [rowTripId, known.trips.get(rowTripId)];
    if (trip === -1) return;
    if (trip === undefined) return leftOut.add('call of an unknown trip');
    const flags = toFlags(row.integer(at.pickup_type) || 0, row.integer(at.drop_off_type) || 0);
    if (flags === 0) return leftOut.add('passing point');
    const stop = known.stops.get(row.text(at.stop_id));
    if (stop === undefined) return leftOut.add('call at an unknown stop');
    const [arrival, departure] = [row.seconds(at.arrival_time), row.seconds(at.departure_time)];
    const sequence = row.integer(at.stop_sequence);
    if (!(sequence <= MAX_SEQUENCE) || (Number.isNaN(arrival) && Number.isNaN(departure))) {
      return leftOut.add('call without sequence or time');
    }
    rows.add({
      trip,
      stop,
      arrival: Number.isNaN(arrival) ? departure : arrival,
      departure: Number.isNaN(departure) ? arrival : departure,
      sequence,
      flags,
      headsign: toNumber(row.text(at.stop_headsign), headsigns),
      distance: toDistance(row.decimal(at.shape_dist_traveled)),
    });
  });
  return { ...rows.sort(known.tripCount, leftOut), headsigns: [...headsigns.keys()] };
}

/** GTFS values: 0 regular, 1 none, 2 phone ahead, 3 ask the driver. */
function toFlags(pickup: number, dropOff: number): number {
  const mayUse = (pickup === 1 ? 0 : MAY_BOARD) | (dropOff === 1 ? 0 : MAY_ALIGHT);
  return pickup > 1 || dropOff > 1 ? mayUse | NEEDS_BOOKING : mayUse;
}

/** The number of the text, a new one if it is not known; -1 for the empty text. */
function toNumber(text: string, known: Map<string, number>): number {
  if (text === '') return -1;
  const number = known.get(text) ?? known.size;
  known.set(text, number);
  return number;
}

const FIRST_LENGTH = 1 << 16;

type Column = Int32Array | Uint16Array | Uint8Array;
type Columns = ScheduleCalls & { trip: Int32Array };

/** Growing columns, in the order of the file. */
class CallRows {
  #length = 0;
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

  add(call: Readonly<Record<keyof Columns, number>>): void {
    const columns = this.#columns;
    const index = this.#length++;
    if (index === columns.trip.length) this.#grow();
    columns.trip[index] = call.trip;
    columns.stop[index] = call.stop;
    columns.arrival[index] = call.arrival;
    columns.departure[index] = call.departure;
    columns.sequence[index] = call.sequence;
    columns.flags[index] = call.flags;
    columns.headsign[index] = call.headsign;
    columns.distance[index] = call.distance;
  }

  #grow(): void {
    this.#replace((column, larger) => larger.set(column), this.#length * 2);
  }

  /** Groups the calls by trip, in order of their sequence. */
  sort(tripCount: number, leftOut: LeftOut): { calls: ScheduleCalls; ranges: (CallRange | null)[] } {
    const { order, ranges } = this.#order(tripCount, leftOut);
    Object.assign(this.#columns, { trip: new Int32Array() });
    this.#replace((from, to) => {
      for (let index = 0; index < order.length; index++) to[index] = from[order[index] as number] as number;
    }, order.length);
    const { trip: _trip, ...calls } = this.#columns;
    return { calls, ranges };
  }

  /** Lists the rows by trip and sequence, without repeated calls. */
  #order(tripCount: number, leftOut: LeftOut): { order: Uint32Array; ranges: (CallRange | null)[] } {
    const { trip: tripOf, sequence } = this.#columns;
    const { start, members: order } = group(tripCount, this.#length, (row) => tripOf[row] as number);
    const ranges: (CallRange | null)[] = [];
    let length = 0;
    for (let trip = 0; trip < tripCount; trip++) {
      const own = order.subarray(start[trip], start[trip + 1]);
      if (own.length > MAX_TRIP_CALLS) {
        leftOut.add(`trip with more than ${MAX_TRIP_CALLS} calls`);
        ranges.push(null);
        continue;
      }
      sortBySequence(own, sequence);
      const firstCall = length;
      let last = -1;
      for (const row of own) {
        const at = sequence[row] as number;
        if (at === last) leftOut.add('repeated call');
        else order[length++] = row;
        last = at;
      }
      ranges.push({ firstCall, callCount: length - firstCall });
    }
    return { order: order.subarray(0, length), ranges };
  }

  /** Replaces one column at a time, so that at most one exists twice. */
  #replace(fill: (from: Column, to: Column) => void, length: number): void {
    for (const name of Object.keys(this.#columns) as (keyof Columns)[]) {
      const column: Column = this.#columns[name];
      if (column.length === 0) continue;
      const replaced = new (column.constructor as new (length: number) => Column)(length);
      fill(column, replaced);
      Object.assign(this.#columns, { [name]: replaced });
    }
  }
}

/** Sorts the rows of a trip in place; most are in order already. */
function sortBySequence(rows: Uint32Array, sequence: Uint16Array): void {
  const sequenceOf = (row: number) => sequence[row] as number;
  const isSorted = rows.every((row, index) => index === 0 || sequenceOf(rows[index - 1] as number) < sequenceOf(row));
  if (!isSorted) rows.sort((a, b) => sequenceOf(a) - sequenceOf(b) || a - b);
}
