/*
 * The form in which a feed goes from the reading thread to the main one and from one instance to the others: one
 * buffer of 32-bit integers (little-endian, as on every machine the service runs on) and, behind them, the texts.
 *
 *   header | trips | stop updates | calls of untimetabled trips | vehicles | where each text ends | texts, UTF-8 | carriages
 *
 * Texts are sorted by their bytes and numbered in that order, trips by the number of their identifier, calls by that of their stop. So
 * the main thread looks things up where they lie: opening a feed costs it the same however large or wild the feed is,
 * and only the trips that a board looks up become objects. The feed of buses holds 160,000 stop updates; receiving that
 * many objects would block the main thread for about 100 ms.
 *
 * Carriages are those of the stop updates that have some, in the order of the stop updates. They count as part of the texts,
 * because earlier versions, which know no carriages, then read the rest of the feed.
 */

/** Changes with the form: instances of different versions then do not read each other's feeds. */
export const MAGIC = 0x46454533;

/** Positions in the header; `textBytes`, with the carriages, and what comes before it are sizes of the sections, in their order. */
export const HEADER = {
  magic: 0,
  headerSeconds: 1,
  unreadable: 2,
  trips: 3,
  stopUpdates: 4,
  calls: 5,
  vehicles: 6,
  texts: 7,
  textBytes: 8,
} as const;
export const HEADER_WORDS = 9;

/** Positions in a trip. `firstUpdate` counts stop updates. */
export const TRIP = {
  tripId: 0,
  startDate: 1,
  startTimeSeconds: 2,
  relationship: 3,
  firstUpdate: 4,
  updateCount: 5,
} as const;
export const TRIP_WORDS = 6;

/** Positions in a stop update. Seconds since 1970 are unsigned. */
export const STOP = {
  stopId: 0,
  sequence: 1,
  relationship: 2,
  occupancy: 3,
  arrivalDelay: 4,
  arrivalSeconds: 5,
  departureDelay: 6,
  departureSeconds: 7,
} as const;
export const STOP_WORDS = 8;

/** Positions in a call of a trip that does not follow the timetable: one for each trip and stop. */
export const CALL = { stopId: 0, trip: 1 } as const;
export const CALL_WORDS = 2;

/** Positions in the carriages of a stop update: its number, and then as in a vehicle. */
export const TRAIN = { update: 0, carriages: 1 } as const;
export const TRAIN_WORDS = 4;
/** The section of carriages begins at a multiple of this. */
export const WORD_BYTES = 4;

/**
 * Positions in a vehicle, of which those of its trip are the same as in a trip. Latitude and longitude are in millionths of a
 * degree. `carriages` is their number, and behind it are two words of `packCarriages`.
 */
export const VEHICLE = {
  tripId: 0,
  startDate: 1,
  startTimeSeconds: 2,
  relationship: 3,
  routeId: 4,
  vehicleId: 5,
  label: 6,
  stopId: 7,
  lat: 8,
  lng: 9,
  bearing: 10,
  reportedSeconds: 11,
  occupancy: 12,
  wheelchair: 13,
  carriages: 14,
} as const;
export const VEHICLE_WORDS = 17;
const VEHICLE_TEXTS = [VEHICLE.tripId, VEHICLE.routeId, VEHICLE.vehicleId, VEHICLE.label, VEHICLE.stopId];
/** Stands for a value that the feed does not give. */
export const NONE = -(2 ** 31);

/** The longest trains have ten carriages. */
export const MAX_CARRIAGES = 16;
const BITS = 4;
const PER_WORD = 8;

/**
 * Writes how full the carriages are from `at` on: their number, and two words in which each has four bits, the first carriage
 * the lowest. These are the number of GTFS-realtime plus one; 0 is unknown. The positions by which they are given tell the order
 * alone, so that it makes no difference whether they begin at 0 or 1.
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

/** Reads what `packCarriages` wrote: numbers of GTFS-realtime, null where it is unknown. Null where there are no carriages. */
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
 * Bounds on one lookup, many times what real feeds have: one trip for an identifier (two around midnight), 33 updates
 * for a train, 11 untimetabled trips at a stop.
 */
export const MAX_TRIPS_PER_ID = 8;
export const MAX_UPDATES_PER_TRIP = 300;
export const MAX_UNTIMETABLED_PER_STOP = 200;

/** Integers appended one behind the other, in place of an array of numbers at four times the memory. */
class IntegerList {
  words: Int32Array;
  length = 0;

  constructor(room: number) {
    this.words = new Int32Array(room);
  }

  append(row: Int32Array): void {
    if (this.length + row.length > this.words.length) {
      const longer = new Int32Array(this.words.length * 2);
      longer.set(this.words);
      this.words = longer;
    }
    this.words.set(row, this.length);
    this.length += row.length;
  }
}

/** Collects the trips of a feed. What was appended since `mark` can be taken back with `rollback`. */
export class FeedPacker {
  readonly #trips = new IntegerList(64 * TRIP_WORDS);
  readonly #stops = new IntegerList(1024 * STOP_WORDS);
  readonly #trains = new IntegerList(64 * TRAIN_WORDS);
  readonly #train = new Int32Array(TRAIN_WORDS);
  readonly #texts = new Map<string, number>();
  readonly #tripsPerId = new Map<number, number>();
  readonly #vehicles = new IntegerList(64 * VEHICLE_WORDS);
  /** The place at which each vehicle begins, by its own identifier. */
  readonly #vehicleAt = new Map<number, number>();

  mark(): number {
    return this.#stops.length / STOP_WORDS;
  }

  rollback(mark: number): void {
    this.#stops.length = mark * STOP_WORDS;
    const trains = this.#trains;
    const last = () => trains.words[trains.length - TRAIN_WORDS + TRAIN.update] ?? NONE;
    while (trains.length > 0 && last() >= mark) trains.length -= TRAIN_WORDS;
  }

