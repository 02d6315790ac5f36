import { type Clock, MINUTE_MS } from '../../clock.ts';
import { ANNOUNCE_EVERY_MS } from '../../redis/shared-redis.ts';
import { MODES } from '../../transit/mode.ts';
import { Feed, NotAPackedFeed } from '../feed/feed.ts';
import { UndecodableFeed } from '../feed/feed-reader.ts';
import type { ReadingThread } from '../feed/reading-thread.ts';
import { FailedPoll, type FeedClient } from './feed-client.ts';
import { type InstanceDemand, WATCHED_MS } from './feed-demand.ts';
import { type FeedProblem, judgePoll, type PollFailure, UNREAD } from './feed-health.ts';
import type { FeedSharing, FeedState } from './feed-sharing.ts';
import { type FeedId, type FeedSourceId, isPositions, listFeedSources, type PositionsId } from './feed-source.ts';
import { chooseFeeds, nextPollAt, pollIntervalMs } from './polling.ts';

/** The outcome of a poll. */
export type PollOutcome = 'accepted' | 'unchanged' | FeedProblem;

const TURN_MS = 1000;
const LEAD_EVERY_MS = 3000;
const CHOOSE_EVERY_MS = 10_000;
/** Whoever opens a map on another instance waits for it. */
const HEAR_EVERY_MS = 2000;
/** Feeds that callers have needed for no board for so long are read no more: those of another instance, and all where calls are free. */
const FOLLOW_MS = 5 * MINUTE_MS;

/**
 * Keeps the feeds up to date that are in demand. Every second: the instance that holds the lease polls what is due, the
 * others read what it has published.
 */
