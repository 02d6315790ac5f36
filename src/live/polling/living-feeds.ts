import type { Feed } from '../feed/feed.ts';
import type { LivingFeed } from '../overlay/overlay.ts';
import { type FeedHealth, type FeedProblem, findFeedProblem, UNREAD } from './feed-health.ts';
import { FEED_SOURCES, type FeedSourceId } from './feed-source.ts';
import { type MatchRate, NOTHING_COMPARED } from './match-rate.ts';
import { MAX_SHOWN_AGE_MS, POLL_TAKES_MS, stretchOf } from './polling.ts';

/** State of one feed: its last content and its health. */
export interface FeedState {
  /** The last one accepted. */
  feed: Feed | null;
  health: FeedHealth;
  matchRate: MatchRate;
  /** The time between two polls at present. */
  intervalMs: number;
  /** In milliseconds since 1970. */
  polledAt: number;
}

export type FeedStates = ReadonlyMap<FeedSourceId, FeedState>;

/** A feed that a board needs and that cannot be believed: the board is asked from the departure monitor instead. */
export interface Gap {
  source: FeedSourceId;
  problem: FeedProblem;
}

export const UNKNOWN_FEED: FeedState = {
  feed: null,
  health: UNREAD,
  matchRate: NOTHING_COMPARED,
  intervalMs: 0,
  polledAt: 0,
};

/** The feeds that are alive. */
export function listLivingFeeds(states: FeedStates, now: number): LivingFeed[] {
  return [...states].flatMap(([source, state]) => {
    const isAlive = state.feed && findProblem(state, now) === null;
    return isAlive && state.feed ? { modes: FEED_SOURCES[source].modes, feed: state.feed } : [];
  });
}

/** Null when every feed that the board needs is alive and has been polled lately. */
export function findGap(needed: Iterable<FeedSourceId>, states: FeedStates, now: number): Gap | null {
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
 * A feed that nobody has asked for is polled less often, and what it says may be too old to be shown. The next poll comes
 * within a second of the board that needs it.
 */
function isIdle(source: FeedSourceId, { health, polledAt, intervalMs }: FeedState, now: number): boolean {
  const stretch = stretchOf(source, intervalMs);
  const isPolled = now - polledAt <= Math.min(intervalMs, IN_USE_MS * stretch) + POLL_TAKES_MS;
  return !isPolled && now - (health.accepted?.headerAt ?? 0) > MAX_SHOWN_AGE_MS * stretch;
}

function findProblem({ health, matchRate, intervalMs }: FeedState, now: number): FeedProblem | null {
  return findFeedProblem(health, intervalMs, now) ?? (matchRate.isCollapsed ? 'runs are not found' : null);
}
