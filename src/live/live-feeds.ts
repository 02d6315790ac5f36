import { FeedDemandCounter } from './polling/feed-demand.ts';
import { MatchRate } from './polling/feed-health.ts';
import type { FeedSourceId } from './polling/feed-source.ts';
import { type FeedState, findProblem } from './polling/living-feeds.ts';
import { createFeedPoller } from './polling/poller.ts';
import { nextPollAt } from './polling/polling.ts';

/** The feeds as the rest of the service sees them. Moments in milliseconds since 1970. */
export class LiveFeeds {
  readonly #demand: FeedDemandCounter;
  readonly #poller: ReturnType<typeof createFeedPoller>;
  readonly #matchRates = new Map<FeedSourceId, MatchRate>();
  readonly #now: () => number;
  /** Returns 1 while there are calls enough, and more the shorter they are. */
  readonly stretch: () => number;

  constructor(options: Omit<Parameters<typeof createFeedPoller>[0], 'demand'> & Pick<LiveFeeds, 'stretch'>) {
    this.#now = options.clock.now;
    this.stretch = options.stretch;
    this.#demand = new FeedDemandCounter(this.#now);
    this.#poller = createFeedPoller({ ...options, demand: () => this.#demand.read() });
  }

  /** Counts a request for a board that needs these feeds; `key` is the request, without the moment. */
  note(key: string, sources: readonly FeedSourceId[]): void {
    this.#demand.note(key, sources);
  }

  states(): ReadonlyMap<FeedSourceId, FeedState> {
    return new Map(
      [...this.#poller.feeds].map(([source, state]) => [
        source,
        { ...state, isCollapsed: this.#matchRates.get(source)?.isCollapsed ?? false },
      ]),
    );
  }

  /** Returns when the next poll of one of the feeds is due if boards go on being requested: what they say may then change. */
  nextPollAt(sources: readonly FeedSourceId[]): number {
    const dueAt = sources.map((source) => {
      const state = this.#poller.feeds.get(source);
      return state ? nextPollAt(source, { ...state, askedAt: this.#now() }) : 0;
    });
    return Math.min(...dueAt);
  }

  /** `found` of `compared` runs that the departure monitor calls live are in the feed. */
  addMatches(source: FeedSourceId, found: number, compared: number): void {
    const rate = this.#matchRates.get(source) ?? new MatchRate();
    rate.add(found, compared, this.#now());
    this.#matchRates.set(source, rate);
  }

  /** Lists the feeds for the status and the metrics. A problem is null when the feed is believed, the rest before the first good poll. */
  list() {
    return [...this.states()].map(([source, state]) => ({
      source,
      problem: findProblem(state, this.#now()),
      headerAt: state.health.accepted?.headerAt ?? null,
      tripCount: state.health.accepted?.tripCount ?? null,
    }));
  }

  isPolling(): boolean {
    return this.#poller.isLeader();
  }

  close(): Promise<void> {
    return this.#poller.close();
  }
}
