import { MODES, type Mode } from '../../transit/mode.ts';
import type { LiveFeeds } from '../live-feeds.ts';
import { overlayStop } from '../overlay/overlay.ts';
import type { Verdict } from '../overlay/verdict.ts';
import { FEED_SOURCES, type FeedSourceId, findFeedSource } from '../polling/feed-source.ts';
import { findGap, listLivingFeeds } from '../polling/living-feeds.ts';
import type { BoardEvent } from './board-event.ts';

/** How often the feeds say the same as the departure monitor, since the process began. */
export interface ModeAgreement {
  /** Departures within the next hour whose feed was alive. */
  compared: number;
  /** Whether it is live. */
  live: number;
  /** Whether it is cancelled. */
  cancelled: number;
  /** Those that both call live, and of them those whose times are within 30 seconds. */
  bothLive: number;
  time: number;
}

export interface Comparison {
  /** Compares one answer of the departure monitor, just received, with what the feeds say of its departures. */
  add(stopId: string, events: readonly BoardEvent[]): void;
  agreement(): Partial<Record<Mode, ModeAgreement>>;
}

const MINUTE_MS = 60_000;
const SAME_TIME_MS = 30_000;
const AHEAD_MS = 60 * MINUTE_MS;

export function createComparison({ feeds, now }: { feeds: LiveFeeds; now: () => number }): Comparison {
  const counts = new Map<Mode, ModeAgreement>();

  function countMatches(events: readonly BoardEvent[]): void {
    const states = feeds.states();
    const live = events.filter(({ lastLiveAt, runId }) => lastLiveAt !== null && runId !== null);
    for (const [source, ofFeed] of Map.groupBy(live, findFeedSource)) {
      const feed = source && states.get(source)?.feed;
      if (!source || !feed || now() - feed.headerAt > 2 * MINUTE_MS) continue;
      const found = ofFeed.filter(({ runId }) => isListed(runId, source)).length;
      feeds.addMatches(source, found, ofFeed.length);
    }
  }

  /** A run may be in another feed of its mode: a train of one network in the feed of the other. */
  function isListed(runId: string | null, source: FeedSourceId): boolean {
    const modes: readonly Mode[] = FEED_SOURCES[source].modes;
    return [...feeds.states()].some(
      ([other, { feed }]) =>
        FEED_SOURCES[other].modes.some((mode) => modes.includes(mode)) &&
        (feed?.findTrips(runId ?? '').length ?? 0) > 0,
    );
  }

  return {
    add(stopId, events) {
      countMatches(events);
      const moment = now();
      const states = feeds.states();
      const comparable = events.filter((event) => {
        const source = findFeedSource(event);
        const isNear = event.plannedAt <= moment + AHEAD_MS && event.plannedAt >= moment - MINUTE_MS;
        return isNear && source !== null && event.runId !== null && findGap([source], states, moment) === null;
      });
      // What the departure monitor itself says of cancellations and live times is hidden from the overlay.
      const calls = comparable.map((event) => ({ ...event, isCancelled: false, lastLiveAt: null }));
      const stopIds = new Set([stopId, ...events.map((event) => event.stopId)]);
      const living = listLivingFeeds(states, moment);
      const { verdicts } = overlayStop({ stopIds, calls, coveredUntil: moment }, living, moment);
      comparable.forEach((event, index) => {
        const count = counts.get(event.mode) ?? { compared: 0, live: 0, cancelled: 0, bothLive: 0, time: 0 };
        counts.set(event.mode, count);
        compare(count, event, verdicts[index] as Verdict);
      });
    },
    agreement: () => Object.fromEntries(MODES.flatMap((mode) => (counts.has(mode) ? [[mode, counts.get(mode)]] : []))),
  };
}

function compare(count: ModeAgreement, { isCancelled, lastLiveAt }: BoardEvent, verdict: Verdict): void {
  const isLive = lastLiveAt !== null && !isCancelled;
  count.compared++;
  if (isCancelled === (verdict.kind === 'cancelled')) count.cancelled++;
  if (isLive === (verdict.kind === 'live')) count.live++;
  if (!isLive || verdict.kind !== 'live') return;
  count.bothLive++;
  if (Math.abs(verdict.leavesAt - lastLiveAt) <= SAME_TIME_MS) count.time++;
}