  /** `stop` has `STOP_WORDS` words. */
  addStopUpdate(stop: Int32Array, carriages: ReadonlyMap<number, number>): void {
    if (carriages.size > 0) {
      this.#train[TRAIN.update] = this.mark();
      packCarriages(carriages, this.#train, TRAIN.carriages);
      this.#trains.append(this.#train);
    }
    this.#stops.append(stop);
  }

  /**
   * `trip` has `TRIP_WORDS` words; its stop updates are those appended since `firstUpdate`, a mark. False when it was not
   * added because it has too many updates or its identifier has come too often.
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

  /** `vehicle` has `VEHICLE_WORDS` words. Of several reports of one vehicle the latest is kept. */
  addVehicle(vehicle: Int32Array): void {
    const { words, length } = this.#vehicles;
    const id = vehicle[VEHICLE.vehicleId] ?? NONE;
    const at = this.#vehicleAt.get(id);
    if (at === undefined) {
      this.#vehicleAt.set(id, length);
      this.#vehicles.append(vehicle);
    } else if ((words[at + VEHICLE.reportedSeconds] ?? 0) >>> 0 < (vehicle[VEHICLE.reportedSeconds] ?? 0) >>> 0) {
      words.set(vehicle, at);
    }
  }

  /** Returns the number that stands for a text; the same text has the same number. */
  internText(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
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
    const stops = renumbered(this.#stops, STOP_WORDS, STOP.stopId, numbers);
    let vehicles = this.#vehicles.words.subarray(0, this.#vehicles.length);
    for (const column of VEHICLE_TEXTS) vehicles = renumbered(this.#vehicles, VEHICLE_WORDS, column, numbers);
    const trips = sortRows(renumbered(this.#trips, TRIP_WORDS, TRIP.tripId, numbers), TRIP_WORDS, TRIP.tripId);
    const calls = sortRows(listCalls(trips, stops), CALL_WORDS, CALL.stopId);
    let end = 0;
    const textEnds = Int32Array.from(texts, ({ bytes }) => (end += bytes.length));
    const trains = this.#trains.words.subarray(0, this.#trains.length);
    // A feed without carriages has the form that it had before there were any.
    const filler = Buffer.alloc(trains.length > 0 ? -end & (WORD_BYTES - 1) : 0);
    const textBytes = Buffer.concat([...texts.map(({ bytes }) => bytes), filler]);

    const header = new Int32Array(HEADER_WORDS);
    header[HEADER.magic] = MAGIC;
    header[HEADER.headerSeconds] = headerSeconds;
    header[HEADER.unreadable] = unreadable;
    header[HEADER.trips] = trips.length / TRIP_WORDS;
    header[HEADER.stopUpdates] = stops.length / STOP_WORDS;
    header[HEADER.calls] = calls.length / CALL_WORDS;
    header[HEADER.vehicles] = vehicles.length / VEHICLE_WORDS;
    header[HEADER.texts] = textEnds.length;
    header[HEADER.textBytes] = textBytes.length + trains.byteLength;
    return join([header, trips, stops, calls, vehicles, textEnds, textBytes, trains]);
  }
}

/** The rows, with the texts of one column by their new numbers. */
function renumbered({ words, length }: IntegerList, width: number, column: number, numbers: Int32Array): Int32Array {
  const rows = words.subarray(0, length);
  for (let at = column; at < length; at += width) rows[at] = numbers[rows[at] ?? NONE] ?? NONE;
  return rows;
}

/** Rows with the same value keep their order. */
function sortRows(words: Int32Array, width: number, column: number): Int32Array {
  const key = (row: number) => words[row * width + column] ?? NONE;
  const order = Array.from({ length: words.length / width }, (_, row) => row).sort((a, b) => key(a) - key(b));
  const sorted = new Int32Array(words.length);
  order.forEach((row, index) => {
    sorted.set(words.subarray(row * width, (row + 1) * width), index * width);
  });
  return sorted;
}

/** The relationships SCHEDULED, CANCELED and DELETED. Trips of any other do not follow the timetable, as far as we know. */
const TIMETABLED: readonly number[] = [NONE, 0, 3, 7];

/** The calls of untimetabled trips, in the order of the feed; beyond the bound of a stop they are left out. */
function listCalls(trips: Int32Array, stops: Int32Array): Int32Array {
  const word = (trip: number, position: number) => trips[trip * TRIP_WORDS + position] ?? NONE;
  const perStop = new Map<number, number>();
  const calls: number[] = [];
  const untimetabled = Array.from({ length: trips.length / TRIP_WORDS }, (_, trip) => trip)
    .filter((trip) => !TIMETABLED.includes(word(trip, TRIP.relationship)))
    .sort((a, b) => word(a, TRIP.firstUpdate) - word(b, TRIP.firstUpdate));
  for (const trip of untimetabled) {
    const first = word(trip, TRIP.firstUpdate);
    const rows = Array.from({ length: word(trip, TRIP.updateCount) }, (_, index) => (first + index) * STOP_WORDS);
    for (const stopId of new Set(rows.map((row) => stops[row + STOP.stopId] ?? NONE))) {
      const calling = perStop.get(stopId) ?? 0;
      if (stopId === NONE || calling >= MAX_UNTIMETABLED_PER_STOP) continue;
      perStop.set(stopId, calling + 1);
      calls.push(stopId, trip);
    }
  }
  return Int32Array.from(calls);
}

function join(sections: readonly (Int32Array | Uint8Array)[]): ArrayBuffer {
  const packed = new Uint8Array(sections.reduce((size, { byteLength }) => size + byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of sections) {
    packed.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return packed.buffer;
}
