import type { Freshness } from '../../transit/freshness.ts';
import type { LiveFeeds } from '../live-feeds.ts';
import type { FeedSourceId } from '../polling/feed-source.ts';
import { POLL_TAKES_MS } from '../polling/polling.ts';
import type { Timeline } from '../timeline/timeline.ts';
import type { BoardEvent } from './board-event.ts';
import type { BoardCall } from './board-view.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** While a poll is late, it is looked for so often. */
const LATE_POLL_MS = SECOND_MS;
/** An estimate is not shown as live for longer. */
const STALE_MS = 3 * MINUTE_MS;
const TIMETABLE_FRESH_MS = MINUTE_MS;

/**
 * How fresh a board is. It was retrieved when the oldest feed spoke by which something is live; where nothing is, when
 * the oldest feed spoke that could have said so; far ahead, where no feed says anything, with the oldest page of the
 * timetable. It is fresh until the next poll can say something else.
 */
export function boardFreshness(
  shown: readonly BoardCall[],
  board: {
    feeds: Pick<LiveFeeds, 'states' | 'nextPollAt'>;
    needed: readonly FeedSourceId[];
    timeline: Timeline<BoardEvent>;
    now: number;
    /** Whether the departure monitor was asked for this board. */
    hasAsked: boolean;
  },
): Freshness {
  const { feeds, needed, timeline, now, hasAsked } = board;
  const source = hasAsked ? 'upstream' : 'cache';
  if (needed.length === 0) {
    const retrievedAt = Math.min(now, ...timeline.map((page) => page.retrievedAt));
    const freshUntil = now + TIMETABLE_FRESH_MS;
    return { retrievedAt, freshUntil, staleUntil: freshUntil + STALE_MS, source, shortage: null };
  }
  const headers = shown.flatMap(({ verdict }) => (verdict.kind === 'live' ? verdict.headerAt : []));
  const states = feeds.states();
  const ofFeeds = needed.map((one) => states.get(one)?.feed?.headerAt ?? now);
  const retrievedAt = Math.min(now, ...(headers.length > 0 ? headers : ofFeeds));
  const freshUntil = Math.max(now + LATE_POLL_MS, feeds.nextPollAt(needed) + POLL_TAKES_MS);
  return { retrievedAt, freshUntil, staleUntil: Math.max(freshUntil, retrievedAt + STALE_MS), source, shortage: null };
}

/** Of a board by its timetable alone, because calls are short: as old as the oldest page that may be used, and stale. */
export function plannedFreshness(timeline: Timeline<BoardEvent>, now: number, maxAgeMs: number): Freshness {
  const pages = timeline.filter(({ retrievedAt }) => retrievedAt >= now - maxAgeMs);
  const retrievedAt = Math.min(now, ...pages.map((page) => page.retrievedAt));
  return { retrievedAt, freshUntil: now, staleUntil: now + STALE_MS, source: 'cache', shortage: 'busy' };
}
