import { Int32Column } from '../../core/columns.ts';
import { Numbers } from '../../core/growing-numbers.ts';

/*
 * The packed form of a feed, in which the reading thread sends it to the main thread and instances send it to each other. It is
 * one buffer of 32-bit integers (little-endian, as on every machine that the service runs on), followed by the texts.
 *
 *   header | trips | stop updates | vehicles | carriages | where each text ends | texts, UTF-8
 *
 * Opening a feed takes constant time, even for a malformed one. The feed of buses has 160,000 stop updates; receiving that many
 * objects would block a thread for about 100 ms.
 *
 * Each row of carriages belongs to a stop update; the rows are in the order of the stop updates.
 */

/** Change this whenever the format changes, so that instances of different versions do not read each other's feeds. */
export const MAGIC = 0x46454536;

/** Returns the position of each word of a row, and the number of words. */
function rowOf<const Name extends string>(...names: Name[]) {
  const positions = Object.fromEntries(names.map((name, position) => [name, position]));
  return { ...(positions as Record<Name, number>), words: names.length };
}

/** From `trips` to `texts`: the number of rows of each section, in order. */
export const HEADER = rowOf(
  'magic',
  'headerSeconds',
  'unreadable',
  'trips',
  'stopUpdates',
  'vehicles',
  'trains',
  'texts',
  'textBytes',
);

/**
 * `firstUpdate` is an index of stop updates. Fields that begin with `new` describe the new run of a DUPLICATED trip. Delays are
 * in seconds; `timestamp` is unsigned seconds since 1970.
 */
export const TRIP = rowOf(
  'tripId',
  'startDate',
  'startTimeSeconds',
  'relationship',
  'routeId',
  'firstUpdate',
  'updateCount',
  'delay',
  'timestamp',
  'newTripId',
  'newStartDate',
  'newStartTimeSeconds',
);

/**
 * The word after each delay is the time, in unsigned seconds since 1970. `riders` has what riders may do there today: in its low four
 * bits `pickup_type` plus 1, in the next four `drop_off_type` plus 1; 0 is unknown.
 */
export const STOP = rowOf(
  'stopId',
  'sequence',
  'relationship',
  'occupancy',
  'arrivalDelay',
  'arrivalSeconds',
  'departureDelay',
  'departureSeconds',
  'assignedStopId',
  'riders',
);

/** The bits of `drop_off_type` in `riders`. */
export const DROP_OFF_SHIFT = 4;
export const RIDERS_MASK = 15;

/** `update` is the index of the stop update; the other words are those of `packCarriages`. */
export const TRAIN = rowOf('update', 'carriages', 'firstEight', 'nextEight');
export const WORD_BYTES = 4;

/** The first five words are those of `TRIP`. Latitude and longitude are in millionths of a degree; the carriages are as in `TRAIN`. */
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
  'sequence',
  'status',
);
/** A value that the feed does not give. */
export const NONE = -(2 ** 31);

/** The longest trains have ten carriages. */
export const MAX_CARRIAGES = 16;
const BITS = 4;
const PER_WORD = 8;

/**
 * Writes three words from index `at` on: the number of carriages, then two words with the load of each carriage in four bits, the
 * first one lowest. The value is the `OccupancyStatus` number plus one; 0 is unknown. Positions only define the order, so they
 * may start at 0 or 1.
 */
export function packCarriages(carriages: ReadonlyMap<number, number>, words: Int32Column, at: number): void {
  words.fill(0, at, at + 1 + MAX_CARRIAGES / PER_WORD);
  words[at] = carriages.size;
  const inOrder = [...carriages].sort(([one], [other]) => one - other);
  for (const [index, [, occupancy]] of inOrder.entries()) {
    const bits = occupancy >= 0 && occupancy < 2 ** BITS - 1 ? occupancy + 1 : 0;
    const word = at + 1 + Math.floor(index / PER_WORD);
    words[word] = (words[word] ?? 0) | (bits << (BITS * (index % PER_WORD)));
  }
}

/** Reads what `packCarriages` wrote: `OccupancyStatus` numbers, null for an unknown load. Null if there are no carriages. */
export function unpackCarriages(words: Int32Column, at: number): (number | null)[] | null {
  const count = words[at] ?? NONE;
  if (count <= 0) return null;
  return Array.from({ length: Math.min(count, MAX_CARRIAGES) }, (_, index) => {
    const word = words[at + 1 + Math.floor(index / PER_WORD)] ?? 0;
    const bits = (word >>> (BITS * (index % PER_WORD))) & (2 ** BITS - 1);
    return bits === 0 ? null : bits - 1;
  });
}

