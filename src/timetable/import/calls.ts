import { Float64Column, Int32Column, Uint32Column } from '../../core/columns.ts';
import { createNumbers } from '../../core/growing-numbers.ts';
import { toCallFlags } from '../call-flags.ts';
import { type Groups, group, Lists } from './growing-arrays.ts';
import { LeftOutCounter } from './left-out.ts';
import type { ScheduleCalls } from './schedule-file.ts';
import { toDistance } from './shapes.ts';
import type { TripList } from './trips.ts';
import type { ScheduleZip } from './zip.ts';

/**
 * The limit of calls of a trip, because searches and tables take time for each. Upstream's longest trips, of trains across the
 * state, have less than 200.
 */
const MAX_TRIP_CALLS = 1000;
const MAX_SEQUENCE = 65_535;
const TABLE = {
  name: 'stop_times.txt',
  required: ['trip_id', 'stop_id', 'stop_sequence', 'arrival_time', 'departure_time'],
  optional: ['stop_headsign', 'pickup_type', 'drop_off_type', 'shape_dist_traveled'],
} as const;

/** The time of a call that the file leaves blank, until it is interpolated. */
export const UNTIMED = -1;

/** Reads the calls of stop_times.txt, which may be in any order. */
export async function loadCalls(
  zip: ScheduleZip,
  { trips, stops }: { trips: TripList; stops: ReadonlyMap<string, number> },
  leftOut: LeftOutCounter,
): Promise<{ calls: TripCalls; headsigns: string[] }> {
  const calls = new TripCalls(trips.trips.length);
  const headsigns = new Map<string, number>();
  // The calls of a trip usually come together.
  let [tripId, trip]: [string, number | undefined] = ['', undefined];
  await zip.loadRows(TABLE, (row, at) => {
    const rowTripId = row.text(at.trip_id);
    if (rowTripId !== tripId) [tripId, trip] = [rowTripId, trips.indexes.get(rowTripId)];
    if (trip === -1) return;
    if (trip === undefined) return leftOut.add('call of an unknown trip');
    const flags = toCallFlags(row.integer(at.pickup_type) || 0, row.integer(at.drop_off_type) || 0);
    const stop = stops.get(row.text(at.stop_id));
    if (stop === undefined) return leftOut.add('call at an unknown stop');
    const sequence = row.integer(at.stop_sequence);
    if (!(sequence <= MAX_SEQUENCE)) return leftOut.add('call without sequence');
    const [arrival, departure] = [row.seconds(at.arrival_time), row.seconds(at.departure_time)];
    const isUntimed = Number.isNaN(arrival) && Number.isNaN(departure);
    if (isUntimed && (row.text(at.arrival_time) || row.text(at.departure_time)) !== '') {
      return leftOut.add('call with an unreadable time');
    }
    calls.add(trip, {
      stop,
      arrival: isUntimed ? UNTIMED : Number.isNaN(arrival) ? departure : arrival,
      departure: isUntimed ? UNTIMED : Number.isNaN(departure) ? arrival : departure,
      sequence,
      flags,
      headsign: toNumber(row.text(at.stop_headsign), headsigns),
      distance: toDistance(row.decimal(at.shape_dist_traveled)),
    });
  });
  calls.finish();
  return { calls, headsigns: [...headsigns.keys()] };
}

/** The number of the text, a new one if it is not known; -1 for the empty text. */
function toNumber(text: string, known: Map<string, number>): number {
  if (text === '') return -1;
  const number = known.get(text) ?? known.size;
  known.set(text, number);
  return number;
}

/** The columns of a call that all trips of a pattern share. */
const SHARED = ['stop', 'sequence', 'flags', 'headsign', 'distance'] as const;
const TIMES = ['arrival', 'departure'] as const;
type CallRow = Readonly<Record<(typeof SHARED)[number] | (typeof TIMES)[number], number>>;

/** Stands for `UNTIMED` among times that count from the first one. */
const UNTIMED_OFFSET = -0x80000000;

/**
 * The rows of stop_times.txt by trip. Rows of a trip that follow each other form a segment; usually that is the whole trip.
 * Segments with the same stops are stored once, and so are those with the same times after their first one. A file repeats both
 * many times: without that, all rows of New South Wales would take 100 MB.
 */
