import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import type { ReadFeed } from '#src/realtime/feed/reading-thread.ts';
import { type FeedId, isPositions, sourceOf } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { Timetable } from '#src/timetable/timetable.ts';

/** Reads and predicts feeds as the reading thread does, in this thread. */
export function createReader(timetable: Timetable | null = null) {
  let runs = timetable && createPlannedRuns(timetable);
  async function open(id: FeedId, packed: ArrayBuffer): Promise<ReadFeed> {
    const feed = new Feed(packed.slice(0));
    const snapshot = runs && !isPositions(id) ? new Snapshot(predictFeed(runs, { source: sourceOf(id), feed })) : null;
    return { feed, snapshot };
  }
  return {
    use(packed: SharedArrayBuffer): void {
      runs = createPlannedRuns(new Timetable(packed));
    },
    parse: (id: FeedId, bytes: Uint8Array) => open(id, parseFeed(Buffer.from(bytes))),
    open,
  };
}
