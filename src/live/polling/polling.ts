import { DateTime } from 'luxon';
import { HOUR_MS, MINUTE_MS } from '../../clock.ts';
import type { FeedDemand } from './feed-demand.ts';
import type { PolledState } from './feed-sharing.ts';
import { FEED_SOURCES, type FeedId, type FeedSourceId, sourceOf } from './feed-source.ts';

const NIGHT_ENDS_AT = 5;
const NIGHT_FACTOR = 4;
/** After one bad poll; most often the next one is good. */
const RETRY_MS = 5000;
const REFUSED_BEFORE_BACK_OFF = 4;
const LONGEST_BACK_OFF_MS = 2 * MINUTE_MS;
/** No feed that a board shows is to be older, as far as polls can help it. */
export const MAX_SHOWN_AGE_MS = 45_000;
/** The time from the beginning of a poll until every instance has read the feed. */
export const POLL_TAKES_MS = 2000;
/** A feed that has not moved on is not asked for again sooner. */
const SOONEST_MS = 15_000;
/** A feed that stands still for longer is not waited for. */
const STANDS_STILL_MS = 90_000;
/** A feed is taken up when it saves clearly more than it costs, and given up when it costs clearly more. */
const WORTH_STARTING = 1.25;
const WORTH_KEEPING = 0.75;

/** A stretched interval is not longer, unless the feed's own is. */
const LONGEST_STRETCHED_MS = 2 * MINUTE_MS;

/** The time between two polls; `stretch` is 1 unless calls are so short that pages of timetables need those of polls. */
export function pollIntervalMs(source: FeedId, stretch = 1): number {
  const { intervalMs } = FEED_SOURCES[sourceOf(source)];
  return Math.min(intervalMs * stretch, Math.max(intervalMs, LONGEST_STRETCHED_MS));
}

/** Returns by how much the interval is stretched. */
export function stretchOf(source: FeedId, intervalMs: number): number {
  return intervalMs / FEED_SOURCES[sourceOf(source)].intervalMs;
}

/**
 * Returns when the feed is to be polled next: at its interval, or sooner if what boards show of it would grow too old. While
 * no board that needs it is requested (last at `askedAt`), it is polled a quarter as often at night. After one bad poll it is
 * polled again soon; a feed that fails again and again is polled less and less, down to every two minutes.
 */
export function nextPollAt(
  source: FeedId,
  last: Pick<PolledState, 'polledAt' | 'intervalMs'> & {
    askedAt: number;
    health: Pick<PolledState['health'], 'accepted' | 'refusedInARow'>;
  },
): number {
  const { polledAt, intervalMs: usualMs, askedAt, health } = last;
  const { accepted, refusedInARow } = health;
  const stretch = stretchOf(source, usualMs);
  if (refusedInARow === 1) return polledAt + Math.min(usualMs, RETRY_MS);
  if (refusedInARow > REFUSED_BEFORE_BACK_OFF) {
    const longestMs = Math.max(usualMs, LONGEST_BACK_OFF_MS);
    return polledAt + Math.min(longestMs, usualMs * 2 ** (refusedInARow - REFUSED_BEFORE_BACK_OFF));
  }
  if (askedAt <= polledAt) return polledAt + usualMs * (isNight(polledAt) ? Math.max(1, NIGHT_FACTOR / stretch) : 1);
  if (!accepted || polledAt - accepted.headerAt > STANDS_STILL_MS) return polledAt + usualMs;
  const tooOldAt = accepted.headerAt + MAX_SHOWN_AGE_MS * stretch - POLL_TAKES_MS;
  return polledAt + Math.min(usualMs, Math.max(SOONEST_MS * stretch, tooOldAt - polledAt));
}

/**
 * The feeds that are worth their polls: of all sets of feeds, the one that saves most after its cost. A board saves
 * calls only when every feed that it needs is polled.
 */
export function chooseFeeds(
  demand: readonly FeedDemand[],
  running: ReadonlySet<FeedSourceId>,
  stretch = 1,
): Set<FeedSourceId> {
  const sources = [...new Set(demand.flatMap((one) => one.sources))];
  const costs = sources.map(
    (source) => costAnHour(source, stretch) * (running.has(source) ? WORTH_KEEPING : WORTH_STARTING),
  );
  const boards = demand.map(({ sources: needed, savedAnHour }) => ({
    mask: needed.reduce((mask, source) => mask | (1 << sources.indexOf(source)), 0),
    savedAnHour,
  }));
  let best = { mask: 0, gain: 0 };
  for (let mask = 1; mask < 2 ** sources.length; mask++) {
    let gain = 0;
    for (const board of boards) if ((board.mask & ~mask) === 0 && board.mask !== 0) gain += board.savedAnHour;
    for (let index = 0; index < costs.length; index++) if (mask & (1 << index)) gain -= costs[index] ?? 0;
    if (gain > best.gain) best = { mask, gain };
  }
  return new Set(sources.filter((_, index) => best.mask & (1 << index)));
}

function costAnHour(source: FeedSourceId, stretch: number): number {
  return HOUR_MS / Math.min(pollIntervalMs(source, stretch), MAX_SHOWN_AGE_MS * stretch);
}

function isNight(moment: number): boolean {
  return DateTime.fromMillis(moment, { zone: 'Australia/Sydney' }).hour < NIGHT_ENDS_AT;
}