/* Bounds far above real feeds, where an identifier has one trip (two around midnight) and a bus has up to 173 updates. */
export const MAX_TRIPS_PER_ID = 8;
export const MAX_UPDATES_PER_TRIP = 300;

/**
 * Gives equal texts the same number by comparing bytes. Decoding the identifiers of 160,000 stop updates would take longer than
 * all other work on a feed.
 */
class InternedTexts {
  #bytes = new Uint8Array(1 << 16);
  readonly #ends = new Numbers();
  /** Hash table with open addressing. A slot has the number of a text plus 1; 0 if free. */
  #slots = new Int32Column(1 << 13);

  intern(bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    for (let slot = hashBytes(bytes, start, end) & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
      const number = slots.valueAt(slot) - 1;
      if (number < 0) {
        slots[slot] = this.#ends.length + 1;
        return this.#append(bytes, start, end);
      }
      if (this.#isEqual(number, bytes, start, end)) return number;
    }
  }

  #isEqual(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = number === 0 ? 0 : this.#ends.values.valueAt(number - 1);
    if (this.#ends.values.valueAt(number) - from !== end - start) return false;
    const own = this.#bytes;
    for (let at = 0; at < end - start; at++) if (own[from + at] !== bytes[start + at]) return false;
    return true;
  }

  #append(bytes: Uint8Array, start: number, end: number): number {
    const number = this.#ends.length;
    const from = number === 0 ? 0 : this.#ends.values.valueAt(number - 1);
    const length = from + end - start;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes.subarray(start, end), from);
    this.#ends.push(length);
    if (this.#ends.length * 2 > this.#slots.length) this.#grow();
    return number;
  }

  #grow(): void {
    const slots = new Int32Column(this.#slots.length * 4);
    for (let number = 0; number < this.#ends.length; number++) {
      const start = number === 0 ? 0 : this.#ends.values.valueAt(number - 1);
      let slot = hashBytes(this.#bytes, start, this.#ends.values.valueAt(number)) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }

  finish(): { ends: Int32Column; bytes: Uint8Array } {
    const { values, length } = this.#ends;
    const end = length === 0 ? 0 : values.valueAt(length - 1);
    return { ends: values.subarray(0, length), bytes: this.#bytes.subarray(0, end) };
  }
}

/** FNV-1a, with its high bits mixed into the low ones that select a slot. */
function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Collects the trips and vehicles of a feed. `rollback` removes all stop updates added since `mark`. */
export class FeedPacker {
  readonly #trips = new Numbers();
  readonly #stops = new Numbers();
  readonly #trains = new Numbers();
  readonly #train = new Int32Column(TRAIN.words);
  readonly #texts = new InternedTexts();
  readonly #tripsPerId = new Map<number, number>();
  readonly #vehicles = new Numbers();
  /** The offset of each vehicle in `#vehicles`, by the number of its identifier. */
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
  addStopUpdate(stop: Int32Column, carriages: ReadonlyMap<number, number>): void {
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
  addTrip(trip: Int32Column, firstUpdate: number): boolean {
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
  addVehicle(vehicle: Int32Column): void {
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

  /** Returns the number of a text in UTF-8; equal texts have the same number. */
  internText(bytes: Uint8Array, start: number, end: number): number {
    return this.#texts.intern(bytes, start, end);
  }

  finish(headerSeconds: number, unreadable: number): ArrayBuffer {
    const { ends: textEnds, bytes: textBytes } = this.#texts.finish();
    const [trips, stops, vehicles, trains] = [this.#trips, this.#stops, this.#vehicles, this.#trains].map(
      ({ used }) => used,
    ) as [Int32Column, Int32Column, Int32Column, Int32Column];
    // In the order of `HEADER`.
    const header = Int32Array.of(
      MAGIC,
      headerSeconds,
      unreadable,
      trips.length / TRIP.words,
      stops.length / STOP.words,
      vehicles.length / VEHICLE.words,
      trains.length / TRAIN.words,
      textEnds.length,
      textBytes.length,
    );
    const sections = [header, trips, stops, vehicles, trains, textEnds, textBytes];
    const packed = Buffer.concat(
      sections.map((section) => new Uint8Array(section.buffer, section.byteOffset, section.byteLength)),
    );
    return new Uint8Array(packed).buffer;
  }
}
