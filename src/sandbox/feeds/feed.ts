import bindings from 'gtfs-realtime-bindings';
import type { Authority } from '../authority.ts';
import type { SandboxLine } from '../network/network.ts';
import type { PatternNode } from '../network/network-index.ts';
import { LONGEST_DELAY_SECONDS } from '../timetable/realtime.ts';
import { type Run, runAt } from '../timetable/run.ts';
import { firstRunFrom, type Timetable } from '../timetable/timetable.ts';
import { positionOfRun } from './run-position.ts';
import { LONGEST_LISTED_SECONDS, updatesOfRun } from './run-updates.ts';

/** One of upstream's realtime feeds. */
export interface Feed {
  path: string;
  /** The networks (product ids) whose trips it carries. */
  networks: readonly number[];
  /** Short names of the lines; absent where the feed carries all lines of its networks. */
  routes?: readonly string[];
  /** The feed is made anew so often; its timestamp is a multiple of it. Divides a minute. */
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
  buses: { path: '/v1/gtfs/realtime/buses', networks: [4, 5, 6, 8, 9, 15, 16], everySeconds: 20 },
  sydneyferries: { path: '/v1/gtfs/realtime/ferries/sydneyferries', networks: [10], everySeconds: 10 },
  MFF: { path: '/v1/gtfs/realtime/ferries/MFF', networks: [12], routes: ['MFF'], everySeconds: 10 },
} as const satisfies Record<string, Feed>;

export type FeedName = keyof typeof FEEDS;
/** The feed of the positions of the vehicles, whose path differs in one word. */
export type PositionsName = `${FeedName}-positions`;

export function findFeedName(path: string): FeedName | PositionsName | undefined {
  const ofTrips = path.replace('/vehiclepos/', '/realtime/');
  const name = (Object.keys(FEEDS) as FeedName[]).find((one) => FEEDS[one].path === ofTrips);
  return name && ofTrips !== path ? `${name}-positions` : name;
}

/** The feed under a name as `findFeedName` finds it. */
export function responseOf(
  authority: Authority,
  name: FeedName | PositionsName,
  epochSeconds: number,
  options?: { isHalved?: boolean },
): Buffer {
  const feed = FEEDS[name.replace('-positions', '') as FeedName];
  return (name in FEEDS ? feedResponse : positionsResponse)(authority, feed, epochSeconds, options);
}

function carries({ networks, routes }: Feed, { product, route }: SandboxLine): boolean {
  return networks.includes(product.id) && (routes === undefined || (route !== null && routes.includes(route)));
}

const { FeedMessage, FeedHeader } = bindings.transit_realtime;

/**
 * A feed in protobuf. Its timestamp goes with the rhythm of the feed, its content changes with the minute as boards do.
 * A halved feed has the first half of its trips.
 */
export function feedResponse(
  { index, timetableAround }: Authority,
  feed: Feed,
  epochSeconds: number,
  { isHalved = false } = {},
): Buffer {
  const timestamp = epochSeconds - (epochSeconds % feed.everySeconds);
  const nowSeconds = timestamp - (timestamp % 60);
  const timetable = timetableAround(nowSeconds);
  const entity = index.patterns
    .filter(({ line }) => line.monitored && carries(feed, line))
    .flatMap((pattern) => runsUnderWay(timetable, pattern, nowSeconds))
    .flatMap((run) => updatesOfRun(run, nowSeconds))
    .map((update) => ({ id: update.trip.tripId ?? '', tripUpdate: { ...update, timestamp } }));
  return encode(timestamp, entity, isHalved);
}

/** The positions of the vehicles of a feed, which move with its timestamp. */
function positionsResponse(
  { index, timetableAround }: Authority,
  feed: Feed,
  epochSeconds: number,
  { isHalved = false } = {},
): Buffer {
  const timestamp = epochSeconds - (epochSeconds % feed.everySeconds);
  const timetable = timetableAround(timestamp - (timestamp % 60));
  const entity = index.patterns
    .filter(({ line }) => line.monitored && carries(feed, line))
    .flatMap((pattern) => runsUnderWay(timetable, pattern, timestamp, 0))
    .flatMap((run) => positionOfRun(run, timestamp) ?? [])
    .map((vehicle, at) => ({ id: String(at + 1), vehicle }));
  return encode(timestamp, entity, isHalved);
}

function encode(timestamp: number, entity: bindings.transit_realtime.IFeedEntity[], isHalved: boolean): Buffer {
  const header = { gtfsRealtimeVersion: '2.0', incrementality: FeedHeader.Incrementality.FULL_DATASET, timestamp };
  const message = { header, entity: isHalved ? entity.slice(0, entity.length >> 1) : entity };
  return Buffer.from(FeedMessage.encode(message).finish());
}

/** Runs that may not have ended, up to those that start within the horizon. */
function runsUnderWay(
  timetable: Timetable,
  pattern: PatternNode,
  nowSeconds: number,
  horizonSeconds = LONGEST_LISTED_SECONDS,
): Run[] {
  const list = timetable(pattern);
  const first = firstRunFrom(list, nowSeconds - (pattern.offsetSeconds.at(-1) ?? 0) - LONGEST_DELAY_SECONDS);
  const end = firstRunFrom(list, nowSeconds + horizonSeconds + 1);
  return Array.from({ length: Math.max(0, end - first) }, (_, i) => runAt(pattern, list, first + i));
}
