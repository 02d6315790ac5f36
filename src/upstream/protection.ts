import { type Clock, type Deadlines, deadlinesFrom, systemClock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { cacheBytes } from '../core/memory-limit.ts';
import type { SharedRedis } from '../core/redis/shared-redis.ts';
import { SingleFlight } from '../core/single-flight.ts';
import { joinTicket } from '../core/turn-queue.ts';
import type { CallUpstream, UpstreamResponse } from '../efa/query-upstream.ts';
import { Breaker, type CallGate } from './breaker.ts';
import { Budget, type CallTicket } from './budget/budget.ts';
import { type Meter, ProcessMeter } from './budget/meter.ts';
import type { Limits } from './budget/pace.ts';
import { createRedisMeter } from './budget/redis-meter.ts';
import { createCachedQuery } from './cached-query.ts';
import { createGuardedCall } from './guarded-call.ts';
import { createPauses } from './request-memory.ts';
import { ResponseCache } from './response-cache.ts';

export interface ProtectionOptions {
  /** One function for each upstream key. */
  callByKey: readonly CallUpstream[];
  limits: Limits;
  log: Log<'info' | 'warn' | 'error'>;
  deadlines?: Deadlines;
  breaker?: CallGate;
  clock?: Clock;
  /** Meters shared by instances, one per key; without them, this process counts alone. */
  meters?: readonly Meter[] | undefined;
}

/**
 * Wraps the client in the layers that protect upstream from too many calls, and the service from upstream's failures: cache,
 * single flight, circuit breaker, budget, call. Responses report their freshness.
 */
export function protectUpstream(options: ProtectionOptions) {
  const { callByKey, limits, log, clock = systemClock } = options;
  const { now } = clock;
  const pauses = createPauses();
  const { deadlines = deadlinesFrom(), breaker = new Breaker(now, pauses) } = options;
  const { meters = callByKey.map(() => new ProcessMeter(limits, now)) } = options;
  const cache = new ResponseCache({ maxBytes: cacheBytes(), now });
  const flights = new SingleFlight<UpstreamResponse<unknown>, CallTicket>(joinTicket, now);
  const budget = new Budget({ meters, limits, clock });
  const { call, callForFeed, counts } = createGuardedCall({ callByKey, budget, breaker, clock, deadlines, log });
  const { queryUpstream, counts: answered } = createCachedQuery({ call, cache, flights, pauses, clock, deadlines });

  return {
    queryUpstream,
    /** Makes a call for a feed, within the same budget. */
    callForFeed,
    /** Totals since the process began. */
    counts: Object.assign(counts, { answered }),
    cache,
    state: () => ({
      isBreakerOpen: breaker.isOpen(),
      ...budget.state(),
      /** Calls left this UTC day, per upstream key. */
      callsLeft: meters.map((meter) => Math.max(0, Math.floor(limits.dailyBudget - meter.spent()))),
    }),
  };
}

/** Makes instances with one Redis share the budget of each upstream key. While Redis is unreachable, each uses its share. */
export function createSharedMeters(
  redis: SharedRedis,
  { apiKeys, limits, clock: ownClock = systemClock }: { apiKeys: readonly string[]; limits: Limits; clock?: Clock },
): Meter[] {
  // An instance whose clock is ahead would otherwise use up calls of a day that has not begun for the others.
  const clock = { ...ownClock, now: () => ownClock.now() + redis.clockAheadMs() };
  const isLimited = Number.isFinite(limits.rps);
  return apiKeys.map((apiKey) =>
    isLimited ? createRedisMeter({ redis, apiKey, limits, clock }) : new ProcessMeter(limits, clock.now),
  );
}
