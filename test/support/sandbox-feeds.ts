import { feedResponse } from '#sandbox/feeds/feed.ts';
import type { NetworkIndex } from '#sandbox/network/network-index.ts';
import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { FEED_SOURCES, type FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import type { Timetable } from '#src/timetable/timetable.ts';

const SOURCES = Object.keys(FEED_SOURCES) as FeedSourceId[];

/** The feeds of the sandbox, without sockets, each published and predicted whenever the clock has moved. */
export function createSandboxFeeds(
  network: NetworkIndex,
  {
    now,
    timetable,
    isUsed = () => true,
  }: { now: () => number; timetable: () => Timetable | null; isUsed?: (source: FeedSourceId) => boolean },
) {
  const read = new Map<FeedSourceId, Snapshot>();
  const headers = new Map<FeedSourceId, number>();
  let planned: ReturnType<typeof createPlannedRuns> | null = null;
  let readAt = Number.NaN;

  function snapshotOf(source: FeedSourceId, of: Timetable): Snapshot {
    if (planned?.timetable !== of || readAt !== now()) read.clear();
    if (planned?.timetable !== of) planned = createPlannedRuns(of);
    readAt = now();
    const snapshot =
      read.get(source) ??
      new Snapshot(
        predictFeed(planned, { source, feed: new Feed(parseFeed(feedResponse(network, source, now() / 1000))) }),
      );
    read.set(source, snapshot);
    headers.set(source, snapshot.headerAt);
    return snapshot;
  }

  const snapshotFor = (of: Timetable) =>
    new LiveTimetable(
      of,
      SOURCES.filter(isUsed).map((source) => snapshotOf(source, of)),
    );
  return {
    request(_: Iterable<FeedSourceId>): void {},
    untilRead: async () => {},
    snapshotFor,
    snapshot(): LiveTimetable | null {
      const of = timetable();
      return of && snapshotFor(of);
    },
    freshUntil: () => now() + 15_000,
    list: () =>
      SOURCES.map((source) => ({
        source,
        problem: null,
        headerAt: headers.get(source) ?? null,
        tripCount: null,
        foundShare: null,
        leftOut: {},
      })),
  };
}
