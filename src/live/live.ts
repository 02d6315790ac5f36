import type { SharedRedis } from '../redis/shared-redis.ts';
import { type BoardOrigin, type Boards, createBoards, monitorBoards } from './boards/boards.ts';
import { createComparison } from './boards/comparison.ts';
import { createStopTimelines, type TimelineStore } from './boards/stop-timelines.ts';
import { createReadingThread } from './feed/reading-thread.ts';
import { createLiveFeeds, type LiveFeedsOptions } from './live-feeds.ts';
import type { LiveMode } from './live-mode.ts';
import type { LiveReport } from './live-report.ts';
import { createFeedClient, type FeedClientOptions } from './polling/feed-client.ts';
import { noFeedSharing } from './polling/feed-sharing.ts';
import type { FeedSourceId } from './polling/feed-source.ts';
import type { Clock, PollOutcome } from './polling/poller.ts';
import { createRedisFeedSharing } from './sharing/redis-feed-sharing.ts';

/** The realtime feeds, polled and laid over the timelines of stops. */
export interface Live {
  boards: Boards;
  report(): LiveReport;
  /** Drops the timelines that were unused for longest, but for that share of all. */
  shrink(keptShare: number): void;
  close(): Promise<void>;
}

export interface LiveOptions
  extends Pick<LiveFeedsOptions, 'stretch' | 'pollStretch' | 'log'>,
    Omit<FeedClientOptions, 'now'> {
  mode: LiveMode;
  /** Null: beside the trip planner, whose address is `url`. */
  feedsUrl: string | null;
  clock: Clock;
  /** What instances share; null for an instance by itself. */
  shared: { redis: SharedRedis; source: string; store: TimelineStore } | null;
  recordPoll?: (source: FeedSourceId, outcome: PollOutcome) => void;
  recordBoard?: (origin: BoardOrigin) => void;
}

const TRIP_PLANNER_PATH = /\/v1\/tp$/;
const LOG_AGREEMENT_EVERY_MS = 60 * 60_000;

export function openLive(options: LiveOptions): Live {
  const { mode, clock, shared, log, stretch, pollStretch } = options;
  const { recordPoll, recordBoard } = options;
  if (mode === 'off') return closedLive;
  const { now } = clock;
  const url = options.feedsUrl ?? options.url.replace(TRIP_PLANNER_PATH, '');
  const client = createFeedClient({ ...options, url, now: () => new Date(now()) });
  const reader = createReadingThread();
  const sharing = shared ? createRedisFeedSharing(shared.redis, { source: shared.source, now }) : noFeedSharing;
  const feeds = createLiveFeeds({
    client,
    reader,
    sharing,
    stretch,
    pollStretch,
    clock,
    log,
    ...(recordPoll && { record: recordPoll }),
  });
  const timelines = createStopTimelines(shared?.store ?? null);
  const comparison = createComparison({ feeds, now });
  const boards = createBoards({
    mode,
    feeds,
    timelines,
    comparison,
    now,
    ...(recordBoard && { record: recordBoard }),
  });
  let cancel = clock.after(LOG_AGREEMENT_EVERY_MS, logAgreement);

  function logAgreement(): void {
    log.info({ agreement: comparison.agreement() }, 'feeds and departure monitor compared');
    cancel = clock.after(LOG_AGREEMENT_EVERY_MS, logAgreement);
  }

  return {
    boards,
    shrink: timelines.shrink,
    report: () => ({
      mode,
      isPolling: feeds.isPolling(),
      feeds: feeds.list(),
      agreement: comparison.agreement(),
      timelines: timelines.size(),
    }),
    async close() {
      cancel();
      await feeds.close();
      await Promise.all([client.close(), reader.close()]);
    },
  };
}

const closedLive: Live = {
  boards: monitorBoards,
  report: () => ({ mode: 'off', isPolling: false, feeds: [], agreement: {}, timelines: { entries: 0, bytes: 0 } }),
  shrink: () => {},
  close: async () => {},
};
