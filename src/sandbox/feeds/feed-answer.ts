import bindings from 'gtfs-realtime-bindings';
import type { Authority } from '../authority.ts';
import type { PatternNode } from '../network/network-index.ts';
import { LONGEST_DELAY_SECONDS } from '../timetable/punctuality.ts';
import { type Run, runAt } from '../timetable/run.ts';
import { firstRunFrom, type Timetable } from '../timetable/timetable.ts';
import { carries, type Feed } from './feed.ts';
import { LONGEST_LISTED_SECONDS, updatesOfRun } from './run-updates.ts';

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
  const header = { gtfsRealtimeVersion: '2.0', incrementality: FeedHeader.Incrementality.FULL_DATASET, timestamp };
  const message = { header, entity: isHalved ? entity.slice(0, entity.length >> 1) : entity };
  return Buffer.from(FeedMessage.encode(message).finish());
}

/** Runs that may not have ended, up to those that start within the horizon. */
function runsUnderWay(timetable: Timetable, pattern: PatternNode, nowSeconds: number): Run[] {
  const list = timetable(pattern);
  const first = firstRunFrom(list, nowSeconds - (pattern.offsetSeconds.at(-1) ?? 0) - LONGEST_DELAY_SECONDS);
  const end = firstRunFrom(list, nowSeconds + LONGEST_LISTED_SECONDS + 1);
  return Array.from({ length: Math.max(0, end - first) }, (_, i) => runAt(pattern, list, first + i));
}
