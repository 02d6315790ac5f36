import { Int32Column } from '../../core/columns.ts';
import { withoutDate } from '../../transit/trip-id.ts';
import {
  HEADER,
  MAGIC,
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

/** Indexed by the number in the feed. 4 is unused; upstream uses 5 for REPLACEMENT. */
export const TRIP_RELATIONSHIPS = [
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

/** The status of a vehicle that stands at a stop. With any other, it is on the way there. */
export const STOPPED_AT = 1;

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
  /** In the order of the feed. Buses and trains drop stops that they have passed. */
  stopUpdates: readonly StopUpdate[];
}

/** What a feed says about one call of a trip, unchecked; null for what it leaves out. */
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

/** Selects vehicles by their position, or by the trip that they are on. */
export type VehicleCriteria = { isAt: (lat: number, lng: number) => boolean } | { tripId: string };

/** The position report of a vehicle on a trip. Fields are null if the feed does not give them. */
export interface VehiclePosition {
  tripId: string;
  routeId: string | null;
  vehicleId: string;
  /** For trains, text such as "12:15 Bondi Junction Station to Cronulla Station". */
  label: string | null;
  /** The stop where it stands or that it approaches. For trains, the name of a signal or track. */
  stopId: string | null;
  /** The `stop_sequence` of the call at `stopId`. */
  sequence: number | null;
  /** Whether it stands at `stopId`. Otherwise it is on the way there. */
  isStanding: boolean;
  lat: number;
  lng: number;
  /** In degrees, clockwise from north. */
  bearing: number | null;
  /** Milliseconds since 1970. */
  reportedAt: number;
  /** The `OccupancyStatus` number of GTFS-realtime. */
  occupancy: number | null;
  isAccessible: boolean | null;
  /** The `OccupancyStatus` of each carriage, front to rear; null if the feed lists no carriages. */
  carriages: (number | null)[] | null;
}

/** A packed feed, opened in place. */
export class Feed {
  /** The packed bytes, for other threads and instances. */
  readonly packed: ArrayBuffer;
  /** The header's timestamp, in milliseconds since 1970. */
  readonly headerAt: number;
  readonly tripCount: number;
  readonly vehicleCount: number;
  /** The number of entities that were unreadable or exceeded the bounds. */
  readonly unreadable: number;
  readonly textCount: number;
  /** Rows as in packed-feed.ts, for readers of all trips. */
  readonly trips: Int32Column;
  readonly stops: Int32Column;
  readonly vehicles: Int32Column;
  readonly #textEnds: Int32Column;
  readonly #text: Buffer;
  readonly #trains: Int32Column;

  /** Throws `NotAPackedFeed`. */
  constructor(packed: ArrayBuffer) {
    if (packed.byteLength < HEADER.words * WORD_BYTES) throw new NotAPackedFeed('too short');
    this.packed = packed;
    const header = new Int32Column(packed, 0, HEADER.words);
    const word = (position: number) => header[position] ?? NONE;
    const lengths = [
      word(HEADER.trips) * TRIP.words,
      word(HEADER.stopUpdates) * STOP.words,
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
      const section = new Int32Column(packed, at, length);
      at += section.byteLength;
      return section;
    };
    const sections = lengths.map(next) as [Int32Column, Int32Column, Int32Column, Int32Column, Int32Column];
    [this.trips, this.stops, this.vehicles, this.#trains, this.#textEnds] = sections;
    this.#text = Buffer.from(packed, at);
    this.headerAt = (word(HEADER.headerSeconds) >>> 0) * 1000;
    this.unreadable = word(HEADER.unreadable);
    this.tripCount = this.trips.length / TRIP.words;
    this.vehicleCount = this.vehicles.length / VEHICLE.words;
    this.textCount = this.#textEnds.length;
  }

  /** The trip that begins at this index of `trips`. */
  trip(row: number): TripUpdate {
    const { trips } = this;
    const { first, count } = this.updatesOf(row);
    return {
      tripId: this.textOf(trips[row + TRIP.tripId]) ?? '',
      routeId: this.textOf(trips[row + TRIP.routeId]),
      startDate:
        valueAt(trips, row + TRIP.startDate)
          ?.toString()
          .padStart(8, '0') ?? null,
      startTimeSeconds: valueAt(trips, row + TRIP.startTimeSeconds),
      relationship: TRIP_RELATIONSHIPS[valueAt(trips, row + TRIP.relationship) ?? 0] ?? 'UNKNOWN',
      stopUpdates: Array.from({ length: count }, (_, index) => this.#getStop((first + index) * STOP.words)),
    };
  }

  /** The first stop update of a trip, as an index of stop updates, and their number. Never beyond the end of `stops`. */
  updatesOf(row: number): { first: number; count: number } {
    const first = Math.max(0, this.trips[row + TRIP.firstUpdate] ?? 0);
    const updateCount = this.trips[row + TRIP.updateCount] ?? 0;
    const count = Math.min(updateCount, MAX_UPDATES_PER_TRIP, this.stops.length / STOP.words - first);
    return { first, count: Math.max(0, count) };
  }

  /** Lists the vehicles at the requested positions, or those on a trip; the date in trip IDs is ignored. */
  listVehicles(criteria: VehicleCriteria): VehiclePosition[] {
    const { vehicles } = this;
    const tripId = 'tripId' in criteria ? withoutDate(criteria.tripId) : null;
    const isOnTrip = (text: number) => withoutDate(this.textOf(text) ?? '') === tripId;
    const matches: VehiclePosition[] = [];
    for (let row = 0; row < vehicles.length; row += VEHICLE.words) {
      const lat = (vehicles[row + VEHICLE.lat] ?? 0) / 1e6;
      const lng = (vehicles[row + VEHICLE.lng] ?? 0) / 1e6;
      const isWanted = 'isAt' in criteria ? criteria.isAt(lat, lng) : isOnTrip(vehicles[row + VEHICLE.tripId] ?? NONE);
      if (isWanted) matches.push(this.#getVehicle(row, lat, lng));
    }
    return matches;
  }

  /**
   * Lists the stop updates that predict the load of carriages. `update` is the index of the stop update; `loads` are
   * `OccupancyStatus` numbers, front to rear, null for a carriage without a prediction.
   */
  *carriages(): Generator<[update: number, loads: (number | null)[]]> {
    const trains = this.#trains;
    for (let row = 0; row < trains.length; row += TRAIN.words) {
      const loads = unpackCarriages(trains, row + TRAIN.carriages);
      if (loads) yield [trains.valueAt(row + TRAIN.update), loads];
    }
  }

  #getVehicle(row: number, lat: number, lng: number): VehiclePosition {
    const { vehicles } = this;
    const text = (position: number) => this.textOf(vehicles[row + position]);
    const wheelchair = valueAt(vehicles, row + VEHICLE.wheelchair);
    return {
      tripId: text(VEHICLE.tripId) ?? '',
      routeId: text(VEHICLE.routeId),
      vehicleId: text(VEHICLE.vehicleId) ?? '',
      label: text(VEHICLE.label),
      stopId: text(VEHICLE.stopId),
      sequence: valueAt(vehicles, row + VEHICLE.sequence),
      isStanding: vehicles[row + VEHICLE.status] === STOPPED_AT,
      lat,
      lng,
      bearing: valueAt(vehicles, row + VEHICLE.bearing),
      reportedAt: ((vehicles[row + VEHICLE.reportedSeconds] ?? 0) >>> 0) * 1000,
      occupancy: valueAt(vehicles, row + VEHICLE.occupancy),
      isAccessible: wheelchair === null ? null : wheelchair === 1,
      carriages: unpackCarriages(vehicles, row + VEHICLE.carriages),
    };
  }

  /** Returns the text with this number; null if there is none. */
  textOf(number: number | undefined): string | null {
    if (number === undefined) return null;
    const end = this.#textEnds[number];
    return end === undefined ? null : this.#text.toString('utf8', this.#textEnds[number - 1] ?? 0, end);
  }

  #getStop(row: number): StopUpdate {
    const { stops } = this;
    return {
      stopId: this.textOf(stops[row + STOP.stopId]),
      sequence: valueAt(stops, row + STOP.sequence),
      relationship: STOP_RELATIONSHIPS[valueAt(stops, row + STOP.relationship) ?? 0] ?? 'UNKNOWN',
      arrival: getTime(stops, row + STOP.arrivalDelay),
      departure: getTime(stops, row + STOP.departureDelay),
      occupancy: valueAt(stops, row + STOP.occupancy),
    };
  }
}

function valueAt(words: Int32Column, position: number): number | null {
  const word = words[position];
  return word === undefined || word === NONE ? null : word;
}

/** Reads a delay and the time in the word after it. */
function getTime(words: Int32Column, delay: number): StopTime {
  const seconds = valueAt(words, delay + 1);
  return { delaySeconds: valueAt(words, delay), at: seconds === null ? null : (seconds >>> 0) * 1000 };
}
