import type { Caller } from '../admission.ts';
import { forEachPlan, PLANS, type Plan } from '../plan.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Bounds the work that fails, for each account and in this process: a failed request costs as much work as another. */
export interface FailureLimit {
  /** Counts a failed request, and tells how many of the requests that it counted as are given back. */
  note(caller: Caller, count: number): number;
  /** Whether so many requests failed in the last minute that the account has to wait. */
  isReached(caller: Caller): boolean;
  waitSeconds(caller: Caller): number;
}

export function createFailureLimit(now: () => Date): FailureLimit {
  const bucketsOf = (perPeriod: (plan: Plan) => number, seconds: number) =>
    forEachPlan((plan) => createTokenBuckets({ perSecond: perPeriod(plan) / seconds, burst: perPeriod(plan) }, now));
  const failures = bucketsOf((plan) => PLANS[plan].failuresAMinute, 60);
  const refunds = bucketsOf((plan) => PLANS[plan].refundsAnHour, 3600);

  return {
    note({ plan, accountId }, count) {
      failures[plan].take(accountId);
      let givenBack = 0;
      while (givenBack < count && refunds[plan].take(accountId)) givenBack++;
      return givenBack;
    },
    isReached: ({ plan, accountId }) => failures[plan].isEmpty(accountId),
    waitSeconds: ({ plan, accountId }) => failures[plan].waitSeconds(accountId),
  };
}
