import { type Clock, SECOND_MS, sleep } from '../clock.ts';
import type { Feed, VehiclePosition } from './feed/feed.ts';
import type { LivingFeed } from './overlay.ts';
import { FeedDemandCounter } from './polling/feed-demand.ts';
import { type FeedProblem, findFeedProblem, MatchRate, UNREAD } from './polling/feed-health.ts';
import type { FeedState } from './polling/feed-sharing.ts';
import { FEED_SOURCES, type FeedId, type FeedSourceId, isPositions, positionsOf } from './polling/feed-source.ts';
import { createFeedPoller, MAX_SHOWN_AGE_MS, nextPollAt, POLL_TAKES_MS, stretchOf } from './polling/poller.ts';

/** While a feed is in use it is polled so often at least, unless calls are very short. */
const IN_USE_MS = 30_000;
/** A first poll takes a second or two on the instance that polls, and some more on the others. */
const FIRST_POLL_MS = 6000;
const UNKNOWN_FEED: FeedState = { feed: null, health: UNREAD, intervalMs: 0, polledAt: 0 };

/** The feeds as the rest of the service sees them. Moments in milliseconds since 1970. */
export class LiveFeeds {
  readonly #demand: FeedDemandCounter;
  readonly #poller: ReturnType<typeof createFeedPoller>;
  readonly #matchRates = new Map<FeedSourceId, MatchRate>();
  readonly #clock: Clock;
  readonly #now: () => number;
  /** Returns 1 while there are calls enough, and more the shorter they are. */
  readonly stretch: () => number;

  constructor(options: Omit<Parameters<typeof createFeedPoller>[0], 'demand'> & Pick<LiveFeeds, 'stretch'>) {
    this.#clock = options.clock;
    this.#now = options.clock.now;
    this.stretch = options.stretch;
    this.#demand = new FeedDemandCounter(this.#now);
    this.#poller = createFeedPoller({ ...options, demand: () => this.#demand.read() });
  }

  /** Counts a request for a board that needs these feeds; `key` is the request, without the moment. */
  note(key: string, sources: readonly FeedSourceId[]): void {
    this.#demand.note(key, sources);
  }

  /** The feeds of trip updates. */
  states(): ReadonlyMap<FeedSourceId, FeedState> {
    return new Map(this.#list().flatMap(([source, state]) => (isPositions(source) ? [] : [[source, state] as const])));
  }

  #list(): [FeedId, FeedState][] {
    return [...this.#poller.feeds].map(([source, state]) => [
      source,
      { ...state, isCollapsed: (!isPositions(source) && this.#matchRates.get(source)?.isCollapsed) ?? false },
    ]);
  }

  /**
   * Counts a request for vehicles of these feeds, and finds them. A feed that has not been polled lately is waited for,
   * for some seconds. `headerAt` is null of a feed that is not believed.
   */
  async findVehicles(
    sources: readonly FeedSourceId[],
    wanted: Parameters<Feed['findVehicles']>[0],
  ): Promise<{ source: FeedSourceId; vehicles: VehiclePosition[]; headerAt: number | null }[]> {
    const ids = sources.map(positionsOf);
    this.#demand.watch(ids);
    const until = this.#now() + FIRST_POLL_MS;
    while (this.#now() < until && this.#nextReadAt(ids) <= this.#now()) {
      await Promise.race([this.#poller.nextChange(), sleep(this.#clock, until - this.#now())]);
    }
    return sources.map((source) => {
      const state = this.#poller.feeds.get(positionsOf(source)) ?? UNKNOWN_FEED;
      const feed = findProblem(state, this.#now()) === null ? state.feed : null;
      return { source, vehicles: feed?.findVehicles(wanted) ?? [], headerAt: feed?.headerAt ?? null };
    });
  }

  /** Returns until when a response that these feeds give is fresh: until the next of them is read, and a second while that is late. */
  freshUntil(sources: readonly FeedId[]): number {
    return Math.max(this.#now() + SECOND_MS, this.#nextReadAt(sources));
  }

  /** Returns when the next of the feeds has been polled if they go on being requested. */
  #nextReadAt(sources: readonly FeedId[]): number {
    const dueAt = sources.map((source) => {
      const state = this.#poller.feeds.get(source);
      return state ? nextPollAt(source, { ...state, askedAt: this.#now() }) : 0;
    });
    return Math.min(...dueAt) + POLL_TAKES_MS;
  }

  /** `found` of `compared` runs that the departure monitor calls live are in the feed. */
  addMatches(source: FeedSourceId, found: number, compared: number): void {
    const rate = this.#matchRates.get(source) ?? new MatchRate();
    rate.add(found, compared, this.#now());
    this.#matchRates.set(source, rate);
  }

  /** Lists the feeds for the status and the metrics. A problem is null when the feed is believed, the rest before the first good poll. */
  list() {
    return this.#list().map(([source, state]) => ({
      source,
      problem: findProblem(state, this.#now()),
      headerAt: state.health.accepted?.headerAt ?? null,
      tripCount: state.health.accepted?.tripCount ?? null,
      foundShare: isPositions(source) ? null : (this.#matchRates.get(source)?.share(this.#now()) ?? null),
    }));
  }

  isPolling(): boolean {
    return this.#poller.isLeader();
  }

  close(): Promise<void> {
    return this.#poller.close();
  }
}

/** Lists the feeds that are alive. */
export function listLivingFeeds(states: ReadonlyMap<FeedSourceId, FeedState>, now: number) {
  return [...states].flatMap(([source, state]): (LivingFeed & { source: FeedSourceId })[] => {
    const { feed } = state;
    return feed && findProblem(state, now) === null ? [{ source, modes: FEED_SOURCES[source].modes, feed }] : [];
  });
}

/**
 * Finds a feed that a board needs and that cannot be believed: the board then comes from the departure monitor. Null
 * when every needed feed is alive and has been polled lately.
 */
export function findGap(
  needed: Iterable<FeedSourceId>,
  states: Pick<ReadonlyMap<FeedSourceId, FeedState>, 'get'>,
  now: number,
): { source: FeedSourceId; problem: FeedProblem } | null {
  for (const source of needed) {
    const state = states.get(source) ?? UNKNOWN_FEED;
    const problem = findProblem(state, now) ?? (isIdle(source, state, now) ? 'not polled lately' : null);
    if (problem !== null) return { source, problem };
  }
  return null;
}

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
function findProblem({ health, intervalMs, isCollapsed }: FeedState, now: number): FeedProblem | null {
  return findFeedProblem(health, intervalMs, now) ?? (isCollapsed ? 'runs are not found' : null);
}
