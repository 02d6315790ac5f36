import bindings from 'gtfs-realtime-bindings';
import type { SandboxLine } from '../network/network.ts';
import type { NetworkIndex } from '../network/network-index.ts';
import { MAX_DELAY_SECONDS } from '../timetable/realtime.ts';
import { firstRunFrom, timetableAround } from '../timetable/timetable.ts';
import { positionOfRun } from './run-position.ts';
import { MAX_LISTED_SECONDS, updatesOfRun } from './run-updates.ts';

/** The lines in a feed or a file of the schedule. */
export interface Carried {
  /** The networks (product ids). */
  networks: readonly number[];
  /** Short names of the lines; absent if all lines of the networks are included. */
  routes?: readonly string[];
}

/** One of upstream's realtime feeds. */
interface Feed extends Carried {
  path: string;
  /** The feed is renewed this often, and its timestamp is a multiple of this. Divides a minute. */
  everySeconds: number;
}

export const FEEDS = {
  sydneytrains: { path: '/v2/gtfs/realtime/sydneytrains', networks: [1, 2], everySeconds: 15 },
  nswtrains: { path: '/v1/gtfs/realtime/nswtrains', networks: [3, 7], everySeconds: 10 },
  metro: { path: '/v2/gtfs/realtime/metro', networks: [24], everySeconds: 10 },
  innerwest: { path: '/v2/gtfs/realtime/lightrail/innerwest', networks: [13], routes: ['L1'], everySeconds: 10 },
  cbdandsoutheast: {
    path: '/v1/gtfs/realtime/lightrail/cbdandsoutheast',
    networks: [13],
    routes: ['L2', 'L3'],
    everySeconds: 10,
  },
  parramatta: { path: '/v1/gtfs/realtime/lightrail/parramatta', networks: [13], routes: ['L4'], everySeconds: 10 },
  newcastle: { path: '/v1/gtfs/realtime/lightrail/newcastle', networks: [21], everySeconds: 10 },
  buses: { path: '/v1/gtfs/realtime/buses', networks: [4, 5, 6, 8, 9, 11, 15, 16], everySeconds: 20 },
  sydneyferries: { path: '/v1/gtfs/realtime/ferries/sydneyferries', networks: [10], everySeconds: 10 },
  MFF: { path: '/v1/gtfs/realtime/ferries/MFF', networks: [12], routes: ['MFF'], everySeconds: 10 },
} as const satisfies Record<string, Feed>;

export type FeedName = keyof typeof FEEDS;
/** The feed of vehicle positions. Its path has `vehiclepos` in place of `realtime`. */
export type PositionsName = `${FeedName}-positions`;

export function toFeedName(path: string): FeedName | PositionsName | undefined {
  const ofTrips = path.replace('/vehiclepos/', '/realtime/');
  const name = (Object.keys(FEEDS) as FeedName[]).find((feed) => FEEDS[feed].path === ofTrips);
  return name && ofTrips !== path ? `${name}-positions` : name;
}

export function carries({ networks, routes }: Carried, { product, route }: SandboxLine): boolean {
  return networks.includes(product.id) && (routes === undefined || (route !== null && routes.includes(route)));
}

const { FeedMessage, FeedHeader } = bindings.transit_realtime;

/**
 * Returns a feed in protobuf, of trips or of vehicle positions. Its timestamp follows the feed's interval. Trips change every
 * minute, as boards do; vehicles move with the timestamp.
 */
export function feedResponse(index: NetworkIndex, name: FeedName | PositionsName, epochSeconds: number): Buffer {
  const feed = FEEDS[name.replace('-positions', '') as FeedName];
  const isOfTrips = name in FEEDS;
  const timestamp = epochSeconds - (epochSeconds % feed.everySeconds);
  const minuteSeconds = timestamp - (timestamp % 60);
  const timetable = timetableAround(minuteSeconds);
  const nowSeconds = isOfTrips ? minuteSeconds : timestamp;
  // The runs that may not have ended; for trips, also those that start within the horizon.
  const runs = index.patterns
    .filter(({ line }) => line.monitored && carries(feed, line))
    .flatMap((pattern) => {
      const all = timetable(pattern);
      const first = firstRunFrom(all, nowSeconds - (pattern.offsetSeconds.at(-1) ?? 0) - MAX_DELAY_SECONDS);
      return all.slice(first, firstRunFrom(all, nowSeconds + (isOfTrips ? MAX_LISTED_SECONDS : 0) + 1));
    });
  const entity = isOfTrips
    ? runs
        .flatMap((run) => updatesOfRun(run, nowSeconds))
        .map((update) => ({ id: update.trip.tripId ?? '', tripUpdate: { ...update, timestamp } }))
    : runs
        .flatMap((run) => positionOfRun(run, timestamp) ?? [])
        .map((vehicle, index) => ({ id: String(index + 1), vehicle }));
  const header = { gtfsRealtimeVersion: '2.0', incrementality: FeedHeader.Incrementality.FULL_DATASET, timestamp };
  return Buffer.from(FeedMessage.encode({ header, entity }).finish());
}
