import { join } from 'node:path';
import type { PresenceLog } from '../../redis/presence.ts';
import type { SharedRedis } from '../../redis/shared-redis.ts';
import type { AccountStore, Closable, Register } from '../store.ts';
import { createEmbeddedAccounts } from './embedded-accounts.ts';
import { createEmbeddedCounter } from './embedded-counter.ts';
import { openDatabase } from './embedded-database.ts';
import { createFileLock } from './file-lock.ts';
import { openRedisAccounts } from './redis-accounts.ts';
import { createRedisCounter } from './redis-counter.ts';

const NO_LOG: PresenceLog = { info() {}, warn() {} };

/** The account store of the service: in Redis when there is one, otherwise in a file in the data directory. */
export function openStore(options: { redis: SharedRedis | null; dataDir: string; log: PresenceLog }): AccountStore {
  const { redis, dataDir, log } = options;
  if (redis) return { ...createRedisCounter(redis), ...openRedisAccounts(redis.urls) };
  return openEmbeddedStore(fileIn(dataDir), log);
}

/** The accounts and keys alone, for commands that serve no requests. */
export function openRegister(config: { redisUrls: readonly string[]; dataDir: string }): Register & Closable {
  if (config.redisUrls.length > 0) return openRedisAccounts(config.redisUrls);
  return openEmbeddedStore(fileIn(config.dataDir));
}

/** Accounts, keys and counts in one file on this machine. Any number of processes may have it open. */
export function openEmbeddedStore(path: string, log = NO_LOG): AccountStore {
  const database = openDatabase(path);
  const lock = createFileLock(database);
  const counter = createEmbeddedCounter(database, lock, log);
  return {
    ...counter,
    ...createEmbeddedAccounts(database, lock),
    async close() {
      counter.presence.close();
      database.close();
    },
  };
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'accounts.db');
}
