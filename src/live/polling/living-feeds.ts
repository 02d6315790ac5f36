import type { Feed } from '../feed/feed.ts';
import type { LivingFeed } from '../overlay/overlay.ts';
import { type FeedProblem, findFeedProblem, UNREAD } from './feed-health.ts';
import type { PolledState } from './feed-sharing.ts';
import { FEED_SOURCES, type FeedSourceId } from './feed-source.ts';
import { MAX_SHOWN_AGE_MS, POLL_TAKES_MS, stretchOf } from './polling.ts';

/** State of one feed: the last content that was accepted and how it stands. */
export interface FeedState extends PolledState {
  feed: Feed | null;
  /** Runs that are live are not found in the feed. */
  isCollapsed?: boolean;
}

export const UNKNOWN_FEED: FeedState = { feed: null, health: UNREAD, intervalMs: 0, polledAt: 0 };

/** Lists the feeds that are alive. */
export function listLivingFeeds(states: ReadonlyMap<FeedSourceId, FeedState>, now: number): LivingFeed[] {
  return [...states].flatMap(([source, state]) => {
    const { feed } = state;
    return feed && findProblem(state, now) === null ? { modes: FEED_SOURCES[source].modes, feed } : [];
  });
}

/**
 * Finds a feed that a board needs and that cannot be believed: the departure monitor is asked for the board instead. Null
 * when every needed feed is alive and has been polled lately.
 */
export function findGap(
  needed: Iterable<FeedSourceId>,
  states: ReadonlyMap<FeedSourceId, FeedState>,
  now: number,
): { source: FeedSourceId; problem: FeedProblem } | null {
  for (const source of needed) {
    const state = states.get(source) ?? UNKNOWN_FEED;
    const problem = findProblem(state, now) ?? (isIdle(source, state, now) ? 'not polled lately' : null);
    if (problem !== null) return { source, problem };
  }
  return null;
}

/** While a feed is in use it is polled so often at least, unless calls are very short. */
const IN_USE_MS = 30_000;

/**
 * Says whether what the feed says may be too old to be shown, because nobody has asked for it and it is polled less often.
 * The next poll comes within a second of the board that needs it.
 */
function isIdle(source: FeedSourceId, { health, polledAt, intervalMs }: FeedState, now: number): boolean {
  const stretch = stretchOf(source, intervalMs);
  const isPolled = now - polledAt <= Math.min(intervalMs, IN_USE_MS * stretch) + POLL_TAKES_MS;
  return !isPolled && now - (health.accepted?.headerAt ?? 0) > MAX_SHOWN_AGE_MS * stretch;
}

/** Null when the feed is believed. */
export function findProblem({ health, intervalMs, isCollapsed }: FeedState, now: number): FeedProblem | null {
  return findFeedProblem(health, intervalMs, now) ?? (isCollapsed ? 'runs are not found' : null);
}
