import { Runs } from '../boards/runs.ts';
import { type Boards, createBoards, monitorBoards } from '../boards/source.ts';
import { BoardTrust } from '../boards/trust.ts';
import type { Clock } from '../core/clock.ts';
import type { SharedRedis } from '../core/redis/shared-redis.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import type { ChargedCalls } from '../efa/upstream-http.ts';
import { LiveFeeds } from '../realtime/live-feeds.ts';
import type { LiveReport } from '../realtime/live-report.ts';
import { FeedClient } from '../realtime/polling/feed-client.ts';
import { createFeedSharing } from '../realtime/polling/feed-sharing.ts';
import type { FeedId } from '../realtime/polling/feed-source.ts';
import type { PollOutcome } from '../realtime/polling/poller.ts';
import { Vehicles } from '../realtime/vehicles.ts';
import type { CurrentTimetable } from '../timetable/update/keep-current.ts';
import type { FindAlerts } from '../transit/alert.ts';
import { baseOf } from './upstream-source.ts';

/** Opens the realtime feeds, and everything built from them and the timetable: boards, runs and vehicles. */
export function openRealtime(
  options: {
    timetable: CurrentTimetable;
    proxyUrl?: string | null;
    clock: Clock;
    /** The Redis that instances share; null for a single instance. */
    shared: { redis: SharedRedis; source: string } | null;
    listAlerts: FindAlerts;
    recordPoll?: (source: FeedId, outcome: PollOutcome) => void;
    recordBoard?: Boards['count'];
    queryUpstream: QueryUpstream;
  } & Pick<ConstructorParameters<typeof LiveFeeds>[0], 'log' | 'published'> &
    Omit<ChargedCalls, 'now'>,
) {
  const { timetable, clock, shared, listAlerts: findAlerts, log, recordPoll, recordBoard } = options;
  const { now } = clock;
  const { mode } = timetable.status();
  const trust = new BoardTrust({ mode, now, log });
  if (mode === 'off') {
    const boards = { ...monitorBoards, ...(recordBoard && { count: recordBoard }) };
    return { ...closedLive, boards, runs: new Runs({ now }), vehicles: new Vehicles({ now }) };
  }
  const url = baseOf(options.url);
  const client = new FeedClient({ ...options, url, now });
  const sharing = createFeedSharing(shared, now);
  const feeds = new LiveFeeds({
    ...options,
    client,
    sharing,
    timetable: timetable.get,
    ...(recordPoll && { record: recordPoll }),
  });
  timetable.beforeChange((newest) => feeds.prepare(newest));
  const boards = createBoards({ ...options, trust, feeds, now, ...(recordBoard && { record: recordBoard }) });
  return {
    boards,
    feeds,
    runs: new Runs({ now, feeds, timetable, listAlerts: findAlerts, isTrusted: (mode) => trust.isTrusted(mode) }),
    vehicles: new Vehicles({ now, feeds }),
    report: (): LiveReport => ({ mode, isPolling: feeds.isPolling(), feeds: feeds.list(), agreement: trust.report() }),
    async close() {
      await feeds.close();
      await client.close();
    },
  };
}

/** Without a timetable. */
const closedLive = {
  feeds: null,
  report: (): LiveReport => ({ mode: 'off', isPolling: false, feeds: [], agreement: {} }),
  close: async () => {},
};
