import { type Clock, systemClock } from '../clock.ts';
import type { SharedRedis } from '../redis/shared-redis.ts';
import { type Limits, type Meter, ProcessMeter } from './budget/meter.ts';
import { createRedisMeter } from './budget/redis-meter.ts';
import { createRedisSharedStore, type SharedStore } from './shared-store.ts';

const CACHE_BYTES = 192 * 1024 * 1024;

/**
 * What instances with one Redis have in common: responses, flights, verdicts, and the budget of each upstream key. While
 * Redis is away, each instance keeps responses to itself, works without locks, and takes its share of the budget.
 */
export function coordinateThrough(
  redis: SharedRedis,
  options: {
    /** Where the responses come from. It is part of their names, so that made-up responses never meet real ones. */
    source: string;
    apiKeys: readonly string[];
    limits: Limits;
    /** Where responses, verdicts, timelines and locks are, and how much they may take there; null where Redis evicts. */
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
