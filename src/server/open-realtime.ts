import { type BoardOrigin, type Boards, createBoards, monitorBoards } from '../boards/boards.ts';
import { Comparison } from '../boards/comparison.ts';
import { Runs } from '../boards/runs.ts';
import { StopCalls } from '../boards/stop-calls.ts';
import { StopTimelines, type TimelineStore } from '../boards/stop-timelines.ts';
import { type Clock, HOUR_MS } from '../clock.ts';
import { ReadingThread } from '../realtime/feed/reading-thread.ts';
import { LiveFeeds } from '../realtime/live-feeds.ts';
import type { LiveMode, LiveReport } from '../realtime/live-report.ts';
import { FeedClient } from '../realtime/polling/feed-client.ts';
import { createFeedSharing } from '../realtime/polling/feed-sharing.ts';
import type { FeedId } from '../realtime/polling/feed-source.ts';
import type { PollOutcome } from '../realtime/polling/poller.ts';
import { Vehicles } from '../realtime/vehicles.ts';
import type { SharedRedis } from '../redis/shared-redis.ts';

const TRIP_PLANNER_PATH = /\/v1\/tp$/;
const LOG_AGREEMENT_EVERY_MS = HOUR_MS;

/** Opens the realtime feeds, which are polled and laid over the timelines of stops. */
export function openRealtime(
  options: {
    mode: LiveMode;
    /** Null: beside the trip planner, whose address is `url`. */
    feedsUrl: string | null;
    proxyUrl?: string | null;
    clock: Clock;
    /** The Redis and the store that instances share; null for an instance by itself. */
    shared: { redis: SharedRedis; source: string; store: TimelineStore } | null;
    recordPoll?: (source: FeedId, outcome: PollOutcome) => void;
    recordBoard?: (origin: BoardOrigin) => void;
  } & Pick<ConstructorParameters<typeof LiveFeeds>[0], 'log' | 'knowsTrip'> &
    Omit<ConstructorParameters<typeof FeedClient>[0], 'now'>,
): {
  boards: Boards;
  calls: StopCalls;
  runs: Runs;
  vehicles: Vehicles;
  report(): LiveReport;
  /** Drops the timelines that were unused for longest, but for that share of all. */
  shrink(keptShare: number): void;
  close(): Promise<void>;
} {
  const { mode, clock, shared, log, recordPoll, recordBoard } = options;
  const { now } = clock;
  const store = shared?.store ?? null;
  const alone = { calls: new StopCalls({ now, store }), runs: new Runs({ now }), vehicles: new Vehicles({ now }) };
  if (mode === 'off') return { ...closedLive, ...alone };
  const url = options.feedsUrl ?? options.url.replace(TRIP_PLANNER_PATH, '');
  const client = new FeedClient({ ...options, url, now: () => new Date(now()) });
  const reader = new ReadingThread();
  const sharing = createFeedSharing(shared, now);
  const feeds = new LiveFeeds({ ...options, client, reader, sharing, ...(recordPoll && { record: recordPoll }) });
  const timelines = new StopTimelines(store);
  const comparison = new Comparison({ feeds, now });
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
    calls: new StopCalls({ now, store, ...(mode === 'on' && { feeds }) }),
    runs: new Runs({ now, ...(mode === 'on' && { feeds }) }),
    vehicles: new Vehicles({ now, feeds }),
    shrink: (keptShare) => timelines.shrink(keptShare),
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

const closedLive = {
  boards: monitorBoards,
  report: (): LiveReport => ({
    mode: 'off',
    isPolling: false,
    feeds: [],
    agreement: {},
    timelines: { entries: 0, bytes: 0 },
  }),
  shrink: () => {},
  close: async () => {},
};
