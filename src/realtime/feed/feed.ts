import { firstFrom } from '../../core/binary-search.ts';
import { isEmptyRoute } from '../../timetable/import/passenger-trips.ts';
import type { Carriages, Occupancy } from '../../transit/departure.ts';
import { withoutDate } from '../../transit/run-id.ts';
import {
  CALL,
  HEADER,
  isTimetabled,
  MAGIC,
  MAX_TRIPS_PER_ID,
  MAX_UNTIMETABLED_PER_STOP,
  MAX_UPDATES_PER_TRIP,
  NONE,
  STOP,
  TRAIN,
  TRIP,
  unpackCarriages,
  VEHICLE,
  WORD_BYTES,
} from './packed-feed.ts';

/*
 * The fields of upstream's trip updates that are stored. Names are those of GTFS-realtime
 * (https://gtfs.org/documentation/realtime/reference/).
 */

/** By the number in the feed. 4 is unused; upstream uses 5 for REPLACEMENT. */
const TRIP_RELATIONSHIPS = [
  'SCHEDULED',
  'ADDED',
  'UNSCHEDULED',
  'CANCELED',
  'UNKNOWN',
  'REPLACEMENT',
  'DUPLICATED',
  'DELETED',
  'NEW',
] as const;
const STOP_RELATIONSHIPS = ['SCHEDULED', 'SKIPPED', 'NO_DATA', 'UNSCHEDULED', 'UNKNOWN'] as const;

export type TripRelationship = (typeof TRIP_RELATIONSHIPS)[number];

/** One run of one vehicle, as a feed describes it. */
export interface TripUpdate {
  tripId: string;
  /** Null if the feed does not give it. */
  routeId: string | null;
  /** The service day as `YYYYMMDD`; null if the feed does not give it (trains). */
  startDate: string | null;
  /** Seconds after the start of the service day, may exceed 24 h; null if the feed does not give it. */
  startTimeSeconds: number | null;
  relationship: TripRelationship;
  /** The index of its first stop update among all of the feed. */
  firstUpdate: number;
  /** In the order of the feed. Buses and trains drop stops that they have passed. */
  stopUpdates: readonly StopUpdate[];
}

export interface StopUpdate {
  stopId: string | null;
  sequence: number | null;
  relationship: (typeof STOP_RELATIONSHIPS)[number];
  arrival: StopTime;
  departure: StopTime;
  /** Upstream's number for the occupancy; trains only. */
  occupancy: number | null;
}

/** Both are null if the feed does not give them. */
export interface StopTime {
  delaySeconds: number | null;
  /** Milliseconds since 1970. */
  at: number | null;
}

/** The bytes are not a packed feed, for instance because another version of the service wrote them to Redis. */
export class NotAPackedFeed extends Error {
  override readonly name = 'NotAPackedFeed';
}

/** The position report of a vehicle on a trip. Fields are null if the feed does not give them. */
export interface VehiclePosition {
  tripId: string;
  routeId: string | null;
  vehicleId: string;
  /** For trains, text such as "12:15 Bondi Junction Station to Cronulla Station". */
  label: string | null;
  /** For trains, the name of a signal or track. */
  stopId: string | null;
  lat: number;
  lng: number;
  /** In degrees, clockwise from north. */
  bearing: number | null;
  /** Milliseconds since 1970. */
  reportedAt: number;
  /** The number from GTFS-realtime. */
  occupancy: number | null;
  isAccessible: boolean | null;
  /** The load of each carriage, front to rear, in numbers as above; null if the feed lists no carriages. */
  carriages: (number | null)[] | null;
}

/** The limit of stop updates kept as objects after lookups; the feed of buses has 160,000 in all. */
const MAX_OPENED_UPDATES = 200_000;

/** A packed feed that is searched in place. Opening takes constant time; a lookup is a binary search. */
export class Feed {
  /** The bytes, to pass to another thread. */
  readonly packed: ArrayBuffer;
  /** The header's timestamp, in milliseconds since 1970. */
  readonly headerAt: number;
  readonly tripCount: number;
  readonly vehicleCount: number;
  /** The number of entities that were unreadable or exceeded the bounds. */
  readonly unreadable: number;
  readonly #trips: Int32Array;
  readonly #stops: Int32Array;
  readonly #calls: Int32Array;
  readonly #vehicles: Int32Array;
  readonly #textEnds: Int32Array;
  readonly #text: Buffer;
  readonly #trains: Int32Array;
  readonly #opened = new Map<number, TripUpdate>();
  /** The rows of the trips looked up so far, by identifier. */
  readonly #tripRows = new Map<string, readonly number[]>();
  /** Trips by their identifier without the date; built at the first lookup. */
  #undated: Map<string, number[]> | null = null;
  #openedUpdates = 0;

