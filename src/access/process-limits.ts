import type { ApiError } from '../errors/api-error.ts';
import { tooManyInShortTime, visitorTooFast } from '../errors/messages.ts';
import type { Caller } from './account.ts';
import type { BurstLimits } from './limits/burst-limits.ts';
import { createTokenBuckets } from './limits/token-buckets.ts';
import { PLANS } from './plan.ts';

/** The rate of one visitor of a page; a map requests a dozen things when it opens. */
const VISITOR_RATE = { perSecond: 5, burst: 30 };
/** Refunds for an account's failed requests, which may have cost upstream calls: at most 100 in any hour. Pro has no limit. */
const REFUND_RATE = { perSecond: 40 / 3600, burst: 60 };

export type ProcessLimits = ReturnType<typeof createProcessLimits>;

/** Short-term limits of an account in this process. */
export function createProcessLimits({ burstLimits, now }: { burstLimits: BurstLimits; now: () => number }) {
  const buckets = createTokenBuckets(now);
  /** Charged requests of each account that have no response yet. */
  const inFlight = new Map<string, number>();

  return {
    /**
     * The error for a request that is refused without being charged; null if it is not refused. `visitor` is given for
     * publishable keys and tokens: they have a bucket separate from the account's secret keys.
     */
    refusalOf({ plan, accountId }: Caller, visitor?: string): ApiError | null {
      const isShared = visitor !== undefined;
      if (isShared && !buckets.spend(`visitor ${visitor}`, VISITOR_RATE)) {
        const waitSeconds = buckets.waitSeconds(`visitor ${visitor}`, VISITOR_RATE);
        return visitorTooFast(VISITOR_RATE.perSecond, VISITOR_RATE.burst, waitSeconds);
      }
      const rate = burstLimits[plan];
      const name = isShared ? `shared ${accountId}` : accountId;
      if (!rate || buckets.spend(name, rate)) return null;
      return tooManyInShortTime({ plan: PLANS[plan].title, ...rate, waitSeconds: buckets.waitSeconds(name, rate) });
    },

    /** Adds to the account's charged requests without a response, or subtracts if negative. */
    countInFlight({ plan, accountId }: Caller, count: number): void {
      // Only a refusal by the daily limit uses it.
      if (PLANS[plan].dailyLimit === null) return;
      const before = inFlight.get(accountId) ?? 0;
      if (before + count > 0) inFlight.set(accountId, before + count);
      else inFlight.delete(accountId);
    },

    inFlightOf: ({ accountId }: Caller) => inFlight.get(accountId) ?? 0,

    /** How many of `count` failed requests are refunded. Failing calls cost as much as others, so refunds are limited. */
    refund({ plan, accountId }: Caller, count: number): number {
      // Without a daily limit a refund gains nothing but exact counts.
      if (PLANS[plan].dailyLimit === null) return count;
      let refunded = 0;
      while (refunded < count && buckets.spend(`refunds ${accountId}`, REFUND_RATE)) refunded++;
      return refunded;
    },
  };
}
