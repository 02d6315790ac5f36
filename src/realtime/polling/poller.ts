import { DateTime } from 'luxon';
import { type Clock, HOUR_MS, MINUTE_MS } from '../../clock.ts';
import { ANNOUNCE_EVERY_MS } from '../../redis/shared-redis.ts';
import { MODES } from '../../transit/mode.ts';
import { Feed } from '../feed/feed.ts';
import { UndecodableFeed } from '../feed/feed-reader.ts';
import type { ReadingThread } from '../feed/reading-thread.ts';
import { FailedPoll, type FeedClient } from './feed-client.ts';
import { type FeedDemand, type InstanceDemand, WATCHED_MS } from './feed-demand.ts';
import { type FeedProblem, judgePoll, type PollFailure, UNREAD } from './feed-health.ts';
import type { FeedSharing, FeedState, PolledState } from './feed-sharing.ts';
import {
  FEED_SOURCES,
  type FeedId,
  type FeedSourceId,
  isPositions,
  listFeedSources,
  type PositionsId,
  sourceOf,
} from './feed-source.ts';

/** The outcome of a poll. */
export type PollOutcome = 'accepted' | 'unchanged' | FeedProblem;

const TURN_MS = 1000;
const LEAD_EVERY_MS = 3000;
const CHOOSE_EVERY_MS = 10_000;
/** Whoever opens a map on another instance waits for it. */
const HEAR_EVERY_MS = 2000;
/** Feeds that callers have needed for no board for so long are read no more: those of another instance, and all where calls are free. */
const FOLLOW_MS = 5 * MINUTE_MS;

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
    const asked = all.flatMap((one) => one.demand);
    const worthwhile = areCallsFree
      ? listFeedSources(MODES).filter((source) => latest(source) > now() - FOLLOW_MS)
      : chooseFeeds(asked, running, pollStretch());
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
      if (!(error instanceof FailedPoll || error instanceof UndecodableFeed)) throw error;
      const failure = error instanceof FailedPoll ? error.failure : 'undecodable';
      if (feeds.get(source)?.health.refusal !== failure) {
        log.info({ source, failure, reason: error.message }, 'a feed could not be polled');
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
      const feed = headerAt === undefined || own?.headerAt === headerAt ? own : await sharing.readFeed(source);
      // The feed is published before its state, and may be newer than the state that was read.
      if (headerAt === undefined || feed?.headerAt === headerAt) keep(source, { ...state, feed });
    }
    chosen = new Set(feeds.keys());
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
