import { LRUCache } from 'lru-cache';
import { NO_ACCOUNT } from './ticket.ts';

/** How many recent calls of upstream each account caused. */
export interface AccountLoad {
  /** Counts a call for the account. */
  note(account: string): void;
  /** The account's share of all recent calls, 0 to 1. */
  shareOf(account: string): number;
}

/** A call counts less with time: after an hour about a third, after three hours a twentieth. */
const FADING_MS = 60 * 60_000;
const MAX_ACCOUNTS = 10_000;

interface Count {
  calls: number;
  at: number;
}

/**
 * Counts in the memory of this process for at most 10,000 accounts; the account with the oldest last call is dropped.
 */
export function createAccountLoad({ now }: { now: () => number }): AccountLoad {
  const counts = new LRUCache<string, Count>({ max: MAX_ACCOUNTS });
  let all: Count = { calls: 0, at: now() };

  const faded = ({ calls, at }: Count) => calls * Math.exp((at - now()) / FADING_MS);
  const oneMore = (count: Count) => ({ calls: faded(count) + 1, at: now() });

  return {
    note(account) {
      all = oneMore(all);
      if (account !== NO_ACCOUNT) counts.set(account, oneMore(counts.get(account) ?? { calls: 0, at: now() }));
    },
    shareOf(account) {
      const count = counts.peek(account);
      return count ? faded(count) / faded(all) : 0;
    },
  };
}
