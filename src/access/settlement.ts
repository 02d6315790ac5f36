import type { Presence } from '../redis/presence.ts';
import { UnavailableError } from '../redis/unavailable-error.ts';
import type { PendingCounts } from './pending-counts.ts';

/** Sends pending counts to the store. */
export interface Settlement {
  /** Soon, together with others; while the store is away, as soon as it is back. */
  schedule(): void;
  /** Now. Whether the store knows all that is counted here for the account. */
  settle(accountId: string): Promise<boolean>;
  /** Tries for two seconds more. Resolves with the number of accounts of which the store does not know all. */
  close(): Promise<number>;
}

const SETTLE_EVERY_MS = 100;
/** After the store, which answers, has refused a count. */
const RETRY_AFTER_MS = 1000;
/** A store that did not answer for a moment must not cost the counts of a process that ends. */
const LAST_TRIES_MS = 2000;

export function createSettlement(pending: PendingCounts, presence: Presence): Settlement {
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function schedule(afterMs = SETTLE_EVERY_MS): void {
    if (!isClosed) timer ??= setTimeout(settleAll, afterMs).unref();
  }

  async function settleAll(): Promise<void> {
    const reachable = pending.accounts().filter((accountId) => !presence.isAway(accountId));
    const outcomes = await Promise.all(
      reachable.map(async (accountId) => (await settle(accountId)) || presence.isAway(accountId)),
    );
    timer = null;
    if (pending.accounts().length > 0) schedule(outcomes.includes(false) ? RETRY_AFTER_MS : SETTLE_EVERY_MS);
  }

  async function settle(accountId: string): Promise<boolean> {
    if (presence.isAway(accountId)) return false;
    try {
      await pending.settle(accountId);
      return true;
    } catch (error) {
      if (error instanceof UnavailableError) return false;
      throw error;
    }
  }

  return {
    schedule: () => schedule(),
    settle,
    async close() {
      isClosed = true;
      if (timer) clearTimeout(timer);
      for (let waitedMs = 0; ; waitedMs += SETTLE_EVERY_MS) {
        await settleAll();
        const left = pending.accounts().length;
        if (left === 0 || waitedMs >= LAST_TRIES_MS) return left;
        await new Promise((resolve) => setTimeout(resolve, SETTLE_EVERY_MS));
      }
    },
  };
}