export class TripCalls {
  readonly #shared = new Lists();
  readonly #times = new Lists();
  readonly #segments = createNumbers(['trip', 'length', 'start', 'shared', 'times']);
  readonly #tripCount: number;
  #byTrip: Groups = { start: new Uint32Column(), members: new Uint32Column() };
  /** The trip and length of the segment that rows are added to. */
  #trip = -1;
  #length = 0;
  readonly #addedShared = new Int32Column(SHARED.length * MAX_TRIP_CALLS);
  readonly #addedTimes = new Int32Column(TIMES.length * MAX_TRIP_CALLS);
  /** The calls of the trip that was read last; `get` reuses the columns. */
  readonly #calls: ScheduleCalls = {
    count: 0,
    startsAt: UNTIMED,
    stop: new Int32Column(MAX_TRIP_CALLS),
    sequence: new Int32Column(MAX_TRIP_CALLS),
    arrival: new Int32Column(MAX_TRIP_CALLS),
    departure: new Int32Column(MAX_TRIP_CALLS),
    flags: new Int32Column(MAX_TRIP_CALLS),
    headsign: new Int32Column(MAX_TRIP_CALLS),
    distance: new Int32Column(MAX_TRIP_CALLS),
    load: new Int32Column(MAX_TRIP_CALLS),
  };
  /** Fills in the loads of a trip's calls; by default none is known. */
  fillLoads: (trip: number, calls: ScheduleCalls) => void = (_, { load }) => load.fill(0);

  constructor(tripCount: number) {
    this.#tripCount = tripCount;
  }

  add(trip: number, row: CallRow): void {
    if (trip !== this.#trip || this.#length === MAX_TRIP_CALLS) this.#endSegment();
    this.#trip = trip;
    const call = this.#length++;
    const [shared, times] = [this.#addedShared, this.#addedTimes];
    let at = call * SHARED.length;
    // A loop over the names would take longer than reading the row.
    shared[at++] = row.stop;
    shared[at++] = row.sequence;
    shared[at++] = row.flags;
    shared[at++] = row.headsign;
    shared[at] = row.distance;
    times[call * TIMES.length] = row.arrival;
    times[call * TIMES.length + 1] = row.departure;
  }

  #endSegment(): void {
    const length = this.#length;
    if (length === 0) return;
    const times = this.#addedTimes.subarray(0, TIMES.length * length);
    const start = times[1] === UNTIMED ? 0 : times.valueAt(1);
    for (let at = 0; at < times.length; at++) {
      times[at] = times[at] === UNTIMED ? UNTIMED_OFFSET : times.valueAt(at) - start;
    }
    this.#segments.trip.push(this.#trip);
    this.#segments.length.push(length);
    this.#segments.start.push(start);
    this.#segments.shared.push(this.#shared.add(this.#addedShared.subarray(0, SHARED.length * length)));
    this.#segments.times.push(this.#times.add(times));
    this.#length = 0;
  }

  /** Must be called after the last row. */
  finish(): void {
    this.#endSegment();
    const { trip } = this.#segments;
    this.#byTrip = group(this.#tripCount, trip.length, (segment) => trip.values.valueAt(segment));
  }

  /**
   * Reads the calls of a trip in order. Blank times are interpolated. Repeated calls and passing points, where nobody can board
   * or alight, are skipped. Null if there are too many.
   */
  get(trip: number, leftOut = new LeftOutCounter()): ScheduleCalls | null {
    const calls = this.#calls;
    if (!this.#load(trip)) {
      leftOut.add(`trip with more than ${MAX_TRIP_CALLS} calls`);
      return null;
    }
    if (!isPlain(calls)) clean(calls, leftOut);
    else calls.startsAt = calls.count > 0 ? calls.departure.valueAt(0) : UNTIMED;
    this.fillLoads(trip, calls);
    return calls;
  }

  /** Loads the rows of a trip as they are in the file. Returns false if there are too many. */
  #load(trip: number): boolean {
    const { length, start, shared, times } = this.#segments;
    const [sharedLists, timeLists] = [this.#shared.numbers.values, this.#times.numbers.values];
    const { stop, sequence, flags, headsign, distance, arrival, departure } = this.#calls;
    const { start: first, members } = this.#byTrip;
    let count = 0;
    for (let at = first.valueAt(trip); at < first.valueAt(trip + 1); at++) {
      const segment = members.valueAt(at);
      const startsAt = start.values.valueAt(segment);
      let from = shared.values.valueAt(segment);
      let time = times.values.valueAt(segment);
      const end = count + length.values.valueAt(segment);
      if (end > MAX_TRIP_CALLS) return false;
      for (; count < end; count++) {
        stop[count] = sharedLists.valueAt(from++);
        sequence[count] = sharedLists.valueAt(from++);
        flags[count] = sharedLists.valueAt(from++);
        headsign[count] = sharedLists.valueAt(from++);
        distance[count] = sharedLists.valueAt(from++);
        const [arrives, departs] = [timeLists.valueAt(time++), timeLists.valueAt(time++)];
        arrival[count] = arrives === UNTIMED_OFFSET ? UNTIMED : startsAt + arrives;
        departure[count] = departs === UNTIMED_OFFSET ? UNTIMED : startsAt + departs;
      }
    }
    this.#calls.count = count;
    return true;
  }
}

