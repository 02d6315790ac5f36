import { join } from 'node:path';
import type { Log } from '../../core/log.ts';
import type { SharedRedis } from '../../core/redis/shared-redis.ts';
import type { AccountStore, Accounts, QuotaStore, StoreKind } from '../store.ts';
import { createEmbeddedAccounts } from './embedded-accounts.ts';
import { FileLock, openDatabase } from './embedded-database.ts';
import { createEmbeddedQuota } from './embedded-quota.ts';
import { openRedisAccounts } from './redis-accounts.ts';
import { createRedisQuota } from './redis-quota.ts';

const NO_LOG: Log = { info() {}, warn() {} };

/** The service's account store: in Redis if configured, else in a file in the data directory. */
export function openStore(options: { redis: SharedRedis | null; dataDir: string; log: Log }): AccountStore {
  const { redis, dataDir, log } = options;
  if (redis) return { ...createRedisQuota(redis), ...openRedisAccounts(redis.urls) };
  return openEmbeddedStore(fileIn(dataDir), log);
}

/** Only accounts and keys, for commands that serve no requests. */
export function openAccounts(config: {
  redisUrls: readonly string[];
  dataDir: string;
}): Omit<AccountStore, keyof QuotaStore> {
  if (config.redisUrls.length > 0) return openRedisAccounts(config.redisUrls);
  return openEmbeddedStore(fileIn(config.dataDir));
}

/** Accounts, keys and counts in one local file, which several processes may open. */
export function openEmbeddedStore(path: string, log = NO_LOG): AccountStore {
  const database = openDatabase(path);
  const lock = new FileLock(database);
  const counter = createEmbeddedQuota(database, lock, log);
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

const KIND_DESCRIPTIONS: Readonly<Record<StoreKind, string>> = {
  real: 'accounts of a service with real data',
  sandbox: 'accounts of the sandbox',
};

/** The store belongs to the other kind of service; the message is for the operator. */
export class StoreKindError extends Error {
  override readonly name = 'StoreKindError';
}

/** Marks a new store with this kind. Throws `StoreKindError` if it has the other kind. */
export async function expectStoreKind(accounts: Accounts, kind: StoreKind): Promise<void> {
  expectKind(await accounts.loadKind(), kind);
  await accounts.markKind(kind);
  // Another process may have marked it first.
  expectKind(await accounts.loadKind(), kind);
}

function expectKind(storedKind: StoreKind | null, kind: StoreKind): void {
  if (storedKind === null || storedKind === kind) return;
  const name = kind === 'sandbox' ? 'the sandbox' : 'upstream';
  throw new StoreKindError(
    `The account store has ${KIND_DESCRIPTIONS[storedKind]}, but the responses of this service come from ${name}. ` +
      'Set REDIS_URL or DATA_DIR to a store of its own.',
  );
}
