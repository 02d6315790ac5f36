import { DAY_MS, SECOND_MS } from '../../core/clock.ts';
import type { FeedSourceId } from '../../timetable/schedule-files.ts';
import type { Mode } from '../../transit/mode.ts';
import type { Bounds } from '../../transit/region.ts';

export type { FeedSourceId };

/** Areas that are large enough for any future line. */
const SYDNEY: Bounds = { south: -34.5, west: 150.3, north: -33.3, east: 151.6 };
const NEWCASTLE: Bounds = { south: -33.2, west: 151.3, north: -32.6, east: 152.1 };
const EVERYWHERE: Bounds = { south: -90, west: -180, north: 90, east: 180 };

/** What a feed covers, its path, and its poll interval by day. */
interface FeedSource {
  path: string;
  modes: readonly [Mode, ...Mode[]];
  /** Upstream's networks (`transportation.product.id`). */
  networks: readonly number[];
  /** Short route names; absent if the network has no other feed. */
  routes?: readonly string[];
  /** Vehicles outside this area belong to other feeds. */
  area: Bounds;
  /** Set if a departure without a network must not be assigned to this feed, because other networks have the same mode. */
  needsNetwork?: true;
  intervalMs: number;
}

/** A feed of Sydney, unless `overrides` changes that. */
function createFeedSource(
  path: string,
  modes: FeedSource['modes'],
  networks: readonly number[],
  overrides: Partial<FeedSource> = {},
): FeedSource {
  return { path, modes, networks, area: SYDNEY, intervalMs: 40 * SECOND_MS, ...overrides };
}

/*
 * If all feeds are needed day and night, they cost 20,880 calls a day: trains 2,880; eight others 2,160 each; and MFF, which
 * has been frozen since July 2026 and is polled every two minutes, 720. This assumes headers 3 s old when they are read; older
 * ones shorten the intervals (`nextPollAt`). A feed published every 15 or 30 s is polled every 30 s, 2,880 times a day.
 *
 * Not included: the thirteen feeds of regional buses (networks 31 to 38), and networks without any feed, such as harbour
 * cruises. Their live departures come only from the departure monitor.
 */
export const FEED_SOURCES: Readonly<Record<FeedSourceId, FeedSource>> = {
  sydneytrains: createFeedSource('/v2/gtfs/realtime/sydneytrains', ['train'], [1, 2, 19], {
    area: EVERYWHERE,
    intervalMs: 30 * SECOND_MS,
  }),
  nswtrains: createFeedSource('/v1/gtfs/realtime/nswtrains', ['train', 'coach'], [3, 7], { area: EVERYWHERE }),
  metro: createFeedSource('/v2/gtfs/realtime/metro', ['metro'], [24]),
  innerwest: createFeedSource('/v2/gtfs/realtime/lightrail/innerwest', ['lightrail'], [13], { routes: ['L1'] }),
  cbdandsoutheast: createFeedSource('/v1/gtfs/realtime/lightrail/cbdandsoutheast', ['lightrail'], [13], {
    routes: ['L2', 'L3'],
  }),
  parramatta: createFeedSource('/v1/gtfs/realtime/lightrail/parramatta', ['lightrail'], [13], { routes: ['L4'] }),
  newcastle: createFeedSource('/v1/gtfs/realtime/lightrail/newcastle', ['lightrail'], [21], {
    area: NEWCASTLE,
    needsNetwork: true,
  }),
  buses: createFeedSource('/v1/gtfs/realtime/buses', ['bus', 'schoolbus'], [4, 5, 6, 8, 9, 15, 16], {
    area: EVERYWHERE,
  }),
  sydneyferries: createFeedSource('/v1/gtfs/realtime/ferries/sydneyferries', ['ferry'], [10]),
  MFF: createFeedSource('/v1/gtfs/realtime/ferries/MFF', ['ferry'], [12], { routes: ['MFF'] }),
};

/** The feed of vehicle positions that belongs to a feed of trip updates. */
export type PositionsId = `${FeedSourceId}-positions`;
export type FeedId = FeedSourceId | PositionsId;

const POSITIONS = '-positions';

export const positionsOf = (source: FeedSourceId): PositionsId => `${source}${POSITIONS}`;

export const isPositions = (id: FeedId): id is PositionsId => id.endsWith(POSITIONS);

/** The feed of trip updates for a feed of positions. */
export function sourceOf(id: FeedId): FeedSourceId {
  return (isPositions(id) ? id.slice(0, -POSITIONS.length) : id) as FeedSourceId;
}

export function isFeedId(name: unknown): name is FeedId {
  return typeof name === 'string' && Object.hasOwn(FEED_SOURCES, sourceOf(name as FeedId));
}

export function pathOf(id: FeedId): string {
  const { path } = FEED_SOURCES[sourceOf(id)];
  return isPositions(id) ? path.replace('/realtime/', '/vehiclepos/') : path;
}

/** The time between two polls by day, in milliseconds. */
export function intervalOf(id: FeedId): number {
  return FEED_SOURCES[sourceOf(id)].intervalMs;
}

const FEED_SOURCE_IDS = Object.keys(FEED_SOURCES) as FeedSourceId[];

/** The calls per day if all feeds are needed. */
export const FEED_CALLS_A_DAY = FEED_SOURCE_IDS.reduce((sum, id) => sum + DAY_MS / FEED_SOURCES[id].intervalMs, 0);

/** The feed that covers a departure; null if there is none. */
export function findFeedSource(departure: { mode: Mode; network: number | null; route: string }): FeedSourceId | null {
  const { mode, network, route } = departure;
  const carries = ({ modes, networks, routes, needsNetwork }: FeedSource) =>
    modes.includes(mode) &&
    (network === null ? !needsNetwork : networks.includes(network)) &&
    (!routes || routes.includes(route));
  return FEED_SOURCE_IDS.find((id) => carries(FEED_SOURCES[id])) ?? null;
}

/** The feeds that may have departures of these modes. */
export function listFeedSources(modes: readonly Mode[]): FeedSourceId[] {
  return FEED_SOURCE_IDS.filter((id) => FEED_SOURCES[id].modes.some((mode) => modes.includes(mode)));
}