/** Whether the calls are in order, and none is to be skipped or lacks a time. */
function isPlain({ count, sequence, flags, departure }: ScheduleCalls): boolean {
  for (let call = 0; call < count; call++) {
    if (call > 0 && sequence.valueAt(call) <= sequence.valueAt(call - 1)) return false;
    if (flags[call] === 0 || departure[call] === UNTIMED) return false;
  }
  return true;
}

/** Sorts the calls, fills their blank times, and skips those that cannot be used. */
function clean(calls: ScheduleCalls, leftOut: LeftOutCounter): void {
  const { sequence, departure, flags } = calls;
  const own = Uint32Column.from({ length: calls.count }, (_, row) => row);
  sortBySequence(own, sequence);
  const rows = Uint32Column.from(
    own.filter((row, index) => index === 0 || sequence[row] !== sequence[own.valueAt(index - 1)]),
  );
  for (let repeated = rows.length; repeated < own.length; repeated++) leftOut.add('repeated call');
  fillTimes(rows, calls);
  calls.startsAt = departure.valueAt(rows.valueAt(0));
  const kept = rows.filter((row) => {
    if (flags[row] === 0) leftOut.add('passing point');
    else if (departure[row] === UNTIMED) leftOut.add('call without time');
    else return true;
    return false;
  });
  for (const name of [...SHARED, ...TIMES]) {
    const column = calls[name];
    column.set(Int32Column.from(kept, (row) => column.valueAt(row)));
  }
  calls.count = kept.length;
}

function sortBySequence(rows: Uint32Array, sequence: Int32Column): void {
  const sequenceOf = (row: number) => sequence.valueAt(row);
  rows.sort((a, b) => sequenceOf(a) - sequenceOf(b) || a - b);
}

/**
 * Fills the blank times between two timed calls in place: by the distances along the shape if all of them are known, else
 * evenly. Blank times at either end stay.
 */
function fillTimes(rows: Uint32Column, { arrival, departure, distance }: ScheduleCalls): void {
  const isTimed = (row: number) => departure[row] !== UNTIMED;
  let last = rows.findIndex(isTimed);
  for (let next = last + 1; last >= 0 && next < rows.length; next++) {
    if (!isTimed(rows.valueAt(next))) continue;
    if (next - last > 1) {
      const between = rows.subarray(last, next + 1);
      const [from, until] = [departure.valueAt(rows.valueAt(last)), arrival.valueAt(rows.valueAt(next))];
      const shares = sharesOf(between, distance);
      for (let index = 1; index < between.length - 1; index++) {
        const seconds = Math.round(from + (until - from) * shares.valueAt(index));
        arrival[between.valueAt(index)] = seconds;
        departure[between.valueAt(index)] = seconds;
      }
    }
    last = next;
  }
}

/** How far along each of these calls is from the first to the last, from 0 to 1. */
function sharesOf(rows: Uint32Column, distance: Int32Column): Float64Column {
  const distances = Int32Column.from(rows, (row) => distance.valueAt(row));
  const [first, last] = [distances.valueAt(0), distances.valueAt(rows.length - 1)];
  const areKnown =
    first >= 0 && last > first && distances.every((at, index) => index === 0 || at >= distances.valueAt(index - 1));
  return Float64Column.from(distances, (at, index) =>
    areKnown ? (at - first) / (last - first) : index / (rows.length - 1),
  );
}
