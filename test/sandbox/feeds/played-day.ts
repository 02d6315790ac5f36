import bindings from 'gtfs-realtime-bindings';
import { FEEDS, type FeedName, feedResponse, type PositionsName } from '#sandbox/feeds/feed.ts';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { departureResponse } from '#sandbox/responses/departure-response.ts';
import type { BoardResponse, StopEvent } from '../requests.ts';

const { FeedMessage } = bindings.transit_realtime;

export type TripUpdate = bindings.transit_realtime.ITripUpdate;
export type StopUpdate = bindings.transit_realtime.TripUpdate.IStopTimeUpdate;

/** The schedule relationships of GTFS-realtime; 5 is upstream's own. */
export const TRIP = { scheduled: 0, added: 1, canceled: 3, replacement: 5 };
export const STOP = { scheduled: 0, skipped: 1, noData: 2 };

export const FEED_NAMES = Object.keys(FEEDS) as FeedName[];

/** The complete network of the sandbox, queried without HTTP. */
export const network = indexNetwork(loadNetwork());

/** The departures of a stop for a request without a time. */
export function boardAt(stopId: string, nowSeconds: number): StopEvent[] {
  const query = { name_dm: stopId, mode: 'direct', TfNSWDM: 'true' };
  return (departureResponse(network, new URLSearchParams(query), nowSeconds) as BoardResponse).stopEvents ?? [];
}

/** A feed as read by the reference bindings. */
export function feedAt(name: FeedName | PositionsName, nowSeconds: number) {
  return FeedMessage.decode(feedResponse(network, name, nowSeconds));
}

/** Every trip of every feed, by trip ID. */
export function tripsAt(nowSeconds: number): Map<string, TripUpdate> {
  const updates = FEED_NAMES.flatMap((name) => feedAt(name, nowSeconds).entity.map(({ tripUpdate }) => tripUpdate));
  return new Map(updates.flatMap((update) => (update ? [[update.trip.tripId ?? '', update] as const] : [])));
}

export function tripIdOf({ properties }: StopEvent): string | undefined {
  return properties.RealtimeTripId ?? properties.AVMSTripID;
}

export const secondsOf = (timestamp: string | undefined) => Date.parse(timestamp ?? '') / 1000;