  /** Throws `NotAPackedFeed`. */
  constructor(packed: ArrayBuffer) {
    if (packed.byteLength < HEADER.words * WORD_BYTES) throw new NotAPackedFeed('too short');
    this.packed = packed;
    const header = new Int32Array(packed, 0, HEADER.words);
    const word = (position: number) => header[position] ?? NONE;
    const lengths = [
      word(HEADER.trips) * TRIP.words,
      word(HEADER.stopUpdates) * STOP.words,
      word(HEADER.calls) * CALL.words,
      word(HEADER.vehicles) * VEHICLE.words,
      word(HEADER.trains) * TRAIN.words,
      word(HEADER.texts),
    ];
    const words = lengths.reduce((sum, length) => sum + length, HEADER.words);
    const isComplete =
      lengths.every((length) => length >= 0) && words * WORD_BYTES + word(HEADER.textBytes) === packed.byteLength;
    if (word(HEADER.magic) !== MAGIC || !isComplete) throw new NotAPackedFeed('sizes do not add up');
    let at = HEADER.words * WORD_BYTES;
    const next = (length: number) => {
      const section = new Int32Array(packed, at, length);
      at += section.byteLength;
      return section;
    };
    const sections = lengths.map(next) as [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array];
    [this.#trips, this.#stops, this.#calls, this.#vehicles, this.#trains, this.#textEnds] = sections;
    this.#text = Buffer.from(packed, at);
    this.headerAt = (word(HEADER.headerSeconds) >>> 0) * 1000;
    this.unreadable = word(HEADER.unreadable);
    this.tripCount = this.#trips.length / TRIP.words;
    this.vehicleCount = this.#vehicles.length / VEHICLE.words;
  }

  /**
   * Finds the trips with the identifier; there can be one for each of two service days. Identifiers of ferries and TrainLink
   * contain a publication date; if there is no exact match, the date is ignored.
   */
  findTrips(tripId: string): readonly TripUpdate[] {
    return this.#findTripRows(tripId).map((trip) => this.#open(trip));
  }

  /** Finds the maximum delay of a trip in milliseconds; null if the feed gives none. */
  findLateness(tripId: string): number | null {
    let latest: number | null = null;
    for (const trip of this.#findTripRows(tripId)) {
      const { first, count } = this.#updatesOf(trip * TRIP.words);
      for (let row = first * STOP.words; row < (first + count) * STOP.words; row += STOP.words) {
        const delay = valueAt(this.#stops, row + STOP.departureDelay) ?? valueAt(this.#stops, row + STOP.arrivalDelay);
        if (delay !== null && delay * 1000 > (latest ?? Number.NEGATIVE_INFINITY)) latest = delay * 1000;
      }
    }
    return latest;
  }

  #findTripRows(tripId: string): readonly number[] {
    const rows = this.#tripRows.get(tripId) ?? this.#searchTripRows(tripId);
    this.#tripRows.set(tripId, rows);
    return rows;
  }

  #searchTripRows(tripId: string): readonly number[] {
    const rows = findRows(this.#trips, TRIP.words, this.#findText(tripId), MAX_TRIPS_PER_ID);
    const undatedId = rows.length === 0 ? withoutDate(tripId) : tripId;
    if (undatedId === tripId) return rows;
    this.#undated ??= Map.groupBy(
      Array.from({ length: this.tripCount }, (_, trip) => trip),
      (trip) => withoutDate(this.#textOf(this.#trips[trip * TRIP.words + TRIP.tripId] ?? NONE) ?? ''),
    );
    return this.#undated.get(undatedId)?.slice(0, MAX_TRIPS_PER_ID) ?? [];
  }

  /** Reads every trip without keeping it. */
  *trips(): Generator<TripUpdate> {
    for (let trip = 0; trip < this.tripCount; trip++) yield this.#readTrip(trip * TRIP.words);
  }

  /**
   * Lists identifiers of trips that follow the timetable: up to `limit`, spread over the feed. Trains without passengers, a
   * quarter of the feed of trains, are not in the timetable.
   */
  sampleTimetabledTrips(limit: number): string[] {
    const step = Math.max(1, Math.ceil(this.tripCount / limit));
    const rows = Array.from({ length: Math.ceil(this.tripCount / step) }, (_, index) => index * step * TRIP.words);
    return rows
      .filter((row) => isTimetabled(this.#trips[row + TRIP.relationship] ?? NONE))
      .filter((row) => !isEmptyRoute(this.#textOf(this.#trips[row + TRIP.routeId] ?? NONE)))
      .map((row) => this.#textOf(this.#trips[row + TRIP.tripId] ?? NONE) ?? '');
  }

  /** Finds the trips that do not follow the timetable (added, unscheduled, replaced) and list this stop. */
  findUntimetabledTrips(stopId: string): readonly TripUpdate[] {
    if (this.#calls.length === 0) return [];
    const rows = findRows(this.#calls, CALL.words, this.#findText(stopId), MAX_UNTIMETABLED_PER_STOP);
    return rows.map((call) => this.#open(this.#calls[call * CALL.words + CALL.trip] ?? NONE));
  }

  /** Lists the vehicles at the requested positions, or on a trip found as in `findTrips`. */
  findVehicles(criteria: { isAt: (lat: number, lng: number) => boolean } | { tripId: string }): VehiclePosition[] {
    const vehicles = this.#vehicles;
    const trip = 'tripId' in criteria ? withoutDate(criteria.tripId) : null;
    const isDated = 'tripId' in criteria && trip !== criteria.tripId;
    const number = trip === null || isDated ? NONE : this.#findText(trip);
    const isOnTrip = (text: number) => (isDated ? withoutDate(this.#textOf(text) ?? '') === trip : text === number);
    const matches: VehiclePosition[] = [];
    for (let row = 0; row < vehicles.length; row += VEHICLE.words) {
      const lat = (vehicles[row + VEHICLE.lat] ?? 0) / 1e6;
      const lng = (vehicles[row + VEHICLE.lng] ?? 0) / 1e6;
      const isWanted = 'isAt' in criteria ? criteria.isAt(lat, lng) : isOnTrip(vehicles[row + VEHICLE.tripId] ?? NONE);
      if (isWanted) matches.push(this.#readVehicle(row, lat, lng));
    }
    return matches;
  }

  /**
   * Finds the predicted load of each carriage when the vehicle leaves this stop, front to rear, in numbers of GTFS-realtime;
   * null for a carriage without a prediction. Null if the feed lists no carriages.
   */
  findCarriages(trip: TripUpdate, update: StopUpdate): (number | null)[] | null {
    const trains = this.#trains;
    const updateIndex = trip.firstUpdate + trip.stopUpdates.indexOf(update);
    const updateOf = (row: number) => trains[row * TRAIN.words + TRAIN.update] ?? NONE;
    const row = firstFrom(0, trains.length / TRAIN.words, (at) => updateOf(at) >= updateIndex);
    return updateOf(row) === updateIndex ? unpackCarriages(trains, row * TRAIN.words + TRAIN.carriages) : null;
  }

  #readVehicle(row: number, lat: number, lng: number): VehiclePosition {
    const vehicles = this.#vehicles;
    const text = (position: number) => this.#textOf(vehicles[row + position] ?? NONE);
    const wheelchair = valueAt(vehicles, row + VEHICLE.wheelchair);
    return {
      tripId: text(VEHICLE.tripId) ?? '',
      routeId: text(VEHICLE.routeId),
      vehicleId: text(VEHICLE.vehicleId) ?? '',
      label: text(VEHICLE.label),
      stopId: text(VEHICLE.stopId),
      lat,
      lng,
      bearing: valueAt(vehicles, row + VEHICLE.bearing),
      reportedAt: ((vehicles[row + VEHICLE.reportedSeconds] ?? 0) >>> 0) * 1000,
      occupancy: valueAt(vehicles, row + VEHICLE.occupancy),
      isAccessible: wheelchair === null ? null : wheelchair === 1,
      carriages: unpackCarriages(vehicles, row + VEHICLE.carriages),
    };
  }

  #open(trip: number): TripUpdate {
    const cached = this.#opened.get(trip);
    if (cached) return cached;
    const update = this.#readTrip(trip * TRIP.words);
    this.#openedUpdates += update.stopUpdates.length;
    if (this.#openedUpdates > MAX_OPENED_UPDATES) {
      this.#opened.clear();
      this.#openedUpdates = update.stopUpdates.length;
    }
    this.#opened.set(trip, update);
    return update;
  }

  /** Returns the text with this number; null if there is none. */
  #textOf(number: number): string | null {
    const end = this.#textEnds[number];
    return end === undefined ? null : this.#text.toString('utf8', this.#textEnds[number - 1] ?? 0, end);
  }

  /** Returns the number of the text; `NONE` if the feed does not have it. */
  #findText(text: string): number {
    const textBytes = Buffer.from(text, 'utf8');
    const number = firstFrom(0, this.#textEnds.length, (at) => this.#compareText(at, textBytes) >= 0);
    return number < this.#textEnds.length && this.#compareText(number, textBytes) === 0 ? number : NONE;
  }

  /**
   * Compares bytes, because decoding would create a string in each of the sixteen steps of a lookup. It uses a loop because
   * texts are short: `Buffer.compare` takes three times as long.
   */
  #compareText(number: number, expected: Buffer): number {
    const start = this.#textEnds[number - 1] ?? 0;
    const length = (this.#textEnds[number] ?? 0) - start;
    const shorter = Math.min(length, expected.length);
    for (let index = 0; index < shorter; index++) {
      const difference = (this.#text[start + index] ?? 0) - (expected[index] ?? 0);
      if (difference !== 0) return difference;
    }
    return length - expected.length;
  }

  #readTrip(row: number): TripUpdate {
    const trips = this.#trips;
    const { first, count } = this.#updatesOf(row);
    return {
      tripId: this.#textOf(trips[row + TRIP.tripId] ?? NONE) ?? '',
      routeId: this.#textOf(trips[row + TRIP.routeId] ?? NONE),
      startDate:
        valueAt(trips, row + TRIP.startDate)
          ?.toString()
          .padStart(8, '0') ?? null,
      startTimeSeconds: valueAt(trips, row + TRIP.startTimeSeconds),
      relationship: TRIP_RELATIONSHIPS[valueAt(trips, row + TRIP.relationship) ?? 0] ?? 'UNKNOWN',
      firstUpdate: first,
      stopUpdates: this.#readStops(first, count),
    };
  }

  /** Finds the stop updates of the trip in this row. Out-of-range numbers are safe. */
  #updatesOf(row: number): { first: number; count: number } {
    const first = Math.max(0, this.#trips[row + TRIP.firstUpdate] ?? 0);
    const updateCount = this.#trips[row + TRIP.updateCount] ?? 0;
    const count = Math.min(updateCount, MAX_UPDATES_PER_TRIP, this.#stops.length / STOP.words - first);
    return { first, count: Math.max(0, count) };
  }

  #readStops(first: number, count: number): StopUpdate[] {
    const stops = this.#stops;
    return Array.from({ length: count }, (_, index) => {
      const row = (first + index) * STOP.words;
      return {
        stopId: this.#textOf(stops[row + STOP.stopId] ?? NONE),
        sequence: valueAt(stops, row + STOP.sequence),
        relationship: STOP_RELATIONSHIPS[valueAt(stops, row + STOP.relationship) ?? 0] ?? 'UNKNOWN',
        arrival: readTime(stops, row + STOP.arrivalDelay),
        departure: readTime(stops, row + STOP.departureDelay),
        occupancy: valueAt(stops, row + STOP.occupancy),
      };
    });
  }
}

/** Finds at most `limit` rows whose first word is this value. Rows are sorted by their first word. */
function findRows(words: Int32Array, width: number, value: number, limit: number): number[] {
  if (value === NONE) return [];
  const firstWord = (row: number) => words[row * width] ?? NONE;
  const first = firstFrom(0, words.length / width, (row) => firstWord(row) >= value);
  const rows: number[] = [];
  for (let row = first; firstWord(row) === value && rows.length < limit; row++) rows.push(row);
  return rows;
}

function valueAt(words: Int32Array, position: number): number | null {
  const word = words[position];
  return word === undefined || word === NONE ? null : word;
}

/** The time in seconds is in the word after the delay. */
function readTime(words: Int32Array, delay: number): StopTime {
  const seconds = valueAt(words, delay + 1);
  return { delaySeconds: valueAt(words, delay), at: seconds === null ? null : (seconds >>> 0) * 1000 };
}

/**
 * By number in GTFS-realtime. EMPTY, CRUSHED_STANDING_ROOM_ONLY and FULL map to their neighbours, because we have no words for
 * them.
 */
const OCCUPANCIES: readonly Occupancy[] = [
  'MANY_SEATS',
  'MANY_SEATS',
  'FEW_SEATS',
  'STANDING_ONLY',
  'STANDING_ONLY',
  'STANDING_ONLY',
];

export function toOccupancy(status: number | null): Occupancy | null {
  return status === null ? null : (OCCUPANCIES[status] ?? null);
}

export function toCarriages(statuses: readonly (number | null)[] | null): Carriages {
  return statuses?.map((status, index) => ({ position: index + 1, occupancy: toOccupancy(status) })) ?? null;
}
