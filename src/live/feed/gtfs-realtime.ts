import { lengthTag, varintTag } from './wire.ts';

/*
 * The fields of GTFS-realtime that we read, by their tags in the wire format
 * (https://gtfs.org/documentation/realtime/proto/).
 */

export const FEED = { header: lengthTag(1), entity: lengthTag(2) };
export const FEED_HEADER = { incrementality: varintTag(2), timestamp: varintTag(3) };
export const ENTITY = { isDeleted: varintTag(2), tripUpdate: lengthTag(3) };
export const TRIP_UPDATE = { trip: lengthTag(1), stopTimeUpdate: lengthTag(2) };
export const TRIP_DESCRIPTOR = {
  tripId: lengthTag(1),
  startTime: lengthTag(2),
  startDate: lengthTag(3),
  relationship: varintTag(4),
};
export const STOP_TIME_UPDATE = {
  sequence: varintTag(1),
  arrival: lengthTag(2),
  departure: lengthTag(3),
  stopId: lengthTag(4),
  relationship: varintTag(5),
  /** The authority's own. The standard has a message in field 6, which is passed over like any unknown field. */
  occupancy: varintTag(6),
};
export const STOP_TIME_EVENT = { delay: varintTag(1), time: varintTag(2) };

/** The incrementality of a feed that holds only what has changed. */
export const DIFFERENTIAL = 1;
