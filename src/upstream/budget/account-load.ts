import { LRUCache } from 'lru-cache';
import { NO_ACCOUNT } from './ticket.ts';

/** How many calls of the authority each account caused of late. */
export interface AccountLoad {
  /** Counts a call. */
  note(account: string): void;
  /** The account's share of the calls, 0 to 1. */
  shareOf(account: string): number;
}

/** A call counts less and less, after an hour about a third. */
const FADING_MS = 60 * 60_000;
const MAX_ACCOUNTS = 10_000;

interface Count {
  calls: number;
  at: number;
}

/** In the memory of the process, for at most 10,000 accounts: the one that has caused no call for longest is forgotten. */
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
