import { type Carried, FEEDS, type FeedName } from '../feeds/feed.ts';
import type { NetworkIndex } from '../network/network-index.ts';
import { localDay, serviceDayStart } from '../timetable/timetable.ts';
import { scheduleTables } from './tables.ts';
import { zipOf } from './zip.ts';

/** The folders of files with a single mode, as in the paths of the feeds. */
const FOLDERS: Partial<Record<FeedName, string>> = {
  innerwest: 'lightrail/',
  cbdandsoutheast: 'lightrail/',
  newcastle: 'lightrail/',
  sydneyferries: 'ferries/',
  MFF: 'ferries/',
};

/** The sandbox has no line in the feed of Parramatta. */
const { parramatta: _, ...SERVED_FEEDS } = FEEDS;

/** The zips of upstream's schedule by path. Files for Parramatta, most regions and single contracts are missing. */
const SCHEDULES: ReadonlyMap<string, Carried> = new Map<string, Carried>([
  ...(Object.keys(SERVED_FEEDS) as (keyof typeof SERVED_FEEDS)[]).map((name): [string, Carried] => {
    // The file for metro is under `/v2` only.
    return [`/${name === 'metro' ? 'v2' : 'v1'}/gtfs/schedule/${FOLDERS[name] ?? ''}${name}`, SERVED_FEEDS[name]];
  }),
  ['/v1/gtfs/schedule/regionbuses/southeasttablelands', { networks: [33] }],
  // Upstream's bundle repeats the lines of all other files.
  ['/v1/publictransport/timetables/complete/gtfs', { networks: [12], routes: ['CCTZ', 'CCSH'] }],
]);

export function isSchedule(path: string): boolean {
  return SCHEDULES.has(path);
}

/** Published daily at 01:30, in seconds from the start of the service day. */
const PUBLISHED_SECONDS = 5400;

/** A zip of the schedule and the time of its publication. */
export interface Publication {
  /** Epoch seconds. */
  publishedSeconds: number;
  zip: Buffer;
}

/** Returns the schedule as published at a given time. A zip is created at the first request and cached for its day. */
export function createSchedule(index: NetworkIndex) {
  const published = new Map<string, { day: number; zip: Promise<Buffer> }>();

  return async (path: string, nowSeconds: number): Promise<Publication> => {
    const day = localDay(nowSeconds - PUBLISHED_SECONDS);
    const cached = published.get(path);
    const zip =
      cached?.day === day ? cached.zip : scheduleTables(index, SCHEDULES.get(path) ?? NO_LINES, day).then(zipOf);
    published.set(path, { day, zip });
    return { publishedSeconds: serviceDayStart(day) + PUBLISHED_SECONDS, zip: await zip };
  };
}

const NO_LINES: Carried = { networks: [] };
