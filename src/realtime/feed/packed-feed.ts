import { Numbers } from '../../core/growing-numbers.ts';

/*
 * The form in which a feed is passed from the reading thread to the main one and between instances: one buffer of 32-bit
 * integers (little-endian, as on every machine the service runs on), followed by the texts.
 *
 *   header | trips | stop updates | calls of untimetabled trips | vehicles | carriages | where each text ends | texts, UTF-8
 *
 * Texts are sorted by their bytes and numbered in that order; trips are sorted by the number of their identifier, calls by that
 * of their stop. The main thread can therefore search the buffer in place: opening a feed takes constant time, even for a
 * malformed one, and only the trips that a board looks up become objects. The feed of buses has 160,000 stop updates; receiving
 * that many objects would block the main thread for about 100 ms.
 *
 * Carriages belong to the stop updates that have some, in the order of the stop updates.
 */

/** Change this with the format, so that instances of different versions do not read each other's feeds. */
export const MAGIC = 0x46454534;

/** Returns the position of each word of a row, and the number of words. */
function rowOf<const Name extends string>(...names: Name[]) {
  const positions = Object.fromEntries(names.map((name, position) => [name, position]));
  return { ...(positions as Record<Name, number>), words: names.length };
}

/** From `trips` on, the sizes of the sections in order. */
export const HEADER = rowOf(
  'magic',
  'headerSeconds',
  'unreadable',
  'trips',
  'stopUpdates',
  'calls',
  'vehicles',
  'trains',
  'texts',
  'textBytes',
);

/** `firstUpdate` is an index of stop updates. */
export const TRIP = rowOf(
  'tripId',
  'startDate',
  'startTimeSeconds',
  'relationship',
  'routeId',
  'firstUpdate',
  'updateCount',
);
const TRIP_TEXTS = [TRIP.tripId, TRIP.routeId];

/** Times are unsigned seconds since 1970, in the word after the delay. */
export const STOP = rowOf(
  'stopId',
  'sequence',
  'relationship',
  'occupancy',
  'arrivalDelay',
  'arrivalSeconds',
  'departureDelay',
  'departureSeconds',
);

/** A call of a trip that does not follow the timetable; one for each pair of trip and stop. */
export const CALL = rowOf('stopId', 'trip');

/** The carriages of a stop update: its index, their number, and the two words of `packCarriages`. */
export const TRAIN = rowOf('update', 'carriages', 'firstEight', 'nextEight');
export const WORD_BYTES = 4;

/** The first words are the same as its trip's. Latitude and longitude are in millionths of a degree; carriages as above. */
export const VEHICLE = rowOf(
  'tripId',
  'startDate',
  'startTimeSeconds',
  'relationship',
  'routeId',
  'vehicleId',
  'label',
  'stopId',
  'lat',
  'lng',
  'bearing',
  'reportedSeconds',
  'occupancy',
  'wheelchair',
  'carriages',
  'firstEight',
  'nextEight',
);
const VEHICLE_TEXTS = [VEHICLE.tripId, VEHICLE.routeId, VEHICLE.vehicleId, VEHICLE.label, VEHICLE.stopId];
/** A value that the feed does not give. */
export const NONE = -(2 ** 31);

/** The longest trains have ten carriages. */
export const MAX_CARRIAGES = 16;
const BITS = 4;
const PER_WORD = 8;

/**
 * Writes the load of each carriage from index `at` on: their number, then two words with four bits for each carriage, the first
 * one lowest. The value is the number from GTFS-realtime plus one; 0 is unknown. Positions only define the order, so it makes
 * no difference whether they start at 0 or 1.
 */
export function packCarriages(carriages: ReadonlyMap<number, number>, words: Int32Array, at: number): void {
  words.fill(0, at, at + 1 + MAX_CARRIAGES / PER_WORD);
  words[at] = carriages.size;
  const inOrder = [...carriages].sort(([one], [other]) => one - other);
  for (const [index, [, occupancy]] of inOrder.entries()) {
    const bits = occupancy >= 0 && occupancy < 2 ** BITS - 1 ? occupancy + 1 : 0;
    const word = at + 1 + Math.floor(index / PER_WORD);
    words[word] = (words[word] ?? 0) | (bits << (BITS * (index % PER_WORD)));
  }
}

