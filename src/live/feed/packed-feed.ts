/*
 * The form in which a feed goes from the reading thread to the main one and from one instance to the others: one
 * buffer of 32-bit integers (little-endian, as on every machine the service runs on) and, behind them, the texts.
 *
 *   header | trips, TRIP_WORDS each | stop updates, STOP_WORDS each | texts, UTF-8, a line feed between two
 *
 * A feed of buses holds 160,000 stop updates. Receiving that many objects would block the main thread for about
 * 100 ms; one buffer is handed over without a copy, and only the trips that a board looks up become objects.
 */

export const MAGIC = 0x46454544;

/** Positions in the header. */
export const HEADER = { magic: 0, headerSeconds: 1, unreadable: 2, trips: 3, stopUpdates: 4, textBytes: 5 } as const;
export const HEADER_WORDS = 6;

/** Positions in a trip. `firstUpdate` counts stop updates; a trip's last one is the one before the next trip's first. */
export const TRIP = { tripId: 0, startDate: 1, startTimeSeconds: 2, relationship: 3, firstUpdate: 4 } as const;
export const TRIP_WORDS = 5;

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

/** Stands for a value that the feed does not give. */
export const NONE = -(2 ** 31);

/** Integers appended one behind the other, in place of an array of numbers at four times the memory. */
interface IntegerList {
  words: Int32Array;
  length: number;
}

/** Collects the trips of a feed. What was appended since `mark` can be taken back with `rollback`. */
export interface FeedPacker {
  mark(): number;
  rollback(mark: number): void;
  /** `stop` has `STOP_WORDS` words. */
  addStopUpdate(stop: Int32Array): void;
  /** `trip` has `TRIP_WORDS` words; its stop updates are those appended since `firstUpdate`, a mark. */
  addTrip(trip: Int32Array, firstUpdate: number): void;
  /** The number that stands for a text; the same text has the same number. */
  internText(text: string): number;
  finish(headerSeconds: number, unreadable: number): ArrayBuffer;
}

export function createFeedPacker(): FeedPacker {
  const trips: IntegerList = { words: new Int32Array(64 * TRIP_WORDS), length: 0 };
  const stops: IntegerList = { words: new Int32Array(1024 * STOP_WORDS), length: 0 };
  const texts = new Map<string, number>();

  function internText(text: string): number {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, texts.size);
    return texts.size - 1;
  }

  function finish(headerSeconds: number, unreadable: number): ArrayBuffer {
    const text = Buffer.from([...texts.keys()].join('\n'), 'utf8');
    const words = HEADER_WORDS + trips.length + stops.length;
    const packed = new ArrayBuffer(words * 4 + text.length);
    const integers = new Int32Array(packed, 0, words);
    integers[HEADER.magic] = MAGIC;
    integers[HEADER.headerSeconds] = headerSeconds;
    integers[HEADER.unreadable] = unreadable;
    integers[HEADER.trips] = trips.length / TRIP_WORDS;
    integers[HEADER.stopUpdates] = stops.length / STOP_WORDS;
    integers[HEADER.textBytes] = text.length;
    integers.set(trips.words.subarray(0, trips.length), HEADER_WORDS);
    integers.set(stops.words.subarray(0, stops.length), HEADER_WORDS + trips.length);
    new Uint8Array(packed, words * 4).set(text);
    return packed;
  }

  return {
    mark: () => stops.length / STOP_WORDS,
    rollback(mark) {
      stops.length = mark * STOP_WORDS;
    },
    addStopUpdate: (stop) => append(stops, stop),
    addTrip(trip, firstUpdate) {
      trip[TRIP.firstUpdate] = firstUpdate;
      append(trips, trip);
    },
    internText,
    finish,
  };
}

function append(list: IntegerList, row: Int32Array): void {
  if (list.length + row.length > list.words.length) {
    const longer = new Int32Array(list.words.length * 2);
    longer.set(list.words);
    list.words = longer;
  }
  list.words.set(row, list.length);
  list.length += row.length;
}
