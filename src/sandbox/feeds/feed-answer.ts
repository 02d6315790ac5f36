import type { Authority } from '../authority.ts';
import type { PatternNode } from '../network/network-index.ts';
import { LONGEST_DELAY_SECONDS } from '../timetable/punctuality.ts';
import { type Run, runAt } from '../timetable/run.ts';
import { firstRunFrom, type Timetable } from '../timetable/timetable.ts';
import { carries, type Feed } from './feed.ts';
import { feedMessage } from './feed-message.ts';
import { LONGEST_LISTED_SECONDS, updatesOfRun } from './run-updates.ts';
import type { TripUpdate } from './trip-update.ts';

/** A feed in protobuf. Its timestamp goes with its own rhythm, its content changes with the minute as boards do. */
export function feedAnswer(authority: Authority, feed: Feed, epochSeconds: number, { isHalved = false } = {}): Buffer {
  const timestamp = epochSeconds - (epochSeconds % feed.everySeconds);
  const trips = listTripUpdates(authority, feed, timestamp - (timestamp % 60));
  return feedMessage(timestamp, isHalved ? trips.slice(0, trips.length >> 1) : trips);
}

function listTripUpdates({ index, timetableAround }: Authority, feed: Feed, nowSeconds: number): TripUpdate[] {
  const timetable = timetableAround(nowSeconds);
  return index.patterns
    .filter(({ line }) => line.monitored && carries(feed, line))
    .flatMap((pattern) => runsUnderWay(timetable, pattern, nowSeconds))
    .flatMap((run) => updatesOfRun(run, nowSeconds));
}

/** The runs that may not have ended, up to those that start within the horizon. */
function runsUnderWay(timetable: Timetable, pattern: PatternNode, nowSeconds: number): Run[] {
  const list = timetable(pattern);
  const first = firstRunFrom(list, nowSeconds - (pattern.offsetSeconds.at(-1) ?? 0) - LONGEST_DELAY_SECONDS);
  const end = firstRunFrom(list, nowSeconds + LONGEST_LISTED_SECONDS + 1);
  return Array.from({ length: Math.max(0, end - first) }, (_, i) => runAt(pattern, list, first + i));
}
