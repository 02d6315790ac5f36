import { DateTime } from 'luxon';
import { type Clock, MINUTE_MS } from '../../core/clock.ts';
import { SYDNEY } from '../../transit/region.ts';
import type { Feed } from '../feed/feed.ts';
import { UndecodableFeed } from '../feed/feed-reader.ts';
import type { FeedReader, ReadFeed } from '../feed/reading-thread.ts';
import type { Snapshot } from '../snapshot.ts';
import { FailedPoll, type FeedClient } from './feed-client.ts';
import { type FeedProblem, judgePoll, type PollFailure, UNREAD } from './feed-health.ts';
import type { FeedSharing, FeedState, PolledState } from './feed-sharing.ts';
import { type FeedId, intervalOf, isPositions } from './feed-source.ts';

/** The result of a poll: a new publication, the same as before, or why the feed was not accepted. */
export type PollOutcome = 'accepted' | 'unchanged' | FeedProblem;

const TURN_MS = 1000;
const LEAD_EVERY_MS = 3000;
/** A feed is polled for this long after the last request that needed it. */
const NEEDED_MS = 5 * MINUTE_MS;

const NIGHT_ENDS_AT = 5;
const NIGHT_FACTOR = 4;
/** A feed without trips is polled half as often. Most feeds have none at night. */
const EMPTY_FACTOR = 2;
/** The delay after one bad poll; usually the next one is good. */
const RETRY_MS = 5000;
const REFUSED_BEFORE_BACK_OFF = 4;
const MAX_BACK_OFF_MS = 2 * MINUTE_MS;
/** The maximum age of a feed that is shown, as far as polling can ensure it. */
export const MAX_SHOWN_AGE_MS = 45_000;
/** The time from the start of a poll until every instance has read the feed. */
export const POLL_TAKES_MS = 2000;
/** The shortest time between two good polls of a feed. */
const SOONEST_MS = 15_000;
/** A feed with an older header is polled at its plain interval, not when new data would be due. */
const STANDS_STILL_MS = 90_000;

export interface PollerOptions {
  client: { fetch: FeedClient['fetch'] };
  reader: Omit<FeedReader, 'use'>;
  sharing: FeedSharing;
  clock: Clock;
  log: Record<'info' | 'warn', (fields: object, message: string) => void>;
  record?: (source: FeedId, outcome: PollOutcome) => void;
  /** Whether a snapshot belongs to the timetable in use. */
  isCurrent: (snapshot: Snapshot) => boolean;
  /** Called with each new snapshot. */
  published?: ((snapshot: Snapshot) => void) | undefined;
}

/** See `createFeedPoller`. */
export interface FeedPoller {
  /** The feeds that are polled, by this instance or by another. */
  readonly feeds: ReadonlyMap<FeedId, FeedState>;
  /** Records that callers need the feeds now. A feed that is new to this instance is polled or read at once. */
  request(sources: Iterable<FeedId>): void;
  /** When the feed was first requested after its last poll; 0 if it never was. */
  requestedAt(source: FeedId): number;
  predictAgain(): Promise<void>;
  /** Resolves the next time a feed has been polled or read. */
  nextChange(): Promise<void>;
  isLeader(): boolean;
  close(): Promise<void>;
}

/**
 * Keeps all feeds up to date that any instance needed in the last five minutes. Every second, the instance with the lease polls
 * the feeds that are due; the others load the feeds that they need from Redis.
 */
