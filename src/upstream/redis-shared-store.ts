import { askOr } from '../redis/ask-or.ts';
import { getBounded, type RedisConnection } from '../redis/connection.ts';
import { defineScript } from '../redis/script.ts';
import type { SharedRedis } from '../redis/shared-redis.ts';
import type { SharedStore } from './shared-store.ts';

/** Larger values are not ours: the largest answer of the authority takes less, compressed. */
const MAX_VALUE_BYTES = 4 * 1024 * 1024;
const MAX_NOTE_BYTES = 4096;

const extendLock = defineScript<[lock: string], [token: string, ttlMs: number], number>(
  'extendLock',
  `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`,
);

/** Gives a lock without an expiry one. Nobody extends such a lock: it would be held for ever. */
const readLock = defineScript<[lock: string], [ttlMs: number, maxBytes: number], string>(
  'readLock',
  `
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return redis.call('GETRANGE', KEYS[1], 0, ARGV[2] - 1)`,
);

/** A note takes the place of the lock for a while. */
const releaseLock = defineScript<[lock: string], [token: string, note: string, noteTtlMs: number], number>(
  'releaseLock',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`,
);

/**
 * Responses, verdicts and locks in Redis. Redis may evict any of them. While it is away, or refuses a command, nothing is
 * found, nothing is kept, and every lock is given: without Redis there is no other instance to share with.
 */
export function createRedisSharedStore(redis: SharedRedis, source: string): SharedStore {
  const nameOf = (key: string) => `tis:${source}:${key}`;

  const ask = <Answer, Otherwise>(
    name: string,
    command: (connection: RedisConnection) => Promise<Answer>,
    otherwise: Otherwise,
  ) => askOr(redis, name, command, otherwise);

  function get(key: string): Promise<Buffer | null> {
    const name = nameOf(key);
    return ask(name, (connection) => getBounded(connection, name, MAX_VALUE_BYTES), null);
  }

  return {
    get,
    // Not MGET: the keys of one command would have to be on one node of a cluster.
    getMany: (keys) => Promise.all(keys.map(get)),
    set(key, value, ttlMs) {
      const name = nameOf(key);
      if (ttlMs > 0) ask(name, (connection) => connection.set(name, value, 'PX', ttlMs), null);
    },
    async lock(key, token, ttlMs) {
      const name = nameOf(key);
      const response = await ask(name, (connection) => connection.set(name, token, 'PX', ttlMs, 'NX'), 'OK' as const);
      return response === 'OK';
    },
    readLock(key, ttlMs) {
      const name = nameOf(key);
      return ask(name, (connection) => readLock(connection, [name], [ttlMs, MAX_NOTE_BYTES]), '');
    },
    extend(key, token, ttlMs) {
      const name = nameOf(key);
      ask(name, (connection) => extendLock(connection, [name], [token, ttlMs]), 0);
    },
    unlock(key, token, note) {
      const name = nameOf(key);
      const values: [string, string, number] = [token, note?.text ?? '', note?.ttlMs ?? 0];
      ask(name, (connection) => releaseLock(connection, [name], values), 0);
    },
  };
}
