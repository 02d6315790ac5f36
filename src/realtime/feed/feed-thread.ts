import { parentPort } from 'node:worker_threads';
import { Timetable } from '../../timetable/timetable.ts';
import { type FeedId, isPositions, sourceOf } from '../polling/feed-source.ts';
import { createPlannedRuns, type PlannedRuns } from '../prediction/planned-runs.ts';
import { predictFeed } from '../prediction/predict-feed.ts';
import { Feed } from './feed.ts';
import { parseFeed, UndecodableFeed } from './feed-reader.ts';

/*
 * The program of the reading thread (see reading-thread.ts). It reads feeds and predicts their runs with the timetable that it
 * received last.
 */

export type ReadRequest =
  | { kind: 'timetable'; packed: SharedArrayBuffer }
  /** `read` has the bytes of a feed, `open` its packed form. */
  | { kind: 'read'; id: number; feed: FeedId; bytes: ArrayBuffer }
  | { kind: 'open'; id: number; feed: FeedId; packed: ArrayBuffer };

/** `snapshot` is null for positions, and without a timetable. */
export type ReadReply = { id: number } & (
  | { packed: ArrayBuffer; snapshot: SharedArrayBuffer | null }
  | { problem: string }
);

let runs: PlannedRuns | null = null;
/** The newest vehicle positions for each feed of trip updates. */
const positions = new Map<FeedId, Feed>();

parentPort?.on('message', (request: ReadRequest) => {
  if (request.kind === 'timetable') {
    runs = createPlannedRuns(new Timetable(request.packed));
    return;
  }
  const { id, feed } = request;
  try {
    const packed = request.kind === 'read' ? parseFeed(Buffer.from(request.bytes)) : request.packed;
    const snapshot = predict(feed, new Feed(packed));
    parentPort?.postMessage({ id, packed, snapshot } satisfies ReadReply, [packed]);
  } catch (error) {
    if (!(error instanceof UndecodableFeed)) throw error;
    parentPort?.postMessage({ id, problem: error.message } satisfies ReadReply);
  }
});

function predict(id: FeedId, feed: Feed): SharedArrayBuffer | null {
  const source = sourceOf(id);
  if (isPositions(id)) {
    // A copy, because the packed form is transferred to the main thread.
    positions.set(source, new Feed(feed.packed.slice(0)));
    return null;
  }
  if (!runs) return null;
  runs.prune();
  return predictFeed(runs, { source, feed, positions: positions.get(source) ?? null });
}
