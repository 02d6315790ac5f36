import {
  CALL,
  CALL_WORDS,
  HEADER,
  HEADER_WORDS,
  MAGIC,
  MAX_TRIPS_PER_ID,
  MAX_UNTIMETABLED_PER_STOP,
  MAX_UPDATES_PER_TRIP,
  NONE,
  STOP,
  STOP_WORDS,
  TRIP,
  TRIP_WORDS,
} from './packed-feed.ts';
import { type StopUpdate, type TripUpdate, toStopRelationship, toTripRelationship } from './trip-update.ts';

/** What one feed says, to be looked up. */
export interface Feed {
  /** The moment the feed speaks of, from its header: milliseconds since 1970. */
  headerAt: number;
  tripCount: number;
  /** How many entities could not be read or were beyond the bounds. */
  unreadable: number;
  /** The same identifier can come once for each of two service days. */
  findTrips(tripId: string): readonly TripUpdate[];
  /** Trips that do not follow the timetable (added, unscheduled, replaced) and have the stop in their list. */
  findUntimetabledTrips(stopId: string): readonly TripUpdate[];
}

/** The bytes are not a packed feed: another version of the service may have written them to Redis. */
export class NotAPackedFeed extends Error {
  override readonly name = 'NotAPackedFeed';
}

/** Trips that have been looked up stay objects; the feed of buses has 160,000 stop updates in all. */
const MAX_OPENED_UPDATES = 200_000;

/** A packed feed taken apart; nothing is copied. */
interface Sections {
  headerSeconds: number;
  unreadable: number;
  trips: Int32Array;
  stops: Int32Array;
  calls: Int32Array;
  textEnds: Int32Array;
  text: Buffer;
}

/** Throws `NotAPackedFeed`. Takes the same time for every feed; a lookup is a binary search. */
export function openFeed(packed: ArrayBuffer): Feed {
  const sections = openSections(packed);
  const { trips, calls } = sections;
  const opened = new Map<number, TripUpdate>();
  let openedUpdates = 0;

  function open(trip: number): TripUpdate {
    const known = opened.get(trip);
    if (known) return known;
    const update = readTrip(sections, trip * TRIP_WORDS);
    openedUpdates += update.stopUpdates.length;
    if (openedUpdates > MAX_OPENED_UPDATES) {
      opened.clear();
      openedUpdates = update.stopUpdates.length;
    }
    opened.set(trip, update);
    return update;
  }

  return {
    headerAt: sections.headerSeconds * 1000,
    tripCount: trips.length / TRIP_WORDS,
    unreadable: sections.unreadable,
    findTrips: (tripId) =>
      findRows(trips, TRIP_WORDS, TRIP.tripId, findText(sections, tripId), MAX_TRIPS_PER_ID).map(open),
    findUntimetabledTrips: (stopId) =>
      findRows(calls, CALL_WORDS, CALL.stopId, findText(sections, stopId), MAX_UNTIMETABLED_PER_STOP).map((call) =>
        open(calls[call * CALL_WORDS + CALL.trip] ?? NONE),
      ),
  };
}

function openSections(packed: ArrayBuffer): Sections {
  if (packed.byteLength < HEADER_WORDS * 4) throw new NotAPackedFeed('too short');
  const header = new Int32Array(packed, 0, HEADER_WORDS);
  const word = (position: number) => header[position] ?? NONE;
  const lengths = [
    word(HEADER.trips) * TRIP_WORDS,
    word(HEADER.stopUpdates) * STOP_WORDS,
    word(HEADER.calls) * CALL_WORDS,
    word(HEADER.texts),
  ];
  const words = lengths.reduce((sum, length) => sum + length, HEADER_WORDS);
  const isWhole = lengths.every((length) => length >= 0) && words * 4 + word(HEADER.textBytes) === packed.byteLength;
  if (word(HEADER.magic) !== MAGIC || !isWhole) throw new NotAPackedFeed('sizes do not add up');
  let at = HEADER_WORDS * 4;
  const [trips, stops, calls, textEnds] = lengths.map((length) => {
    const section = new Int32Array(packed, at, length);
    at += section.byteLength;
    return section;
  }) as [Int32Array, Int32Array, Int32Array, Int32Array];
  const [headerSeconds, unreadable] = [word(HEADER.headerSeconds) >>> 0, word(HEADER.unreadable)];
  return { headerSeconds, unreadable, trips, stops, calls, textEnds, text: Buffer.from(packed, at) };
}

/** The text with this number; null when there is none. */
function textOf({ textEnds, text }: Sections, number: number): string | null {
  const end = textEnds[number];
  return end === undefined ? null : text.toString('utf8', textEnds[number - 1] ?? 0, end);
}

/** The number of the text; `NONE` when the feed does not have it. */
function findText(sections: Sections, text: string): number {
  const number = findFirst(sections.textEnds.length, (at) => (textOf(sections, at) ?? '') >= text);
  return textOf(sections, number) === text ? number : NONE;
}

/** The rows that have the value in the column by which they are sorted, as many as are looked at. */
function findRows(words: Int32Array, width: number, column: number, value: number, most: number): number[] {
  const inColumn = (row: number) => words[row * width + column];
  const first =
    value === NONE ? words.length : findFirst(words.length / width, (row) => (inColumn(row) ?? NONE) >= value);
  const rows: number[] = [];
  for (let row = first; inColumn(row) === value && rows.length < most; row++) rows.push(row);
  return rows;
}

/** The first of so many positions at which the condition holds; it holds for all that follow. */
function findFirst(count: number, holds: (position: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function readTrip(sections: Sections, row: number): TripUpdate {
  const { trips } = sections;
  return {
    tripId: textOf(sections, trips[row + TRIP.tripId] ?? NONE) ?? '',
    startDate:
      given(trips, row + TRIP.startDate)
        ?.toString()
        .padStart(8, '0') ?? null,
    startTimeSeconds: given(trips, row + TRIP.startTimeSeconds),
    relationship: toTripRelationship(trips[row + TRIP.relationship] ?? NONE),
    stopUpdates: stopRowsOf(sections, row).map((stop) => readStop(sections, stop)),
  };
}

/** The stop updates of a trip, as positions in `stops`. */
function stopRowsOf({ trips, stops }: Sections, row: number): number[] {
  const first = Math.max(0, trips[row + TRIP.firstUpdate] ?? 0);
  const left = stops.length / STOP_WORDS - first;
  const count = Math.min(trips[row + TRIP.updateCount] ?? 0, MAX_UPDATES_PER_TRIP, left);
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * STOP_WORDS);
}

function readStop(sections: Sections, row: number): StopUpdate {
  const { stops } = sections;
  return {
    stopId: textOf(sections, stops[row + STOP.stopId] ?? NONE),
    sequence: given(stops, row + STOP.sequence),
    relationship: toStopRelationship(given(stops, row + STOP.relationship) ?? 0),
    arrival: { delaySeconds: given(stops, row + STOP.arrivalDelay), at: momentOf(stops, row + STOP.arrivalSeconds) },
    departure: {
      delaySeconds: given(stops, row + STOP.departureDelay),
      at: momentOf(stops, row + STOP.departureSeconds),
    },
    occupancy: given(stops, row + STOP.occupancy),
  };
}

function given(words: Int32Array, position: number): number | null {
  const word = words[position];
  return word === undefined || word === NONE ? null : word;
}

function momentOf(words: Int32Array, position: number): number | null {
  const seconds = given(words, position);
  return seconds === null ? null : (seconds >>> 0) * 1000;
}
