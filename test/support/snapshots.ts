import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { type FeedSpec, feedOf } from '../realtime/feed-bytes.ts';

/** The snapshot of a feed, as the reading thread makes it. */
export function snapshotOf(timetable: Timetable, spec: FeedSpec, source: FeedSourceId = 'buses'): Snapshot {
  return new Snapshot(predictFeed(createPlannedRuns(timetable), { source, feed: feedOf(spec) }));
}
