import { HEADER, HEADER_WORDS, MAGIC, NONE, STOP, STOP_WORDS, TRIP, TRIP_WORDS } from './packed-feed.ts';
import {
  type StopUpdate,
  type TripRelationship,
  type TripUpdate,
  toStopRelationship,
  toTripRelationship,
} from './trip-update.ts';

/** What one feed says, to be looked up. */
export interface Feed {
  /** The moment the feed speaks of, from its header: milliseconds since 1970. */
  headerAt: number;
  tripCount: number;
  /** How many entities could not be read. */
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

const UNTIMETABLED: readonly TripRelationship[] = [
  'ADDED',
  'UNSCHEDULED',
  'REPLACEMENT',
  'DUPLICATED',
  'NEW',
  'UNKNOWN',
];

/** A packed feed taken apart; nothing is copied but the texts. */
interface Sections {
  headerSeconds: number;
  unreadable: number;
  trips: Int32Array;
  stops: Int32Array;
  texts: readonly string[];
}

/** Throws `NotAPackedFeed`. */
export function openFeed(packed: ArrayBuffer): Feed {
  const sections = openSections(packed);
  const { trips } = sections;
  const tripCount = trips.length / TRIP_WORDS;
  const byId = new Map<string, number | number[]>();
  const untimetabled = new Map<string, Set<number>>();
  const opened = new Map<number, TripUpdate>();

  for (let trip = 0; trip < tripCount; trip++) {
    const row = trip * TRIP_WORDS;
    addTo(byId, sections.texts[trips[row + TRIP.tripId] ?? NONE] ?? '', trip);
    if (!UNTIMETABLED.includes(relationshipOf(trips, row))) continue;
    for (const stopId of listStopIds(sections, trip)) {
      const calling = untimetabled.get(stopId) ?? new Set();
      untimetabled.set(stopId, calling.add(trip));
    }
  }

  function open(trip: number): TripUpdate {
    const known = opened.get(trip);
    if (known) return known;
    const update = readTrip(sections, trip);
    opened.set(trip, update);
    return update;
  }

  return {
    headerAt: sections.headerSeconds * 1000,
    tripCount,
    unreadable: sections.unreadable,
    findTrips: (tripId) => [byId.get(tripId) ?? []].flat().map(open),
    findUntimetabledTrips: (stopId) => Array.from(untimetabled.get(stopId) ?? [], open),
  };
}

function openSections(packed: ArrayBuffer): Sections {
  if (packed.byteLength < HEADER_WORDS * 4) throw new NotAPackedFeed('too short');
  const header = new Int32Array(packed, 0, HEADER_WORDS);
  const word = (position: number) => header[position] ?? NONE;
  const tripWords = word(HEADER.trips) * TRIP_WORDS;
  const stopWords = word(HEADER.stopUpdates) * STOP_WORDS;
  const words = HEADER_WORDS + tripWords + stopWords;
  const isWhole = tripWords >= 0 && stopWords >= 0 && words * 4 + word(HEADER.textBytes) === packed.byteLength;
  if (word(HEADER.magic) !== MAGIC || !isWhole) throw new NotAPackedFeed('sizes do not add up');
  const text = Buffer.from(packed, words * 4);
  return {
    headerSeconds: word(HEADER.headerSeconds) >>> 0,
    unreadable: word(HEADER.unreadable),
    trips: new Int32Array(packed, HEADER_WORDS * 4, tripWords),
    stops: new Int32Array(packed, (HEADER_WORDS + tripWords) * 4, stopWords),
    texts: text.toString('utf8').split('\n'),
  };
}

function addTo(byId: Map<string, number | number[]>, tripId: string, trip: number): void {
  const known = byId.get(tripId);
  byId.set(tripId, known === undefined ? trip : [known, trip].flat());
}

/** The stop updates of a trip, as positions in `stops`. */
function rowsOf({ trips, stops }: Sections, trip: number): number[] {
  const count = stops.length / STOP_WORDS;
  const first = Math.max(0, trips[trip * TRIP_WORDS + TRIP.firstUpdate] ?? 0);
  const end = Math.min(count, trips[(trip + 1) * TRIP_WORDS + TRIP.firstUpdate] ?? count);
  return Array.from({ length: Math.max(0, end - first) }, (_, index) => (first + index) * STOP_WORDS);
}

function listStopIds(sections: Sections, trip: number): string[] {
  return rowsOf(sections, trip).flatMap((row) => sections.texts[sections.stops[row + STOP.stopId] ?? NONE] ?? []);
}

function readTrip(sections: Sections, trip: number): TripUpdate {
  const { trips, texts } = sections;
  const row = trip * TRIP_WORDS;
  return {
    tripId: texts[trips[row + TRIP.tripId] ?? NONE] ?? '',
    startDate:
      given(trips, row + TRIP.startDate)
        ?.toString()
        .padStart(8, '0') ?? null,
    startTimeSeconds: given(trips, row + TRIP.startTimeSeconds),
    relationship: relationshipOf(trips, row),
    stopUpdates: rowsOf(sections, trip).map((stop) => readStop(sections, stop)),
  };
}

function readStop({ stops, texts }: Sections, row: number): StopUpdate {
  return {
    stopId: texts[stops[row + STOP.stopId] ?? NONE] ?? null,
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

/** A trip without a relationship is scheduled. */
function relationshipOf(trips: Int32Array, row: number): TripRelationship {
  return toTripRelationship(given(trips, row + TRIP.relationship) ?? 0);
}

function given(words: Int32Array, position: number): number | null {
  const word = words[position];
  return word === undefined || word === NONE ? null : word;
}

function momentOf(words: Int32Array, position: number): number | null {
  const seconds = given(words, position);
  return seconds === null ? null : (seconds >>> 0) * 1000;
}
