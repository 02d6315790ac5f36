import { join } from 'node:path';
import { CALLS_A_DAY, CarParks } from '../carparks/car-parks.ts';
import { CarParkClient } from '../carparks/client.ts';
import { type CarParkStore, fileCarParks, noCarParkStore, redisCarParks } from '../carparks/store.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { SharedRedis } from '../core/redis/shared-redis.ts';
import type { ChargedCalls } from '../efa/upstream-http.ts';
import { ProcessMeter } from '../upstream/budget/meter.ts';
import type { Limits } from '../upstream/budget/pace.ts';
import { createSharedMeters } from '../upstream/protection.ts';
import { baseOf } from './upstream-source.ts';

const LIMITS: Limits = { rps: 4, dailyBudget: CALLS_A_DAY };
/** The sandbox has practically no limit. */
const SANDBOX_LIMITS: Limits = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1_000_000 };

/** Opens the car parks. With Redis, all instances share the stored reports and the count of calls. */
export function openCarParks(
  options: {
    source: string;
    isSandbox: boolean;
    dataDir: string;
    redis: SharedRedis | null;
    clock: Clock;
    log: Log<'info' | 'warn' | 'error'>;
  } & Omit<ChargedCalls, 'now'>,
): CarParks {
  const { source, isSandbox, dataDir, redis, clock, log, url } = options;
  const limits = isSandbox ? SANDBOX_LIMITS : LIMITS;
  const client = new CarParkClient({ ...options, url: baseOf(url), now: clock.now });
  const [shared] = redis ? createSharedMeters(redis, { apiKeys: [`car parks of ${source}`], limits, clock }) : [];
  const meter = shared ?? new ProcessMeter(limits, clock.now);
  return new CarParks({ client, meter, callsADay: limits.dailyBudget, store: openStore(), clock, log });

  function openStore(): CarParkStore {
    if (redis) return redisCarParks({ redis, source });
    return isSandbox ? noCarParkStore : fileCarParks(join(dataDir, 'car-parks.json'));
  }
}