/** Reads what `packCarriages` wrote: numbers of GTFS-realtime, null if unknown. Null if there are no carriages. */
export function unpackCarriages(words: Int32Array, at: number): (number | null)[] | null {
  const count = words[at] ?? NONE;
  if (count <= 0) return null;
  return Array.from({ length: Math.min(count, MAX_CARRIAGES) }, (_, index) => {
    const word = words[at + 1 + Math.floor(index / PER_WORD)] ?? 0;
    const bits = (word >>> (BITS * (index % PER_WORD))) & (2 ** BITS - 1);
    return bits === 0 ? null : bits - 1;
  });
}

/*
 * Bounds for one lookup, far above what real feeds have: one trip for an identifier (two around midnight), 33 updates for a
 * train, 11 untimetabled trips at a stop.
 */
export const MAX_TRIPS_PER_ID = 8;
export const MAX_UPDATES_PER_TRIP = 300;
export const MAX_UNTIMETABLED_PER_STOP = 200;

/** Collects the trips of a feed. `rollback` removes everything appended since `mark`. */
export class FeedPacker {
  readonly #trips = new Numbers();
  readonly #stops = new Numbers();
  readonly #trains = new Numbers();
  readonly #train = new Int32Array(TRAIN.words);
  readonly #texts = new Map<string, number>();
  readonly #tripsPerId = new Map<number, number>();
  readonly #vehicles = new Numbers();
  /** The offset of each vehicle, by its own identifier. */
  readonly #vehicleAt = new Map<number, number>();

  mark(): number {
    return this.#stops.length / STOP.words;
  }

  rollback(mark: number): void {
    this.#stops.length = mark * STOP.words;
    const trains = this.#trains;
    const last = () => trains.values[trains.length - TRAIN.words + TRAIN.update] ?? NONE;
    while (trains.length > 0 && last() >= mark) trains.length -= TRAIN.words;
  }

