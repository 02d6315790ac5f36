import { type Clock, SECOND_MS, sleep } from '../core/clock.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { FRESHNESS_WINDOWS, type Freshness } from '../transit/freshness.ts';
import type { Feed, VehicleCriteria, VehiclePosition } from './feed/feed.ts';
import { type FeedReader, ReadingThread } from './feed/reading-thread.ts';
import { FEED_HORIZON_MS, LiveTimetable } from './live-timetable.ts';
import { type FeedProblem, findFeedProblem, MIN_COMPARED, UNREAD } from './polling/feed-health.ts';
import type { FeedState } from './polling/feed-sharing.ts';
import { type FeedId, type FeedSourceId, intervalOf, isPositions, positionsOf } from './polling/feed-source.ts';
import {
  createFeedPoller,
  type FeedPoller,
  MAX_SHOWN_AGE_MS,
  nextPollAt,
  POLL_TAKES_MS,
  type PollerOptions,
} from './polling/poller.ts';
import { identityOf, type LeftOutOfFeed, type Snapshot } from './snapshot.ts';

/** How long a response waits for feeds that are not read yet. */
const WAIT_MS = 2 * SECOND_MS;
/** Freshness of responses without feeds: that of the timetable. */
const { freshMs: PLANNED_FRESH_MS, staleMs: STALE_MS } = FRESHNESS_WINDOWS.timetable;
/** How long a response waits for the first poll of positions. It takes a second or two, and longer if another instance polls. */
const FIRST_POLL_MS = 6000;
/** A poll that takes longer counts as failed. */
const MAX_POLL_MS = 8000;
const UNKNOWN_FEED: FeedState = { feed: null, snapshots: [], health: UNREAD, polledAt: 0 };
/** The share of a feed's trips that the timetable must have, for the feed to be trusted. */
const BELIEVED_FROM = 0.5;
/** The reason for entities that are malformed or exceed the bounds of a trip. */
const UNREADABLE = 'unreadable';
const NOTHING_COMPARED = { found: 0, compared: 0, leftOut: {} as LeftOutOfFeed };

/** Keeps feeds polled, and waits for them. */
export interface FeedRequests {
  request: LiveFeeds['request'];
  untilRead: LiveFeeds['untilRead'];
}

/** How old feeds are, and until when they are fresh. */
export interface FeedAges {
  list: LiveFeeds['list'];
  freshUntil: LiveFeeds['freshUntil'];
}

/** The feeds as used by the rest of the service. Times are in milliseconds since 1970. */
export class LiveFeeds {
  readonly #poller: FeedPoller;
  readonly #reader: FeedReader;
  /** Null if the reader was passed in; it is then not closed here. */
  readonly #ownReader: ReadingThread | null;
  readonly #timetable: () => Timetable | null;
  readonly #clock: Clock;
  readonly #now: () => number;

