import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { defineScript, UnavailableError } from '../../redis/connection.ts';
import type { SharedRedis } from '../../redis/shared-redis.ts';
import { type Limits, type Meter, ProcessMeter, RATE_WINDOW_MS, type TakeResult } from './meter.ts';
import { dayOf, type ReserveLimits, spendLimit, waitForCall } from './pace.ts';

/**
 * Returns the outcome, the wait in milliseconds, and the calls of the day so far. `presumed` holds where there is no count
 * yet; a count is at least `atLeast`, and at most `atMost` unless that is below zero.
 */
const takeUpstreamCall = defineScript<
  [starts: string, spent: string, paused: string],
  [limit: number, rps: number, windowMs: number, presumed: number, atLeast: number, atMost: number, unsettled: number],
  [outcome: 'taken' | 'rate' | 'day' | 'paused', waitMs: number, spent: number]
>(
  'takeUpstreamCall',
  `
local starts, spent, paused = KEYS[1], KEYS[2], KEYS[3]
local limit, rps, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local presumed, atLeast, atMost, unsettled = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local before = tonumber(redis.call('GET', spent) or '')
if not before then
  before = presumed
  redis.call('SET', spent, presumed, 'EX', 172800)
end
local corrected = math.max(before, atLeast)
if atMost >= 0 then corrected = math.min(corrected, atMost) end
local calls = redis.call('INCRBY', spent, corrected - before + unsettled)

local pause = redis.call('PTTL', paused)
if pause > 0 then return {'paused', pause, calls} end
if calls + 1 > limit then return {'day', 0, calls} end
local oldest = tonumber(redis.call('LINDEX', starts, rps - 1) or '')
if oldest and oldest <= now and now - oldest < windowMs then return {'rate', windowMs - (now - oldest), calls} end
redis.call('LPUSH', starts, now)
redis.call('LTRIM', starts, 0, rps - 1)
redis.call('PEXPIRE', starts, windowMs)
return {'taken', 0, redis.call('INCR', spent)}`,
  { whenFull: true },
);

/**
 * The budget of one upstream key for all instances. While Redis is away, each instance takes its share of the budget,
 * continues from the last known count of calls, and adds its own calls when Redis is back.
 */
export function createRedisMeter(options: { redis: SharedRedis; apiKey: string; limits: Limits; clock: Clock }): Meter {
  const { redis, limits, clock } = options;
  const { rps, dailyBudget } = limits;
  const names = keyNames(options.apiKey);
  let unsettled = 0;
  const own = new ProcessMeter(limits, clock.now, () => 1 / redis.instances());
  /** The count that Redis last told. */
  let known = { day: dayOf(clock.now()), spent: 0 };

  async function take(call: ReserveLimits): Promise<TakeResult> {
    const now = clock.now();
    try {
      return await takeShared(now, call);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      const result = own.take(call);
      if (result.isTaken) unsettled++;
      return result;
    }
  }

  async function takeShared(now: number, call: ReserveLimits): Promise<TakeResult> {
    const settling = unsettled;
    const presumed = Math.floor(own.spent());
    // Redis may have lost the count since. The own count lies below it only when the clock was set back.
    const told = known.day === dayOf(now) ? known.spent : 0;
    const atLeast = Math.min(told, presumed);
    const atMost = presumed < told ? presumed : -1;
    const limit = spendLimit(now, dailyBudget, call);
    const [outcome, waitMs, spent] = await redis.sendTo(names.starts, (connection) =>
      takeUpstreamCall(
        connection,
        [names.starts, `${names.spent}:${dayOf(now)}`, names.paused],
        [limit, rps, RATE_WINDOW_MS, presumed, atLeast, atMost, settling],
      ),
    );
    unsettled -= settling;
    own.follow(spent, outcome === 'taken');
    known = { day: dayOf(now), spent };
    if (outcome === 'taken') return { isTaken: true };
    if (outcome === 'day') {
      return { isTaken: false, why: 'day', waitMs: waitForCall(now, dailyBudget, spent, call) };
    }
    return { isTaken: false, why: outcome, waitMs };
  }

  return {
    take,
    pause(ms) {
      own.pause(ms);
      // Without Redis the pause holds in this process.
      redis
        .sendTo(names.paused, (connection) => connection.set(names.paused, '1', 'PX', Math.ceil(ms)))
        .catch(() => {});
    },
    reserveFill: () => own.reserveFill(),
    spent: () => own.spent(),
  };
}

/** Named by a hash of the upstream key, which is a secret. The hash tag keeps all names of a key on one node. */
function keyNames(apiKey: string) {
  const prefix = `{tis:budget:${createHash('sha256').update(apiKey).digest('hex').slice(0, 16)}}`;
  return {
    starts: `${prefix}:starts`,
    spent: `${prefix}:spent`,
    paused: `${prefix}:paused`,
  };
}