export function createFeedPoller(options: PollerOptions): FeedPoller {
  const { client, reader, sharing, clock, log, record, isCurrent } = options;
  const { now } = clock;
  const feeds = new Map<FeedId, FeedState>();
  const underWay = new Set<FeedId>();
  /** When each feed was last needed, by callers of this instance and of the others. */
  const neededHere = new Map<FeedId, number>();
  /** When each feed was first requested after its last poll. */
  const requestedAt = new Map<FeedId, number>();
  let neededElsewhere: ReadonlyMap<FeedId, number> = new Map();
  const unpublishedNeeds = new Set<FeedId>();
  let change = Promise.withResolvers<void>();
  let electedAt = Number.NEGATIVE_INFINITY;
  let isLeader = false;
  let isClosed = false;
  let isTurning = false;
  let cancel = clock.after(TURN_MS, begin, { isBackground: true });

  const warn = (err: Error) => log.warn({ err }, 'the feeds could not be brought up to date');

  function begin(): void {
    isTurning = true;
    turn()
      .catch(warn)
      .finally(() => {
        isTurning = false;
        if (!isClosed) cancel = clock.after(TURN_MS, begin, { isBackground: true });
      });
  }

  async function turn(): Promise<void> {
    if (now() - electedAt >= LEAD_EVERY_MS) await elect();
    const newNeeds = [...unpublishedNeeds].map((source) => [source, neededHere.get(source) ?? 0] as const);
    unpublishedNeeds.clear();
    if (newNeeds.length > 0) await sharing.publishNeeds(new Map(newNeeds));
    if (!isLeader) return adoptShared();
    neededElsewhere = await sharing.loadRequests();
    await dropUnneeded();
    for (const source of new Set([...neededHere.keys(), ...neededElsewhere.keys()])) {
      if (isNeeded(source) && !underWay.has(source) && isPollDue(source)) poll(source).catch(warn);
    }
  }

  function neededAt(source: FeedId): number {
    return Math.max(neededHere.get(source) ?? 0, isLeader ? (neededElsewhere.get(source) ?? 0) : 0);
  }

  function isNeeded(source: FeedId): boolean {
    return neededAt(source) > now() - NEEDED_MS;
  }

  async function elect(): Promise<void> {
    electedAt = now();
    const wasLeader = isLeader;
    isLeader = await sharing.lead();
    if (isLeader === wasLeader) return;
    log.info({ isLeader }, isLeader ? 'this instance polls the feeds' : 'another instance polls the feeds');
    if (!isLeader) return;
    // Continue from the previous leader's state.
    neededElsewhere = await sharing.loadRequests();
    await adoptShared();
  }

  async function dropUnneeded(): Promise<void> {
    for (const source of [...feeds.keys()].filter((feed) => !isNeeded(feed))) {
      feeds.delete(source);
      await sharing.withdraw(source);
    }
  }

  /** Stores the state of a feed. If `read` is null, its previous content stays. */
  function store(source: FeedId, { health, polledAt }: PolledState, read: ReadFeed | null): void {
    const { feed = null, snapshots = [] } = feeds.get(source) ?? {};
    const newest = read?.snapshot;
    const others = snapshots.filter((one) => isCurrent(one) && one.about.timetable !== newest?.about.timetable);
    feeds.set(source, {
      health,
      polledAt,
      feed: read?.feed ?? feed,
      snapshots: newest ? [...others, newest] : read ? [] : snapshots,
    });
    if (newest) options.published?.(newest);
    change.resolve();
    change = Promise.withResolvers();
  }

  function isPollDue(source: FeedId): boolean {
    const polled = feeds.get(source);
    return !polled || now() >= nextPollAt(source, { ...polled, neededAt: neededAt(source) });
  }

  async function poll(source: FeedId): Promise<void> {
    underWay.add(source);
    const polledAt = now();
    const read = await pollOnce(source).finally(() => underWay.delete(source));
    const before = feeds.get(source);
    const measured = typeof read === 'string' ? read : measureOf(source, read.feed);
    const { health, isAccepted } = judgePoll(before?.health ?? UNREAD, measured, now());
    record?.(source, health.refusal ?? (isAccepted ? 'accepted' : 'unchanged'));
    if (isClosed) return;
    const accepted = isAccepted && typeof read !== 'string' ? read : null;
    store(source, { health, polledAt }, accepted);
    await sharing.publish(source, { health, polledAt }, accepted?.feed.packed ?? null);
  }

  async function pollOnce(source: FeedId): Promise<ReadFeed | PollFailure> {
    try {
      return await reader.parse(source, await client.fetch(source));
    } catch (error) {
      const isExpected = error instanceof FailedPoll || error instanceof UndecodableFeed;
      if (!isExpected) warn(error as Error);
      const failure = error instanceof FailedPoll ? error.failure : 'undecodable';
      if (isExpected && feeds.get(source)?.health.refusal !== failure) {
        log.info({ source, failure, reason: error.message }, 'a feed could not be polled');
      }
      return failure;
    }
  }

  /** Predicts the runs of a feed; null if it cannot be read. */
  async function open(source: FeedId, feed: Feed): Promise<ReadFeed | null> {
    return reader.open(source, feed.packed).catch((error) => {
      if (!(error instanceof UndecodableFeed)) throw error;
      warn(error);
      return null;
    });
  }

  /** Predicts all feeds again with the timetable that the reader now has. The snapshots for the current timetable stay. */
  async function predictAgain(): Promise<void> {
    await Promise.all(
      [...feeds].map(async ([source, { feed }]) => {
        if (isPositions(source)) return;
        for (let newest = feed; newest; ) {
          const opened = await open(source, newest);
          const state = feeds.get(source);
          // A publication that arrived meanwhile may have been predicted with the old timetable, so predict it again.
          if (state?.feed === newest && opened) store(source, state, { ...opened, feed: newest });
          newest = state?.feed === newest ? null : (state?.feed ?? null);
        }
      }),
    );
  }

  /** Loads the needed feeds that the polling instance has published. */
  async function adoptShared(): Promise<void> {
    const isNeededNow = [...neededHere.keys(), ...neededElsewhere.keys()].some(isNeeded);
    const states = isNeededNow ? await sharing.loadStates() : new Map<FeedId, PolledState>();
    if (!states) return;
    for (const source of feeds.keys()) if (!states.has(source) || !isNeeded(source)) feeds.delete(source);
    for (const [source, state] of states) {
      if (!isNeeded(source)) continue;
      const headerAt = state.health.accepted?.headerAt;
      const ownFeed = feeds.get(source)?.feed ?? null;
      const isOwn = headerAt === undefined || ownFeed?.headerAt === headerAt;
      const feed = isOwn ? ownFeed : await sharing.loadFeed(source);
      // The feed is published before its state, so it may be newer than the state read here.
      if (headerAt !== undefined && feed?.headerAt !== headerAt) continue;
      store(source, state, isOwn || !feed ? null : await open(source, feed));
    }
  }

  return {
    feeds,
    request(sources: Iterable<FeedId>): void {
      let isNew = false;
      for (const source of sources) {
        const isPending = isNeeded(source) && (requestedAt.get(source) ?? 0) > (feeds.get(source)?.polledAt ?? 0);
        if (!isPending) requestedAt.set(source, now());
        isNew ||= !isNeeded(source);
        neededHere.set(source, now());
        unpublishedNeeds.add(source);
      }
      if (!isNew || isTurning || isClosed) return;
      cancel();
      begin();
    },
    requestedAt: (source) => requestedAt.get(source) ?? 0,
    predictAgain,
    nextChange: () => change.promise,
    isLeader: () => isLeader,
    async close() {
      isClosed = true;
      cancel();
      await sharing.close();
    },
  };
}

