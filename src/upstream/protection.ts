import { type Clock, type Deadlines, deadlinesFrom, systemClock } from '../clock.ts';
import type { AskAuthority, UpstreamResponse } from '../efa/ask.ts';
import type { Log } from '../log.ts';
import type { SharedRedis } from '../redis/shared-redis.ts';
import { SingleFlight } from '../single-flight.ts';
import { Breaker } from './breaker.ts';
import { Budget } from './budget/budget.ts';
import { type Limits, type Meter, ProcessMeter } from './budget/meter.ts';
import { createRedisMeter } from './budget/redis-meter.ts';
import { joinTicket, type Ticket } from './budget/reserve-limits.ts';
import { createCachedAsk } from './cached-ask.ts';
import { createGuardedCall } from './guarded-call.ts';
import { createInstanceFlight } from './instance-flight.ts';
import { ResponseCache } from './response-cache.ts';
import { createRedisSharedStore, noSharedStore, type SharedStore } from './shared-store.ts';

export interface ProtectionOptions {
  /** One `ask` for each upstream key. */
  asks: readonly AskAuthority[];
  /** The limits of each key. */
  limits: Limits;
  log: Log<'info' | 'warn' | 'error'>;
  deadlines?: Deadlines;
  breaker?: Pick<Breaker, 'permit' | 'isOpen'>;
  clock?: Clock;
  /** Is told of each call, by the account for which it is made. */
  noteCall?: (account: string) => void;
  /** The store and the meters that instances share; without them this process works alone. */
  shared?: { store: SharedStore; meters: readonly Meter[] } | undefined;
}

const MAX_CACHE_BYTES = 64 * 1024 * 1024;

/**
 * `ask` with the layers that protect upstream from too many calls, and the service when upstream fails. From
 * outside to inside: cache of the process, single flight, cache and single flight of all instances, circuit breaker,
 * budget, call. Responses tell how fresh they are.
 */
export function protectUpstream(options: ProtectionOptions) {
  const { asks, limits, log, clock = systemClock } = options;
  const { now } = clock;
  const { deadlines = deadlinesFrom(), breaker = new Breaker(now) } = options;
  const { store, meters } = options.shared ?? {
    store: noSharedStore,
    meters: asks.map(() => new ProcessMeter(limits, now)),
  };
  const cache = new ResponseCache({ maxBytes: MAX_CACHE_BYTES, now, store });
  const flights = new SingleFlight<UpstreamResponse<unknown>, Ticket>(joinTicket, now);
  const alone = createInstanceFlight({ store, clock, maxWaitMs: deadlines.requestMs });
  const budget = new Budget({ meters, rps: limits.rps, clock, noteCall: options.noteCall });
  const { call, callForFeed, counts } = createGuardedCall({ asks, budget, breaker, clock, deadlines, log });
  const { ask, counts: answered } = createCachedAsk({ call, cache, flights, alone, budget, clock, deadlines });

  return {
    ask,
    /** Makes a call for a feed, within the same budget. */
    callForFeed,
    /** Counted since the process began. */
    counts: Object.assign(counts, { answered }),
    /** The responses that this process keeps. */
    cache,
    state: () => ({
      isBreakerOpen: breaker.isOpen(),
      ...budget.state(),
      /** Calls that are left of this UTC day, for each key of upstream. */
      callsLeft: meters.map((meter) => Math.max(0, Math.floor(limits.dailyBudget - meter.spent()))),
    }),
  };
}

const CACHE_BYTES = 192 * 1024 * 1024;

/**
 * Makes instances with one Redis share responses, flights, and the budget of each upstream key. While
 * Redis is away, each instance keeps responses to itself, works without locks, and takes its share of the budget.
 */
export function coordinateThrough(
  redis: SharedRedis,
  options: {
    /** The origin of the responses. It is part of their names, so that made-up responses never meet real ones. */
    source: string;
    apiKeys: readonly string[];
    limits: Limits;
    /** The Redis for responses, timelines and locks, and how much they may take there; null where Redis evicts. */
    cache?: { redis: SharedRedis; maxBytes: number | null };
    clock?: Clock;
  },
): { store: SharedStore; meters: Meter[] } {
  const { source, apiKeys, limits, clock: own = systemClock, cache = { redis, maxBytes: CACHE_BYTES } } = options;
  // An instance whose clock runs ahead would spend the calls of a day that the others are still to have.
  const clock = { ...own, now: () => own.now() + redis.clockAheadMs() };
  const isLimited = Number.isFinite(limits.rps);
  return {
    store: createRedisSharedStore(cache.redis, source, cache.maxBytes),
    meters: apiKeys.map((apiKey) =>
      isLimited ? createRedisMeter({ redis, apiKey, limits, clock }) : new ProcessMeter(limits, clock.now),
    ),
  };
}
