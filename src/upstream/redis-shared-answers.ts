import { askOr } from '../redis/ask-or.ts';
import type { RedisConnection } from '../redis/connection.ts';
import { defineScript } from '../redis/script.ts';
import type { SharedRedis } from '../redis/shared-redis.ts';
import type { SharedStore } from './shared-store.ts';

const extendLock = defineScript<[lock: string], [token: string, ttlMs: number], number>(
  'extendLock',
  `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`,
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
 * Answers, verdicts and locks in Redis. Redis may evict any of them. While it is away, or refuses a command, nothing is
 * found, nothing is kept, and every lock is given: without Redis there is no other instance to share with.
 */
export function createRedisSharedAnswers(redis: SharedRedis, source: string): SharedStore {
  const nameOf = (key: string) => `tis:${source}:${key}`;

  const ask = <Answer, Otherwise>(
    name: string,
    command: (connection: RedisConnection) => Promise<Answer>,
    otherwise: Otherwise,
  ) => askOr(redis, name, command, otherwise);

  function get(key: string): Promise<Buffer | null> {
    const name = nameOf(key);
    return ask(name, (connection) => connection.getBuffer(name), null);
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
      const answer = await ask(name, (connection) => connection.set(name, token, 'PX', ttlMs, 'NX'), 'OK' as const);
      return answer === 'OK';
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
