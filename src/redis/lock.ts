import { defineScript } from './connection.ts';

/*
 * Locks that expire: of the instance that calls upstream for a request, and of the one that polls feeds. The holder is
 * known by its token, and holds the lock again before it expires.
 */

/**
 * Takes the lock when it is free and keeps it for longer when the token holds it. Returns 1 when the token holds it now. A
 * lock without an expiry gets one, because nobody may be left to release it.
 */
export const holdLock = defineScript<[lock: string], [token: string, ttlMs: number], number>(
  'holdLock',
  `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
local isOurs = redis.call('GET', KEYS[1]) == ARGV[1]
if isOurs or redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return isOurs and 1 or 0`,
);

/** Releases the lock if the token holds it. A note, unless it is empty, takes its place for a while. */
export const releaseLock = defineScript<[lock: string], [token: string, note: string, noteTtlMs: number], number>(
  'releaseLock',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`,
);