  constructor(
    options: Omit<PollerOptions, 'isCurrent' | 'reader' | 'published'> & {
      /** Called with each new snapshot of a feed that is trusted. */
      published?: ((snapshot: Snapshot) => void) | undefined;
      /** Default: a new reading thread. */
      reader?: FeedReader;
      /** Returns the timetable in use; null if there is none. */
      timetable: () => Timetable | null;
    },
  ) {
    this.#clock = options.clock;
    this.#now = options.clock.now;
    this.#ownReader = options.reader ? null : new ReadingThread();
    const reader = options.reader ?? (this.#ownReader as ReadingThread);
    this.#reader = reader;
    this.#timetable = options.timetable;
    const current = this.#timetable();
    if (current) reader.use(current.packed);
    const isCurrent = ({ about }: Snapshot) => {
      const timetable = this.#timetable();
      return timetable !== null && about.timetable === identityOf(timetable);
    };
    const published = (snapshot: Snapshot) => {
      if (this.problemOf(snapshot.source, this.#now()) === null) options.published?.(snapshot);
    };
    this.#poller = createFeedPoller({ ...options, reader, isCurrent, published });
  }

  /**
   * Predicts with this timetable from now on. Resolves when all feeds are predicted with it, so that it can come into use. Until
   * then, the snapshots for the current timetable stay.
   */
  async prepare(timetable: Timetable): Promise<void> {
    this.#reader.use(timetable.packed);
    await this.#poller.predictAgain();
  }

  /** Records that a request needs these feeds of trip updates, which keeps them polled. */
  request(sources: Iterable<FeedSourceId>): void {
    this.#poller.request(sources);
  }

  /** The timetable with the snapshots of the feeds that are trusted and polled; null while there is no timetable. */
  snapshot(): LiveTimetable | null {
    const timetable = this.#timetable();
    return timetable && this.snapshotFor(timetable);
  }

  /** Like `snapshot`, for a request that already uses a timetable. That timetable may have been replaced a moment ago. */
  snapshotFor(timetable: Timetable): LiveTimetable {
    const now = this.#now();
    const snapshots = [...this.#poller.feeds].flatMap(([source, state]) =>
      isPositions(source) || this.problemOf(source, now) !== null ? [] : state.snapshots,
    );
    return new LiveTimetable(timetable, snapshots);
  }

  /** Returns why the feed cannot be used; null if it is usable. */
  problemOf(source: FeedId, now: number): FeedProblem | null {
    const state = this.#poller.feeds.get(source) ?? UNKNOWN_FEED;
    return this.#findProblem(source, state, now) ?? (isIdle(source, state, now) ? 'not polled lately' : null);
  }

  /**
   * Waits for feeds that are not read yet, or that were not polled lately because nobody needed them. Does not wait for failing
   * feeds. The wait ends `milliseconds` after the first request, so that later requests wait less while upstream hangs.
   */
  async untilRead(sources: Iterable<FeedId>, milliseconds: number): Promise<void> {
    const sourceList = [...sources];
    const leftMs = () => {
      const awaited = sourceList.filter((source) => this.#isAwaited(source));
      return milliseconds - this.#now() + Math.max(0, ...awaited.map((source) => this.#poller.requestedAt(source)));
    };
    for (let left = leftMs(); left > 0; left = leftMs()) {
      await Promise.race([this.#poller.nextChange(), sleep(this.#clock, left)]);
    }
  }

  /** Waits until each of these feeds was polled or loaded once, or its first poll has failed. */
  async untilPolled(sources: readonly FeedId[]): Promise<void> {
    while (sources.some((source) => !this.#poller.feeds.has(source))) await this.#poller.nextChange();
  }

  #isAwaited(source: FeedId): boolean {
    const state = this.#poller.feeds.get(source);
    return !state || (state.health.refusedInARow === 0 && isIdle(source, state, this.#now(), POLL_TAKES_MS));
  }

  /** Returns the vehicles of these feeds, and keeps the feeds polled. `headerAt` is null if the feed is not trusted. */
  async fetchVehicles(
    sources: readonly FeedSourceId[],
    criteria: VehicleCriteria,
  ): Promise<{ source: FeedSourceId; vehicles: VehiclePosition[]; headerAt: number | null }[]> {
    const ids = sources.map(positionsOf);
    this.#poller.request(ids);
    await this.untilRead(ids, FIRST_POLL_MS);
    return sources.map((source) => {
      const state = this.#poller.feeds.get(positionsOf(source)) ?? UNKNOWN_FEED;
      const feed = this.#findProblem(positionsOf(source), state, this.#now()) === null ? state.feed : null;
      return { source, vehicles: feed?.listVehicles(criteria) ?? [], headerAt: feed?.headerAt ?? null };
    });
  }

  /**
   * When a response from these feeds stops being fresh, in milliseconds since 1970: when the next feed is read or, if that is
   * overdue, a second from now.
   */
  freshUntil(sources: Iterable<FeedId>): number {
    const now = this.#now();
    const dueAt = [...sources].map((source) => {
      const state = this.#poller.feeds.get(source);
      return state ? nextPollAt(source, { ...state, neededAt: now }) : 0;
    });
    return Math.max(now + SECOND_MS, Math.min(...dueAt) + POLL_TAKES_MS);
  }

  /** The publication that a snapshot was predicted from; null if a newer one has replaced it. */
  publicationOf({ source, headerAt }: Snapshot): Feed | null {
    const feed = this.#poller.feeds.get(source)?.feed ?? null;
    return feed?.headerAt === headerAt ? feed : null;
  }

  /** Why the feed is not trusted; null if it is. */
  #findProblem(source: FeedId, { health, snapshots }: FeedState, now: number): FeedProblem | null {
    const problem = findFeedProblem(health, intervalOf(source), now);
    const { found, compared } = snapshots.at(-1)?.about ?? NOTHING_COMPARED;
    if (problem !== null) return problem;
    return compared >= MIN_COMPARED && found < compared * BELIEVED_FROM ? 'runs are not found' : null;
  }

  /**
   * Lists the feeds for the status page and the metrics. `problem` is null if the feed is trusted; `headerAt` and `tripCount` are
   * null before the first accepted poll.
   */
  list() {
    return [...this.#poller.feeds].map(([source, state]) => {
      const { found, compared, leftOut } = state.snapshots.at(-1)?.about ?? NOTHING_COMPARED;
      const unreadable = state.feed?.unreadable ?? 0;
      return {
        source,
        problem: this.#findProblem(source, state, this.#now()),
        headerAt: state.health.accepted?.headerAt ?? null,
        tripCount: state.health.accepted?.tripCount ?? null,
        /** The share of its trips that the timetable has; null if none was compared. */
        foundShare: compared > 0 ? found / compared : null,
        /** Parts of the feed that are not understood, by reason. */
        leftOut: unreadable > 0 ? { ...leftOut, [UNREADABLE]: { count: unreadable, examples: [] } } : leftOut,
      };
    });
  }

  isPolling(): boolean {
    return this.#poller.isLeader();
  }

  async close(): Promise<void> {
    await this.#poller.close();
    await this.#ownReader?.close();
  }
}

/** Whether the feed is too old to be shown because nobody needed it and it was polled less often. */
function isIdle(source: FeedId, state: FeedState, now: number, pollTakesMs = MAX_POLL_MS): boolean {
  const isOld = now - (state.health.accepted?.headerAt ?? 0) > MAX_SHOWN_AGE_MS;
  return isOld && now > nextPollAt(source, { ...state, neededAt: now }) + pollTakesMs;
}

/**
 * Keeps these feeds polled, and waits for those that are not read yet. Returns the feeds that are needed: none if `at` is later
 * than feeds reach.
 */
export async function requestFeeds(
  feeds: FeedRequests | null,
  sources: readonly FeedSourceId[],
  { at, now }: { at: number; now: number },
): Promise<readonly FeedSourceId[]> {
  const needed = at < now + FEED_HORIZON_MS ? sources : [];
  feeds?.request(needed);
  await feeds?.untilRead(needed, WAIT_MS);
  return needed;
}

/**
 * The freshness of a response: fresh until the next poll. Its age is that of `asOf`, the oldest feed whose times it shows. If
 * `asOf` is null, it is that of the oldest feed in `sources`; without feeds, the response is new.
 */
export function freshnessOfFeeds(
  feeds: FeedAges | null,
  sources: readonly FeedId[],
  { asOf, now }: { asOf: number | null; now: number },
): Freshness {
  const headers =
    feeds?.list().flatMap(({ source, headerAt }) => (sources.includes(source) ? (headerAt ?? []) : [])) ?? [];
  const freshUntil = feeds && sources.length > 0 ? feeds.freshUntil(sources) : now + PLANNED_FRESH_MS;
  const retrievedAt = Math.min(now, ...(asOf === null ? headers : [asOf]));
  return { retrievedAt, freshUntil, staleUntil: freshUntil + STALE_MS, source: 'cache', shortage: null };
}