/** What `judgePoll` compares: the header and the number of trips or, for feeds of positions, of vehicles. */
function measureOf(source: FeedId, { headerAt, tripCount, vehicleCount }: Feed) {
  return { headerAt, tripCount: isPositions(source) ? vehicleCount : tripCount };
}

/**
 * Returns when the feed is due: at its interval, or sooner if the data shown would become too old. A feed that nobody has
 * needed since its last poll (`neededAt`) is polled a quarter as often at night; one without trips, half as often. After one
 * bad poll it is retried soon; repeated failures slow polling down to every two minutes.
 */
export function nextPollAt(
  source: FeedId,
  last: {
    polledAt: number;
    neededAt: number;
    health: { accepted: PolledState['health']['accepted']; refusedInARow: number };
  },
): number {
  const { polledAt, neededAt, health } = last;
  const { accepted, refusedInARow } = health;
  const intervalMs = intervalOf(source);
  if (refusedInARow === 1) return polledAt + Math.min(intervalMs, RETRY_MS);
  if (refusedInARow > REFUSED_BEFORE_BACK_OFF) {
    return polledAt + Math.min(MAX_BACK_OFF_MS, intervalMs * 2 ** (refusedInARow - REFUSED_BEFORE_BACK_OFF));
  }
  if (neededAt <= polledAt) return polledAt + intervalMs * (isNight(polledAt) ? NIGHT_FACTOR : 1);
  if (accepted?.tripCount === 0) return polledAt + intervalMs * EMPTY_FACTOR;
  if (!accepted || polledAt - accepted.headerAt > STANDS_STILL_MS) return polledAt + intervalMs;
  const tooOldAt = accepted.headerAt + MAX_SHOWN_AGE_MS - POLL_TAKES_MS;
  return polledAt + Math.min(intervalMs, Math.max(SOONEST_MS, tooOldAt - polledAt));
}

function isNight(moment: number): boolean {
  return DateTime.fromMillis(moment, { zone: SYDNEY }).hour < NIGHT_ENDS_AT;
}
