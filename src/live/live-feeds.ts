import { createFeedDemand } from './polling/feed-demand.ts';
import { findFeedProblem } from './polling/feed-health.ts';
import type { FeedSourceId } from './polling/feed-source.ts';
import type { FeedState, FeedStates } from './polling/living-feeds.ts';
import { addMatches, type MatchRate, NOTHING_COMPARED } from './polling/match-rate.ts';
import { createFeedPoller, type FeedPollerOptions } from './polling/poller.ts';
import { nextPollAt } from './polling/polling.ts';

/** The feeds as the rest of the service sees them. Moments in milliseconds since 1970. */
export interface LiveFeeds {
  /** Counts a request for a board that needs these feeds; `key` is the request, without the moment. */
  note(key: string, sources: readonly FeedSourceId[]): void;
  states(): FeedStates;
  /** When the next poll of one of the feeds is due if boards go on being asked for: what they say may then change. */
  nextPollAt(sources: readonly FeedSourceId[]): number;
  /** `found` of `compared` runs that the departure monitor calls live are in the feed. */
  addMatches(source: FeedSourceId, found: number, compared: number): void;
  /** For the status and the metrics. */
  list(): FeedReport[];
  /** 1 while there are calls enough, and more the shorter they are. */
  stretch(): number;
  isPolling(): boolean;
  close(): Promise<void>;
}

export interface FeedReport {
  source: FeedSourceId;
  /** Null when the feed is believed. */
  problem: string | null;
  /** Null before the first good poll. */
  headerAt: number | null;
  tripCount: number | null;
}

export interface LiveFeedsOptions extends Omit<FeedPollerOptions, 'demand'> {
  /** 1 while there are calls enough, and more the shorter they are. */
  stretch: () => number;
}

export function createLiveFeeds(options: LiveFeedsOptions): LiveFeeds {
  const { clock, stretch } = options;
  const { now } = clock;
  const recorder = createFeedDemand({ now });
  const askedAt: Partial<Record<FeedSourceId, number>> = {};
  const matchRates = new Map<FeedSourceId, MatchRate>();
  const poller = createFeedPoller({ ...options, demand: () => ({ demand: recorder.list(), askedAt }) });

  function states(): Map<FeedSourceId, FeedState> {
    return new Map(
      [...poller.feeds].map(([source, polled]) => [
        source,
        { ...polled, matchRate: matchRates.get(source) ?? NOTHING_COMPARED },
      ]),
    );
  }

  return {
    note(key, sources) {
      recorder.note(key, sources);
      for (const source of sources) askedAt[source] = now();
    },
    states,
    nextPollAt: (sources) =>
      Math.min(
        ...sources.map((source) => {
          const polled = poller.feeds.get(source);
          return polled ? nextPollAt(source, { ...polled, askedAt: now() }) : 0;
        }),
      ),
    addMatches(source, found, compared) {
      matchRates.set(source, addMatches(matchRates.get(source) ?? NOTHING_COMPARED, found, compared, now()));
    },
    list: () =>
      [...states()].map(([source, { health, intervalMs, matchRate }]) => ({
        source,
        problem: findFeedProblem(health, intervalMs, now()) ?? (matchRate.isCollapsed ? 'runs are not found' : null),
        headerAt: health.accepted?.headerAt ?? null,
        tripCount: health.accepted?.tripCount ?? null,
      })),
    stretch,
    isPolling: poller.isLeader,
    close: poller.close,
  };
}