export function createFeedPoller(options: {
  client: Pick<FeedClient, 'fetch'>;
  reader: Pick<ReadingThread, 'read'>;
  sharing: FeedSharing;
  /** Returns the demand of this instance. */
  demand: () => InstanceDemand;
  /** Returns by how much the time between two polls is stretched; 1 unless calls are very short. */
  pollStretch: () => number;
  /** Every feed that is asked for is polled, as calls of the sandbox cost nothing; else only those that save more than they cost. */
  areCallsFree?: boolean;
  clock: Clock;
  log: Record<'info' | 'warn', (fields: object, message: string) => void>;
  record?: (source: FeedId, outcome: PollOutcome) => void;
}) {
  const { client, reader, sharing, demand, pollStretch, areCallsFree = false, clock, log, record } = options;
  const { now } = clock;
  const feeds = new Map<FeedId, FeedState>();
  const underWay = new Set<FeedId>();
  /** When each task of a turn was last done. */
  const doneAt = new Map<string, number>();
  let chosen = new Set<FeedId>();
  let others: readonly InstanceDemand[] = [];
  /** When each of the chosen feeds was last needed by anybody. */
  let askedAt: Partial<Record<FeedId, number>> = {};
  let change = Promise.withResolvers<void>();
  let isLeader = false;
  let isClosed = false;
  let cancel = clock.after(TURN_MS, begin);

  const warn = (err: Error) => log.warn({ err }, 'the feeds could not be brought up to date');

  function begin(): void {
    turn()
      .catch(warn)
      .finally(() => {
        if (!isClosed) cancel = clock.after(TURN_MS, begin);
      });
  }

  async function turn(): Promise<void> {
    if (isDue('lead', LEAD_EVERY_MS)) await elect();
    const isMissing = listWatched([demand()]).some((source) => !feeds.has(source));
    if (isDue('tell', isMissing ? TURN_MS : ANNOUNCE_EVERY_MS)) await sharing.tellDemand(demand());
    if (!isLeader) return follow();
    if (isDue('hear', HEAR_EVERY_MS)) others = await sharing.readDemand();
    if (isDue('choose', CHOOSE_EVERY_MS)) await choose();
    for (const source of listWatched([demand(), ...others])) chosen.add(source);
    for (const source of chosen) if (!underWay.has(source) && isPollDue(source)) poll(source).catch(warn);
  }

  function isDue(task: string, everyMs: number): boolean {
    if (now() - (doneAt.get(task) ?? Number.NEGATIVE_INFINITY) < everyMs) return false;
    doneAt.set(task, now());
    return true;
  }

  async function elect(): Promise<void> {
    const wasLeader = isLeader;
    isLeader = await sharing.lead();
    if (isLeader === wasLeader) return;
    log.info({ isLeader }, isLeader ? 'this instance polls the feeds' : 'another instance polls the feeds');
    // Goes on where the instance before it stopped.
    if (isLeader) await takeOver();
  }

  async function choose(): Promise<void> {
    const all = [demand(), ...others];
    const latest = (source: FeedId) => Math.max(0, ...all.map((one) => neededAt(one, source)));
    const before = new Set(feeds.keys());
    const running = new Set([...before].filter((source): source is FeedSourceId => !isPositions(source)));
    const worthwhile = areCallsFree
      ? listFeedSources(MODES).filter((source) => latest(source) > now() - FOLLOW_MS)
      : chooseFeeds(
          all.flatMap((one) => one.demand),
          running,
          pollStretch(),
        );
    chosen = new Set([...worthwhile, ...listWatched(all)]);
    askedAt = Object.fromEntries([...chosen].map((source) => [source, latest(source)]));
    for (const source of before) {
      if (chosen.has(source)) continue;
      feeds.delete(source);
      await sharing.withdraw(source);
    }
  }

  /** Lists the feeds of positions that somebody has looked at lately. */
  function listWatched(all: readonly InstanceDemand[]): PositionsId[] {
    const watched = all.flatMap((one) => Object.entries(one.watchedAt) as [PositionsId, number][]);
    return watched.filter(([, at]) => at > now() - WATCHED_MS).map(([source]) => source);
  }

  function keep(source: FeedId, state: FeedState): void {
    feeds.set(source, state);
    change.resolve();
    change = Promise.withResolvers();
  }

  function isPollDue(source: FeedId): boolean {
    const polled = feeds.get(source);
    if (!polled) return true;
    const lastAsked = Math.max(askedAt[source] ?? 0, neededAt(demand(), source));
    return now() >= nextPollAt(source, { ...polled, askedAt: lastAsked });
  }

  async function poll(source: FeedId): Promise<void> {
    underWay.add(source);
    const polledAt = now();
    const read = await readOnce(source).finally(() => underWay.delete(source));
    const before = feeds.get(source);
    const measured = typeof read.poll === 'string' ? read.poll : measureOf(source, read.poll);
    const { health, isAccepted } = judgePoll(before?.health ?? UNREAD, measured, now());
    const state = { health, polledAt, intervalMs: pollIntervalMs(source, pollStretch()) };
    const feed = isAccepted && typeof read.poll !== 'string' ? read.poll : (before?.feed ?? null);
    record?.(source, health.refusal ?? (isAccepted ? 'accepted' : 'unchanged'));
    if (isClosed || !chosen.has(source)) return;
    keep(source, { ...state, feed });
    await sharing.publish(source, state, isAccepted ? read.packed : null);
  }

  async function readOnce(source: FeedId): Promise<{ poll: Feed | PollFailure; packed: ArrayBuffer | null }> {
    try {
      const packed = await reader.read(await client.fetch(source));
      return { poll: new Feed(packed), packed };
    } catch (error) {
      const failure = failureOf(error);
      if (failure === null) throw error;
      if (feeds.get(source)?.health.refusal !== failure) {
        log.info({ source, failure, reason: (error as Error).message }, 'a feed could not be polled');
      }
      return { poll: failure, packed: null };
    }
  }

  async function follow(): Promise<void> {
    const lastAsked = Math.max(0, ...Object.values({ ...demand().askedAt, ...demand().watchedAt }));
    if (now() - lastAsked > FOLLOW_MS) feeds.clear();
    else await takeOver();
  }

  /** Reads what the polling instance has published. */
  async function takeOver(): Promise<void> {
    const states = await sharing.readStates();
    if (!states) return;
    const watched = listWatched([demand()]);
    const isNeeded = (source: FeedId) => !isPositions(source) || watched.includes(source);
    for (const source of feeds.keys()) if (!states.has(source) || !isNeeded(source)) feeds.delete(source);
    for (const [source, state] of states) {
      if (!isNeeded(source)) continue;
      const headerAt = state.health.accepted?.headerAt;
      const own = feeds.get(source)?.feed ?? null;
      const feed = headerAt === undefined || own?.headerAt === headerAt ? own : await readPublished(source);
      // The feed is published before its state, and may be newer than the state that was read.
      if (headerAt === undefined || feed?.headerAt === headerAt) keep(source, { ...state, feed });
    }
    chosen = new Set(feeds.keys());
  }

  async function readPublished(source: FeedId): Promise<Feed | null> {
    const packed = await sharing.readFeed(source);
    try {
      return packed && new Feed(packed);
    } catch (error) {
      if (error instanceof NotAPackedFeed) return null;
      throw error;
    }
  }

  return {
    /** The feeds that are polled, by this instance or by another. */
    feeds: feeds as ReadonlyMap<FeedId, FeedState>,
    /** Resolves when a feed has been polled or read the next time. */
    nextChange: () => change.promise,
    isLeader: () => isLeader,
    async close() {
      isClosed = true;
      cancel();
      await sharing.close();
    },
  };
}

function neededAt(demand: InstanceDemand, source: FeedId): number {
  return (isPositions(source) ? demand.watchedAt[source] : demand.askedAt[source]) ?? 0;
}

/** Feeds are judged by how many trips they have, those of positions by how many vehicles. */
function measureOf(source: FeedId, { headerAt, tripCount, vehicleCount }: Feed) {
  return { headerAt, tripCount: isPositions(source) ? vehicleCount : tripCount };
}

function failureOf(error: unknown): PollFailure | null {
  if (error instanceof FailedPoll) return error.failure;
  return error instanceof UndecodableFeed || error instanceof NotAPackedFeed ? 'undecodable' : null;
}
