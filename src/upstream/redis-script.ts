import type { Cluster, Redis, Result } from 'ioredis';

/*
 * What has to happen in one piece, inside Redis. The keys of a script share a hash tag, so that it works on a cluster.
 */

/** Returns what became of it, the wait in milliseconds, the calls of the day so far, and the instances about. */
const TAKE_CALL = `
local starts, spent, instances, paused = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local limit, rps, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local presumed, unsettled, instance = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

redis.call('ZADD', instances, now, instance)
redis.call('ZREMRANGEBYSCORE', instances, '-inf', now - 60000)
redis.call('PEXPIRE', instances, 60000)
local about = redis.call('ZCARD', instances)

redis.call('SET', spent, presumed, 'NX', 'EX', 172800)
local calls = redis.call('INCRBY', spent, unsettled)

local pause = redis.call('PTTL', paused)
if pause > 0 then return {'paused', pause, calls, about} end
if calls + 1 > limit then return {'day', 0, calls, about} end
local oldest = tonumber(redis.call('LINDEX', starts, rps - 1) or '-inf')
if now - oldest < windowMs then return {'rate', windowMs - (now - oldest), calls, about} end
redis.call('LPUSH', starts, now)
redis.call('LTRIM', starts, 0, rps - 1)
redis.call('PEXPIRE', starts, windowMs)
return {'taken', 0, redis.call('INCR', spent), about}`;

const EXTEND_LOCK = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`;

/** With a note, the note takes the lock's place for a while. */
const RELEASE_LOCK = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeUpstreamCall(
      ...args: [
        starts: string,
        spent: string,
        instances: string,
        paused: string,
        limit: number,
        rps: number,
        windowMs: number,
        presumed: number,
        unsettled: number,
        instance: string,
      ]
    ): Result<
      [outcome: 'taken' | 'rate' | 'day' | 'paused', waitMs: number, spent: number, instances: number],
      Context
    >;
    extendLock(key: string, token: string, ttlMs: number): Result<number, Context>;
    releaseLock(key: string, token: string, note: string, noteTtlMs: number): Result<number, Context>;
  }
}

/** Teaches a connection the scripts of this folder. */
export function defineScripts(connection: Redis | Cluster): void {
  connection.defineCommand('takeUpstreamCall', { numberOfKeys: 4, lua: TAKE_CALL });
  connection.defineCommand('extendLock', { numberOfKeys: 1, lua: EXTEND_LOCK });
  connection.defineCommand('releaseLock', { numberOfKeys: 1, lua: RELEASE_LOCK });
}
