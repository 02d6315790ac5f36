import { DateTime } from 'luxon';
import type { FeedDemand } from './feed-demand.ts';
import { FEED_SOURCES, type FeedSourceId } from './feed-source.ts';

const HOUR_MS = 3_600_000;
const NIGHT_ENDS_AT = 5;
const NIGHT_FACTOR = 4;
const REFUSED_BEFORE_BACK_OFF = 4;
const LONGEST_BACK_OFF_MS = 120_000;
/** A feed is taken up when it saves clearly more than it costs, and given up when it costs clearly more. */
const WORTH_STARTING = 1.25;
const WORTH_KEEPING = 0.75;

/** The time between two polls, also when calls are short: a poll spares more calls than it costs. */
export function pollIntervalMs(source: FeedSourceId): number {
  return FEED_SOURCES[source].intervalMs;
}

/**
 * When the feed is to be polled next. At night a feed is polled a quarter as often, unless a board that needs it has
 * been asked for since the last poll: what is shown must not be older than by day. A feed that fails again and again is
 * polled less and less, down to every two minutes.
 */
export function nextPollAt(
  source: FeedSourceId,
  poll: { polledAt: number; askedAt: number; refusedInARow: number },
): number {
  const { polledAt, askedAt, refusedInARow } = poll;
  const usualMs = pollIntervalMs(source);
  const isIdle = isNight(polledAt) && askedAt <= polledAt;
  const longestMs = Math.max(usualMs, LONGEST_BACK_OFF_MS);
  const backOffMs = Math.min(longestMs, usualMs * 2 ** Math.max(0, refusedInARow - REFUSED_BEFORE_BACK_OFF));
  return polledAt + Math.max(backOffMs, usualMs * (isIdle ? NIGHT_FACTOR : 1));
}

/**
 * The feeds that are worth their polls: of all sets of feeds, the one that saves most after its cost. A board saves
 * calls only when every feed that it needs is polled.
 */
export function chooseFeeds(demand: readonly FeedDemand[], running: ReadonlySet<FeedSourceId>): Set<FeedSourceId> {
  const sources = [...new Set(demand.flatMap((one) => one.sources))];
  const costs = sources.map((source) => costAnHour(source) * (running.has(source) ? WORTH_KEEPING : WORTH_STARTING));
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

function costAnHour(source: FeedSourceId): number {
  return HOUR_MS / FEED_SOURCES[source].intervalMs;
}

function isNight(moment: number): boolean {
  return DateTime.fromMillis(moment, { zone: 'Australia/Sydney' }).hour < NIGHT_ENDS_AT;
}
