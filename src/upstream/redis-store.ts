import type { Cluster, Redis } from 'ioredis';
import type { RedisGuard } from './redis-guard.ts';
import type { SharedStore } from './shared-store.ts';

/** Answers, verdicts and locks in Redis. It may evict what it likes: everything here can be had again. */
export function createRedisStore(connection: Redis | Cluster, guard: RedisGuard, source: string): SharedStore {
  const named = (key: string) => `tis:${source}:${key}`;
  return {
    get: (key) => guard.run(() => connection.getBuffer(named(key)), null),
    getMany(keys) {
      // One by one, in one go: the keys of one command would have to be on one node of a cluster.
      const read = (key: string) => guard.run(() => connection.getBuffer(named(key)), null);
      return Promise.all(keys.map(read));
    },
    set(key, value, ttlMs) {
      if (ttlMs > 0) guard.run(() => connection.set(named(key), value, 'PX', ttlMs), null);
    },
    async lock(key, token, ttlMs) {
      // Who cannot ask has nobody to share with.
      const answer = await guard.run(() => connection.set(named(key), token, 'PX', ttlMs, 'NX'), 'OK' as const);
      return answer === 'OK';
    },
    extend(key, token, ttlMs) {
      guard.run(() => connection.extendLock(named(key), token, ttlMs), 0);
    },
    unlock(key, token, note) {
      guard.run(() => connection.releaseLock(named(key), token, note?.text ?? '', note?.ttlMs ?? 0), 0);
    },
  };
}
