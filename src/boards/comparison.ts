import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import { findGap, type LiveFeeds, listLivingFeeds } from '../realtime/live-feeds.ts';
import type { ModeAgreement } from '../realtime/live-report.ts';
import { FEED_SOURCES, findFeedSource } from '../realtime/polling/feed-source.ts';
import { type CallState, type Departure, leavesAt } from '../transit/departure.ts';
import { MODES, type Mode } from '../transit/mode.ts';
import { overlayStop } from './timeline-overlay.ts';

const SAME_TIME_MS = 30_000;
const AHEAD_MS = HOUR_MS;

/** Compares the feeds with the departure monitor. */
export class Comparison {
  readonly #feeds: LiveFeeds;
  readonly #now: () => number;
  readonly #counts = new Map<Mode, ModeAgreement>();

  constructor({ feeds, now }: { feeds: LiveFeeds; now: () => number }) {
    this.#feeds = feeds;
    this.#now = now;
  }

  /** Compares a response of the departure monitor, just received, with the feeds. */
  add(stopId: string, departures: readonly Departure[]): void {
    this.#countMatches(departures);
    const now = this.#now();
    const states = this.#feeds.states();
    const comparable = departures.filter((event) => {
      const source = findFeedSource(event);
      const isNear = event.plannedAt <= now + AHEAD_MS && event.plannedAt >= now - MINUTE_MS;
      return isNear && source !== null && event.runId !== null && findGap([source], states, now) === null;
    });
    // The departure monitor's own cancellations and live times are hidden from the overlay.
    const calls = comparable.map((event): Departure => ({ ...event, state: { kind: 'scheduled' } }));
    const stopIds = new Set([stopId, ...departures.map((event) => event.stopId)]);
    const overlaid = overlayStop({ stopIds, calls, coveredUntil: now }, listLivingFeeds(states, now), now);
    comparable.forEach((event, index) => {
      const count = this.#counts.get(event.mode) ?? { compared: 0, live: 0, cancelled: 0, bothLive: 0, time: 0 };
      this.#counts.set(event.mode, count);
      compare(count, event, overlaid.states[index] as CallState);
    });
  }

  agreement(): Partial<Record<Mode, ModeAgreement>> {
    return Object.fromEntries(
      MODES.flatMap((mode) => (this.#counts.has(mode) ? [[mode, this.#counts.get(mode)]] : [])),
    );
  }

  #countMatches(departures: readonly Departure[]): void {
    const states = this.#feeds.states();
    const live = departures.filter(({ state, runId }) => state.kind === 'live' && runId !== null);
    for (const [source, ofFeed] of Map.groupBy(live, findFeedSource)) {
      const feed = source && states.get(source)?.feed;
      if (!source || !feed || this.#now() - feed.headerAt > 2 * MINUTE_MS) continue;
      // A run may be in another feed of its mode, as a train of one network in the feed of the other.
      const modes: readonly Mode[] = FEED_SOURCES[source].modes;
      const ofModes = [...states].filter(([other]) => FEED_SOURCES[other].modes.some((mode) => modes.includes(mode)));
      const isListed = (runId: string) => ofModes.some(([, state]) => state.feed?.findTrips(runId).length);
      this.#feeds.addMatches(source, ofFeed.filter(({ runId }) => isListed(runId ?? '')).length, ofFeed.length);
    }
  }
}

function compare(count: ModeAgreement, monitored: Departure, byFeeds: CallState): void {
  const isLive = monitored.state.kind === 'live';
  count.compared++;
  if ((monitored.state.kind === 'cancelled') === (byFeeds.kind === 'cancelled')) count.cancelled++;
  if (isLive === (byFeeds.kind === 'live')) count.live++;
  if (!isLive || byFeeds.kind !== 'live') return;
  count.bothLive++;
  if (Math.abs(byFeeds.leavesAt - leavesAt(monitored)) <= SAME_TIME_MS) count.time++;
}
