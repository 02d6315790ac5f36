import type { ApiError } from '../errors/api-error.ts';
import { tooManyInShortTime, visitorTooFast } from '../errors/messages.ts';
import type { Caller } from './account.ts';
import type { BurstLimits } from './limits/burst-limits.ts';
import { createTokenBuckets } from './limits/token-buckets.ts';
import { PLANS } from './plan.ts';

/** The rate of one visitor of a page: a map that is opened asks for a dozen things at once. */
const VISITOR_RATE = { perSecond: 5, burst: 30 };
/** Failed requests of an account that are given back although they may have cost calls: at most a hundred in any hour. */
const REFUND_RATE = { perSecond: 40 / 3600, burst: 60 };

export type ProcessLimits = ReturnType<typeof createProcessLimits>;

/** What an account may do in a short time, in this process. */
export function createProcessLimits({ burstLimits, now }: { burstLimits: BurstLimits; now: () => Date }) {
  const buckets = createTokenBuckets(now);
  /** Requests of each account that are counted and have no response yet. */
  const inFlight = new Map<string, number>();

  return {
    /**
     * Why a request is refused that is not counted then; null when it is not. `visitor` is given where others may read the key,
     * or have a token: these requests have a bucket beside that of the account's secret keys.
     */
    refusalOf({ plan, accountId }: Caller, visitor?: string): ApiError | null {
      const isShared = visitor !== undefined;
      if (isShared && !buckets.take(`visitor ${visitor}`, VISITOR_RATE)) {
        const waitSeconds = buckets.waitSeconds(`visitor ${visitor}`, VISITOR_RATE);
        return visitorTooFast(VISITOR_RATE.perSecond, VISITOR_RATE.burst, waitSeconds);
      }
      const rate = burstLimits[plan];
      const name = isShared ? `shared ${accountId}` : accountId;
      if (!rate || buckets.take(name, rate)) return null;
      return tooManyInShortTime({ plan: PLANS[plan].title, ...rate, waitSeconds: buckets.waitSeconds(name, rate) });
    },

    /** Counts requests that are charged and have no response yet; fewer when negative. */
    noteInFlight({ accountId }: Caller, count: number): void {
      const before = inFlight.get(accountId) ?? 0;
      if (before + count > 0) inFlight.set(accountId, before + count);
      else inFlight.delete(accountId);
    },

    inFlightOf: ({ accountId }: Caller) => inFlight.get(accountId) ?? 0,

    /** How many of so many failed requests are given back. Failing calls cost as much as others, so there is a bound. */
    refund({ accountId }: Caller, count: number): number {
      let givenBack = 0;
      while (givenBack < count && buckets.take(`refunds ${accountId}`, REFUND_RATE)) givenBack++;
      return givenBack;
    },
  };
}
