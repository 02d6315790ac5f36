import { join } from 'node:path';
import { openEmbeddedStore } from './embedded-store.ts';
import { openRedisStore } from './redis-store.ts';
import type { AccountStore } from './store.ts';

/** Redis where there is one; otherwise a file in the data directory. */
export async function openStore(config: { redisUrls: readonly string[]; dataDir: string }): Promise<AccountStore> {
  if (config.redisUrls.length > 0) return openRedisStore(config.redisUrls);
  return openEmbeddedStore(join(config.dataDir, 'accounts.db'));
}
