import type { Cluster, Redis } from 'ioredis';
import { systemClock } from './clock.ts';
import type { Log } from './guarded-call.ts';
import { createProcessMeter, type Limits, type Meter } from './meter.ts';
import { createRedisGuard } from './redis-guard.ts';
import { createRedisMeter } from './redis-meter.ts';
import { defineScripts } from './redis-script.ts';
import { createRedisStore } from './redis-store.ts';
import type { SharedStore } from './shared-store.ts';

/** What instances with one Redis have in common: answers, flights, verdicts, and the budget of each upstream key. */
export function shareThrough(
  connection: Redis | Cluster,
  options: {
    /** Whose answers they are: what the sandbox makes up must not meet what the authority says. */
    source: string;
    apiKeys: readonly string[];
    limits: Limits;
    log: Log;
  },
): { store: SharedStore; meters: Meter[] } {
  const { source, apiKeys, limits, log } = options;
  const clock = systemClock;
  defineScripts(connection);
  const guard = createRedisGuard({ ping: () => connection.ping(), log });
  const isLimited = Number.isFinite(limits.rps);
  return {
    store: createRedisStore(connection, guard, source),
    meters: apiKeys.map((apiKey) =>
      isLimited ? createRedisMeter({ connection, guard, apiKey, limits, clock }) : createProcessMeter(limits, clock),
    ),
  };
}
