import { GRACE_MS } from '../access/known-keys.ts';
import { Restrictions } from '../access/restrictions.ts';
import { sandboxKey } from '../access/sandbox-key.ts';
import type { AccountStore } from '../access/store.ts';
import { StoreOpenError } from '../access/stores/embedded-database.ts';
import { expectStoreKind, openStore, StoreKindError } from '../access/stores/open-store.ts';
import type { Log } from '../core/log.ts';
import type { SharedRedis } from '../core/redis/shared-redis.ts';
import { type Instruments, watchAdmissions } from '../extensions/telemetry/instruments.ts';
import { createStoreProbe } from '../http/readiness.ts';
import { orExit } from './process.ts';

const CLAIM_AGAIN_MS = 1000;

/** Opens the account store and loads the suspensions in it. Exits if the store belongs to the other kind of service (sandbox or real). */
export async function openAccounts(options: {
  redis: SharedRedis | null;
  dataDir: string;
  isSandbox: boolean;
  instruments: Instruments;
  now: () => number;
  log: Log<'info' | 'warn' | 'error'>;
}) {
  const { redis, dataDir, isSandbox, instruments, now, log } = options;
  const opened = orExit(() => openStore({ redis, dataDir, log }), { expected: StoreOpenError });
  const probe = createStoreProbe(() => opened.check(), { graceMs: GRACE_MS });
  const store: AccountStore = watchAdmissions(opened, instruments, probe.heard);
  let isOurs = false;

  /** Marks the store as one of the sandbox or of a real service. Retries while the store is unreachable or read-only. */
  async function claim(): Promise<void> {
    try {
      await expectStoreKind(store, isSandbox ? 'sandbox' : 'real');
      isOurs = true;
    } catch (error) {
      if (error instanceof StoreKindError) {
        process.stderr.write(`${error.message}\n`);
        process.exit(1);
      }
      setTimeout(claim, CLAIM_AGAIN_MS).unref();
    }
  }

  await claim();
  const restrictions = new Restrictions({ store, log });
  // If the store is unreachable, `follow` reads the restrictions as soon as it is back.
  if (isOurs) await restrictions.refresh();
  restrictions.follow();

  return {
    store,
    probe,
    restrictions,
    /** The sandbox's test key; null for a real service and while the account store is unreachable. */
    async testKey(kind?: 'pub'): Promise<string | null> {
      if (!isSandbox || !isOurs) return null;
      return sandboxKey(store, dataDir, now(), kind).catch((err: Error) => {
        log.warn({ reason: err.message }, 'no test key: the account store is unreachable');
        return null;
      });
    },
  };
}
