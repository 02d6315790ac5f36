import { createHash } from 'node:crypto';
import { type Clock, sleep } from '../../core/clock.ts';
import { defineScript, UnavailableError } from '../../core/redis/connection.ts';
import { MAX_ROUND_TRIP_MS } from '../../core/redis/presence.ts';
import type { SharedRedis } from '../../core/redis/shared-redis.ts';
import type { Priority } from '../../core/turn-queue.ts';
import { type Meter, ProcessMeter, RATE_WINDOW_MS, type TakeResult } from './meter.ts';
import { dayOf, type Limits, spendLimit, waitForCall } from './pace.ts';

/**
 * Returns the outcome, the wait in milliseconds and the day's calls so far. `presumed` is used if there is no count yet. The
 * count is raised to `atLeast` and, unless `atMost` is negative, reduced to `atMost`. A call is granted up to `aheadMs` before
 * the rate allows it, with the wait until then. `unsettled` calls were made without Redis and count as made now.
 */
const spendUpstreamCall = defineScript<
  [starts: string, spent: string, paused: string],
  [
    limit: number,
    rps: number,
    windowMs: number,
    presumed: number,
    atLeast: number,
    atMost: number,
    unsettled: number,
    aheadMs: number,
  ],
  [outcome: 'taken' | 'rate' | 'day' | 'paused', waitMs: number, spent: number]
>(
  'takeUpstreamCall',
  `
local starts, spent, paused = KEYS[1], KEYS[2], KEYS[3]
local limit, rps, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local presumed, atLeast, atMost = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local unsettled, aheadMs = tonumber(ARGV[7]), tonumber(ARGV[8])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function note(start)
  redis.call('LPUSH', starts, start)
  redis.call('LTRIM', starts, 0, rps - 1)
  redis.call('PEXPIRE', starts, windowMs + start - now)
end

local before = tonumber(redis.call('GET', spent) or '')
if not before then
  before = presumed
  redis.call('SET', spent, presumed, 'EX', 172800)
end
local corrected = math.max(before, atLeast)
if atMost >= 0 then corrected = math.min(corrected, atMost) end
local calls = redis.call('INCRBY', spent, corrected - before + unsettled)
for _ = 1, math.min(unsettled, rps) do note(now) end

local pause = redis.call('PTTL', paused)
if pause > 0 then return {'paused', pause, calls} end
if calls + 1 > limit then return {'day', 0, calls} end
local oldest = tonumber(redis.call('LINDEX', starts, rps - 1) or '')
local wait = 0
-- One from further ahead is from before the clock was set back.
if oldest and math.abs(now - oldest) < windowMs then wait = oldest + windowMs - now end
if wait > aheadMs then return {'rate', wait - aheadMs, calls} end
note(now + wait)
return {'taken', wait, redis.call('INCR', spent)}`,
  { whenFull: true },
);

/**
 * Calls are requested this long plus a round trip before the rate allows them. Timers fire late, so otherwise fewer calls would
 * be made than the rate allows.
 */
const AHEAD_MS = 10;

/**
 * The budget of one upstream key for all instances. While Redis is unreachable, each instance uses its share of the budget,
 * continues from the last known count, and adds its own calls when Redis is back. Several calls may be taken concurrently: Redis
 * counts them one after the other.
 */
export function createRedisMeter(options: { redis: SharedRedis; apiKey: string; limits: Limits; clock: Clock }): Meter {
  const { redis, limits, clock } = options;
  const { rps } = limits;
  const names = keyNames(options.apiKey);
  /** Calls made without Redis that are not yet reported to it. */
  let unsettled = 0;
  let isAlone = true;
  const processMeter = new ProcessMeter(limits, clock.now, () => 1 / redis.instances());
  /** The count that Redis last returned. */
  let lastCount = { day: dayOf(clock.now()), spent: 0 };
  /** The round trip of the latest take. */
  let roundTripMs = 0;

  async function spend(priority: Priority): Promise<TakeResult> {
    try {
      const result = await spendShared(clock.now(), priority);
      isAlone = false;
      return result;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      // Redis may just have granted the whole rate to others.
      if (!isAlone) processMeter.fillWindow();
      isAlone = true;
      const result = processMeter.spend(priority);
      if (result.isTaken) unsettled++;
      return result;
    }
  }

  async function spendShared(now: number, priority: Priority): Promise<TakeResult> {
    const settling = unsettled;
    // Only one of several concurrent takes reports them.
    unsettled = 0;
    const presumed = Math.floor(processMeter.spent());
    // Redis may have lost the count since. Our own count is lower only if the clock was set back.
    const lastSpent = lastCount.day === dayOf(now) ? lastCount.spent : 0;
    const atLeast = Math.min(lastSpent, presumed);
    const atMost = presumed < lastSpent ? presumed : -1;
    lastCount = { day: dayOf(now), spent: atLeast };
    const limit = spendLimit(now, limits, priority);
    const sentAt = performance.now();
    const [outcome, waitMs, spent] = await redis
      .sendTo(names.starts, (connection) =>
        spendUpstreamCall(
          connection,
          [names.starts, `${names.spent}:${dayOf(now)}`, names.paused],
          [limit, rps, RATE_WINDOW_MS, presumed, atLeast, atMost, settling, Math.ceil(roundTripMs) + AHEAD_MS],
        ),
      )
      .catch((error) => {
        unsettled += settling;
        throw error;
      });
    roundTripMs = Math.min(MAX_ROUND_TRIP_MS, performance.now() - sentAt);
    processMeter.follow(spent);
    lastCount = { day: dayOf(now), spent };
    if (outcome === 'taken') {
      const startsInMs = processMeter.startGranted(waitMs);
      if (startsInMs > 0) await sleep(clock, startsInMs);
      return { isTaken: true };
    }
    if (outcome === 'day') {
      return { isTaken: false, why: 'day', waitMs: waitForCall(now, limits, spent, priority) };
    }
    return { isTaken: false, why: outcome, waitMs };
  }

  return {
    spend,
    pause(ms) {
      processMeter.pause(ms);
      // If Redis is unreachable, the pause applies in this process only.
      redis
        .sendTo(names.paused, (connection) => connection.set(names.paused, '1', 'PX', Math.ceil(ms)))
        .catch(() => {});
    },
    spent: () => processMeter.spent(),
  };
}

/** Named by a hash, because the upstream key is a secret. The hash tag keeps all names of a key on one node. */
function keyNames(apiKey: string) {
  const prefix = `{tis:budget:${createHash('sha256').update(apiKey).digest('hex').slice(0, 16)}}`;
  return {
    starts: `${prefix}:starts`,
    spent: `${prefix}:spent`,
    paused: `${prefix}:paused`,
  };
}
