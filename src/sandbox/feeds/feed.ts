import type { SandboxLine } from '../network/network.ts';

/** One of the authority's realtime feeds. */
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

export function findFeedName(path: string): FeedName | undefined {
  return (Object.keys(FEEDS) as FeedName[]).find((name) => FEEDS[name].path === path);
}

export function carries({ networks, routes }: Feed, { product, route }: SandboxLine): boolean {
  return networks.includes(product.id) && (routes === undefined || (route !== null && routes.includes(route)));
}
