import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { DAY_MS } from '../clock.ts';
import { defineScript, getBounded, type RedisConnection } from '../redis/connection.ts';
import { holdLock, releaseLock, type SharedRedis } from '../redis/shared-redis.ts';

/**
 * Holds what instances share. Its calls never fail: while the store is away, nothing is found, nothing is kept and every lock
 * is given, so that each process works by itself.
 */
export interface SharedStore {
  get(key: string): Promise<Buffer | null>;
  /** Not awaited: the caller does not need the outcome. */
  set(key: string, value: Buffer | string, ttlMs: number): void;
  /** Takes the lock, or keeps it for another `ttlMs`. True when the token holds it now, or there is no other instance. */
  lock(key: string, token: string, ttlMs: number): Promise<boolean>;
  /** The token or the note that is in the lock's place, or nothing. */
  readLock(key: string): Promise<string>;
  /** Releases the lock, if the token still holds it. A note takes its place for a while. */
  unlock(key: string, token: string, note?: { text: string; ttlMs: number }): void;
}

/** For an instance without Redis. */
export const noSharedStore: SharedStore = {
  get: async () => null,
  set() {},
  lock: async () => true,
  readLock: async () => '',
  unlock() {},
};

/** Larger values are not ours: the largest response of upstream takes less, compressed. */
const MAX_VALUE_BYTES = 4 * 1024 * 1024;
const MAX_NOTE_BYTES = 4096;

/**
 * The room is divided by the names of values, so that a cluster shares it among its nodes: what is in one part, with the
 * index of its sizes and ages, is on one node.
 */
const PARTS = 16;
/** An entry takes this beside value and name: in the key space, for its expiry, and in the index. */
const OVERHEAD_BYTES = 400;
const INDEX_KEPT_MS = 10 * DAY_MS;

/**
 * Keeps a value and drops the oldest ones for as long as all of them take more than they may. What has expired counts until
 * it is the oldest. When one half of the index is lost or broken, the values that the other half names are dropped with it.
 */
const keepBounded = defineScript<
  [entry: string, ages: string, sizes: string],
  [value: Buffer, ttlMs: number, maxBytes: number],
  number
>(
  'keepBounded',
  `
local entry, ages, sizes = KEYS[1], KEYS[2], KEYS[3]
local value, ttlMs, maxBytes = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- The allocator rounds up by a quarter at most; the name is kept three times.
local size = math.ceil(#value * 1.25) + 3 * #entry + ${OVERHEAD_BYTES}
if size > maxBytes then return redis.call('DEL', entry) end

local function sizeOf(name) return tonumber(redis.call('HGET', sizes, name) or '') or 0 end
local kinds = { redis.call('TYPE', ages).ok, redis.call('TYPE', sizes).ok }
local isNew = kinds[1] == 'none' and kinds[2] == 'none'
local isSound = kinds[1] == 'zset' and kinds[2] == 'hash' and tonumber(redis.call('HGET', sizes, 'total') or '')
if not isNew and not isSound then
  local names = {}
  if kinds[1] == 'zset' then names = redis.call('ZRANGE', ages, 0, -1)
  elseif kinds[2] == 'hash' then names = redis.call('HKEYS', sizes) end
  for _, name in ipairs(names) do if name ~= 'total' then redis.call('DEL', name) end end
  redis.call('DEL', ages, sizes)
end

redis.call('SET', entry, value, 'PX', ttlMs)
local total = sizeOf('total') + size - sizeOf(entry)
redis.call('HSET', sizes, entry, size)
redis.call('ZADD', ages, now, entry)
while total > maxBytes do
  local oldest = redis.call('ZPOPMIN', ages)[1]
  if not oldest then
    redis.call('DEL', sizes)
    return 0
  end
  total = total - sizeOf(oldest)
  redis.call('DEL', oldest)
  redis.call('HDEL', sizes, oldest)
end
redis.call('HSET', sizes, 'total', total)
redis.call('PEXPIRE', ages, ${INDEX_KEPT_MS})
redis.call('PEXPIRE', sizes, ${INDEX_KEPT_MS})
return 1`,
);

/**
 * Responses and locks in Redis. Redis may evict any of them; with `maxBytes`, the values take no more than that.
 * While it is away, or refuses a command, nothing is found, nothing is kept, and every lock is given: without Redis there is
 * no other instance to share with.
 */
export function createRedisSharedStore(redis: SharedRedis, source: string, maxBytes: number | null): SharedStore {
  /** Locks are not bounded: they are few, and expire within seconds. */
  const nameOf = (key: string) => `tis:${source}:${key}`;
  const partOf = (key: string) => `{tis:${source}:${crc32(key) % PARTS}}`;
  const nameOfValue = (key: string) => `${partOf(key)}:${key}`;

  return {
    get(key) {
      const name = nameOfValue(key);
      return redis.trySendTo(name, (connection) => getBounded(connection, name, MAX_VALUE_BYTES), null);
    },
    set(key, value, ttlMs) {
      if (ttlMs <= 0) return;
      const name = nameOfValue(key);
      const bytes = Buffer.from(value);
      const keep = (connection: RedisConnection): Promise<unknown> => {
        if (maxBytes === null) return connection.set(name, bytes, 'PX', ttlMs);
        const part = partOf(key);
        const names: [string, string, string] = [name, `${part}:ages`, `${part}:sizes`];
        return keepBounded(connection, names, [bytes, ttlMs, Math.floor(maxBytes / PARTS)]);
      };
      redis.trySendTo(name, keep, null);
    },
    async lock(key, token, ttlMs) {
      const name = nameOf(key);
      return (await redis.trySendTo(name, (connection) => holdLock(connection, [name], [token, ttlMs]), 1)) === 1;
    },
    readLock(key) {
      const name = nameOf(key);
      return redis.trySendTo(name, (connection) => connection.getrange(name, 0, MAX_NOTE_BYTES - 1), '');
    },
    unlock(key, token, note) {
      const name = nameOf(key);
      const values: [string, string, number] = [token, note?.text ?? '', note?.ttlMs ?? 0];
      redis.trySendTo(name, (connection) => releaseLock(connection, [name], values), 0);
    },
  };
}
