import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import type { FeedReader, ReadFeed } from '#src/realtime/feed/reading-thread.ts';
import { type FeedId, isPositions } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { Timetable } from '#src/timetable/timetable.ts';

/** Reads feeds as the reading thread does, but at once, for tests with a simulated clock. It knows no positions. */
export function createInlineReader(): FeedReader {
  let runs: ReturnType<typeof createPlannedRuns> | null = null;
  const predict = (id: FeedId, packed: ArrayBuffer): ReadFeed => {
    const feed = new Feed(packed);
    if (isPositions(id) || !runs) return { feed, snapshot: null };
    return { feed, snapshot: new Snapshot(predictFeed(runs, { source: id, feed })) };
  };
  return {
    use: (packed) => {
      runs = createPlannedRuns(new Timetable(packed));
    },
    parse: async (id, bytes) => predict(id, parseFeed(Buffer.from(bytes))),
    open: async (id, packed) => predict(id, packed),
  };
}