  /** `stop` has `STOP.words` words. */
  addStopUpdate(stop: Int32Array, carriages: ReadonlyMap<number, number>): void {
    if (carriages.size > 0) {
      this.#train[TRAIN.update] = this.mark();
      packCarriages(carriages, this.#train, TRAIN.carriages);
      this.#trains.append(this.#train);
    }
    this.#stops.append(stop);
  }

  /**
   * `trip` has `TRIP.words` words; its stop updates are those appended since the mark `firstUpdate`. Returns false if the trip
   * is skipped because it has too many updates or its identifier is repeated too often.
   */
  addTrip(trip: Int32Array, firstUpdate: number): boolean {
    const tripId = trip[TRIP.tripId] ?? NONE;
    const repeated = this.#tripsPerId.get(tripId) ?? 0;
    const updateCount = this.mark() - firstUpdate;
    if (repeated >= MAX_TRIPS_PER_ID || updateCount > MAX_UPDATES_PER_TRIP) return false;
    this.#tripsPerId.set(tripId, repeated + 1);
    trip[TRIP.firstUpdate] = firstUpdate;
    trip[TRIP.updateCount] = updateCount;
    this.#trips.append(trip);
    return true;
  }

  /** `vehicle` has `VEHICLE.words` words. If a vehicle has several reports, the latest is kept. */
  addVehicle(vehicle: Int32Array): void {
    const { values: words, length } = this.#vehicles;
    const id = vehicle[VEHICLE.vehicleId] ?? NONE;
    const at = this.#vehicleAt.get(id);
    if (at === undefined) {
      this.#vehicleAt.set(id, length);
      this.#vehicles.append(vehicle);
    } else if ((words[at + VEHICLE.reportedSeconds] ?? 0) >>> 0 < (vehicle[VEHICLE.reportedSeconds] ?? 0) >>> 0) {
      words.set(vehicle, at);
    }
  }

  /** Returns the number of a text; equal texts have the same number. */
  internText(text: string): number {
    const existing = this.#texts.get(text);
    if (existing !== undefined) return existing;
    this.#texts.set(text, this.#texts.size);
    return this.#texts.size - 1;
  }

  finish(headerSeconds: number, unreadable: number): ArrayBuffer {
    const texts = [...this.#texts].map(([text, interned]) => ({ bytes: Buffer.from(text, 'utf8'), interned }));
    texts.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    const numbers = new Int32Array(texts.length);
    texts.forEach(({ interned }, number) => {
      numbers[interned] = number;
    });
    const stops = renumber(this.#stops, STOP.words, [STOP.stopId], numbers);
    const vehicles = renumber(this.#vehicles, VEHICLE.words, VEHICLE_TEXTS, numbers);
    const trips = sortRows(renumber(this.#trips, TRIP.words, TRIP_TEXTS, numbers), TRIP.words);
    const calls = sortRows(listCalls(trips, stops), CALL.words);
    let end = 0;
    const textEnds = Int32Array.from(texts, ({ bytes }) => (end += bytes.length));
    const trains = this.#trains.values.subarray(0, this.#trains.length);
    const textBytes = Buffer.concat(texts.map(({ bytes }) => bytes));
    // In the order of `HEADER`.
    const header = Int32Array.of(
      MAGIC,
      headerSeconds,
      unreadable,
      trips.length / TRIP.words,
      stops.length / STOP.words,
      calls.length / CALL.words,
      vehicles.length / VEHICLE.words,
      trains.length / TRAIN.words,
      textEnds.length,
      textBytes.length,
    );
    const sections = [header, trips, stops, calls, vehicles, trains, textEnds, textBytes];
    const packed = Buffer.concat(
      sections.map((section) => new Uint8Array(section.buffer, section.byteOffset, section.byteLength)),
    );
    return new Uint8Array(packed).buffer;
  }
}

/** Returns the rows with the texts in these columns renumbered. */
function renumber(list: Numbers, width: number, columns: readonly number[], numbers: Int32Array): Int32Array {
  const rows = list.values.subarray(0, list.length);
  for (const column of columns) {
    for (let at = column; at < rows.length; at += width) rows[at] = numbers[rows[at] ?? NONE] ?? NONE;
  }
  return rows;
}

/** Sorts rows by their first word; the sort is stable. */
function sortRows(words: Int32Array, width: number): Int32Array {
  const key = (row: number) => words[row * width] ?? NONE;
  const order = Array.from({ length: words.length / width }, (_, row) => row).sort((a, b) => key(a) - key(b));
  const sorted = new Int32Array(words.length);
  order.forEach((row, index) => {
    sorted.set(words.subarray(row * width, (row + 1) * width), index * width);
  });
  return sorted;
}

/**
 * Whether the trip is SCHEDULED, CANCELED or DELETED. As far as we know, trips of any other relationship do not follow the
 * timetable.
 */
export function isTimetabled(relationship: number): boolean {
  return [NONE, 0, 3, 7].includes(relationship);
}

/** Lists the calls of untimetabled trips, in the order of the feed. Calls beyond the limit for a stop are left out. */
function listCalls(trips: Int32Array, stops: Int32Array): Int32Array {
  const word = (trip: number, position: number) => trips[trip * TRIP.words + position] ?? NONE;
  const perStop = new Map<number, number>();
  const calls: number[] = [];
  const untimetabled = Array.from({ length: trips.length / TRIP.words }, (_, trip) => trip)
    .filter((trip) => !isTimetabled(word(trip, TRIP.relationship)))
    .sort((a, b) => word(a, TRIP.firstUpdate) - word(b, TRIP.firstUpdate));
  for (const trip of untimetabled) {
    const first = word(trip, TRIP.firstUpdate);
    const rows = Array.from({ length: word(trip, TRIP.updateCount) }, (_, index) => (first + index) * STOP.words);
    for (const stopId of new Set(rows.map((row) => stops[row + STOP.stopId] ?? NONE))) {
      const calling = perStop.get(stopId) ?? 0;
      if (stopId === NONE || calling >= MAX_UNTIMETABLED_PER_STOP) continue;
      perStop.set(stopId, calling + 1);
      calls.push(stopId, trip);
    }
  }
  return Int32Array.from(calls);
}
