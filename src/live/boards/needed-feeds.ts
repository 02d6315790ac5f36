import type { Mode } from '../../transit/mode.ts';
import { type FeedSourceId, findFeedSource, listFeedSources } from '../polling/feed-source.ts';
import type { Timeline } from '../timeline/timeline.ts';
import type { BoardEvent } from './board-event.ts';

const MINUTE_MS = 60_000;
/** The departure monitor has estimates for what leaves within the hour. */
const LIVE_MS = 60 * MINUTE_MS;

/**
 * The feeds that carry the departures of these modes, by what has been seen to leave the stop. Where nothing has, every
 * feed of the modes: one of them may tell of an added run.
 */
export function listNeededFeeds(timeline: Timeline<BoardEvent>, modes: readonly Mode[]): FeedSourceId[] {
  const needed = new Set<FeedSourceId>();
  const events = timeline.flatMap((page) => page.events).filter(({ mode }) => modes.includes(mode));
  for (const event of events) {
    const source = findFeedSource(event);
    if (source) needed.add(source);
  }
  return events.length > 0 ? [...needed].sort() : listFeedSources(modes);
}

/**
 * Whether only the departure monitor can say if the departure is live: it leaves within the hour, it may be tracked, and
 * no feed tells of it. Without an identifier a run is not tracked, unless the departure monitor said so.
 */
export function isBeyondFeeds(event: BoardEvent, now: number): boolean {
  const dueAt = event.lastLiveAt ?? event.plannedAt;
  if (event.isCancelled || dueAt < now - MINUTE_MS || dueAt > now + LIVE_MS) return false;
  if (event.runId === null) return event.lastLiveAt !== null;
  return findFeedSource(event) === null;
}
