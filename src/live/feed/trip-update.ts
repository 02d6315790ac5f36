import type { Carriages, Occupancy } from '../../transit/departure.ts';

/*
 * The parts of upstream's trip updates that are kept. The words are those of GTFS-realtime
 * (https://gtfs.org/documentation/realtime/reference/).
 */

/** By the number in the feed; REPLACEMENT is upstream's own use of 5. A number that is not listed is UNKNOWN. */
const TRIP_RELATIONSHIPS = {
  0: 'SCHEDULED',
  1: 'ADDED',
  2: 'UNSCHEDULED',
  3: 'CANCELED',
  5: 'REPLACEMENT',
  6: 'DUPLICATED',
  7: 'DELETED',
  8: 'NEW',
} as const satisfies Record<number, string>;

const STOP_RELATIONSHIPS = {
  0: 'SCHEDULED',
  1: 'SKIPPED',
  2: 'NO_DATA',
  3: 'UNSCHEDULED',
} as const satisfies Record<number, string>;

/** Trips of any other relationship do not follow the timetable, as far as we know. */
const TIMETABLED: readonly TripRelationship[] = ['SCHEDULED', 'CANCELED', 'DELETED'];

export type TripRelationship = (typeof TRIP_RELATIONSHIPS)[keyof typeof TRIP_RELATIONSHIPS] | 'UNKNOWN';
export type StopRelationship = (typeof STOP_RELATIONSHIPS)[keyof typeof STOP_RELATIONSHIPS] | 'UNKNOWN';

/** One run of one vehicle, as a feed describes it. */
export interface TripUpdate {
  tripId: string;
  /** `YYYYMMDD`, the service day; null where the feed does not say (trains). */
  startDate: string | null;
  /** Seconds after the start of the service day, also beyond 24 h; null where the feed does not say. */
  startTimeSeconds: number | null;
  relationship: TripRelationship;
  /** The number of the first of its stop updates among all of the feed. */
  firstUpdate: number;
  /** In the order of the feed. Buses and trains lose the stops that they have passed. */
  stopUpdates: readonly StopUpdate[];
}

export interface StopUpdate {
  stopId: string | null;
  sequence: number | null;
  relationship: StopRelationship;
  arrival: StopTime;
  departure: StopTime;
  /** Upstream's occupancy, as its number; trains only. */
  occupancy: number | null;
}

/** Null where the feed does not say. */
export interface StopTime {
  delaySeconds: number | null;
  /** Milliseconds since 1970. */
  at: number | null;
}

/** Negative where the feed does not say: such a trip is scheduled. */
export function toTripRelationship(number: number): TripRelationship {
  return number < 0 ? 'SCHEDULED' : ((TRIP_RELATIONSHIPS as Record<number, TripRelationship>)[number] ?? 'UNKNOWN');
}

export function isUntimetabled(relationship: number): boolean {
  return !TIMETABLED.includes(toTripRelationship(relationship));
}

export function toStopRelationship(number: number): StopRelationship {
  return (STOP_RELATIONSHIPS as Record<number, StopRelationship>)[number] ?? 'UNKNOWN';
}

/** By their numbers in GTFS-realtime. We have no words for EMPTY, CRUSHED_STANDING_ROOM_ONLY and FULL, which get those of their neighbours. */
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
