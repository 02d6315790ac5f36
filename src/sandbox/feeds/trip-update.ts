/* The words of GTFS-realtime (https://gtfs.org/documentation/realtime/reference/) that the feeds need. */

/** REPLACEMENT is the authority's own: the stop updates are all calls that the trip still makes. */
export const TRIP_RELATIONSHIPS = { scheduled: 0, added: 1, canceled: 3, replacement: 5 } as const;
export const STOP_RELATIONSHIPS = { scheduled: 0, skipped: 1, noData: 2 } as const;

export interface TripUpdate {
  tripId: string;
  routeId: string;
  /** The service day and the time at which the trip starts on it; absent on trains. */
  start?: { date: string; time: string };
  relationship: keyof typeof TRIP_RELATIONSHIPS;
  stopUpdates: readonly StopUpdate[];
}

export interface StopUpdate {
  stopId: string;
  /** Absent on trains. */
  sequence?: number;
  relationship: keyof typeof STOP_RELATIONSHIPS;
  arrival?: StopTime;
  departure?: StopTime;
  /** The authority's own, on trains: 1 many seats, 2 few seats, 3 standing room only. */
  occupancy?: number;
}

export interface StopTime {
  delaySeconds?: number;
  epochSeconds?: number;
}
