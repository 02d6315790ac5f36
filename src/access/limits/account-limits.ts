import { z } from 'zod';
import type { Caller } from '../account.ts';
import { forEachPlan, isPlan, PLAN_NAMES, PLANS, type Plan } from '../plan.ts';
import { createTokenBuckets, type Rate, type TokenBuckets } from './token-buckets.ts';

/** The short-term limit of each plan; null is none. */
export type BurstLimits = Readonly<Record<Plan, Rate | null>>;

export const DEFAULT_BURST_LIMITS: BurstLimits = forEachPlan((plan) => PLANS[plan].rate);
export const NO_BURST_LIMITS: BurstLimits = forEachPlan(() => null);

/** `free:10/60` or `free:off` */
const LIMIT = /^(\w+):(?:(\d{1,6})\/(\d{1,6})|off)$/;

const EXAMPLE = PLAN_NAMES.map((plan) => {
  const { rate } = PLANS[plan];
  return `${plan}:${rate ? `${rate.perSecond}/${rate.burst}` : 'off'}`;
}).join();
const ALLOWED =
  `must be off, or the requests a second and at once of some of the plans ` +
  `${new Intl.ListFormat('en-AU').format(PLAN_NAMES)}, such as ${EXAMPLE}`;

/** The variable `BURST_LIMITS`: `off`, or the limits of some plans. A plan that is not named keeps its limit. */
export const burstLimits = z.string().transform((text, context): BurstLimits => {
  const limits = text.trim() === 'off' ? NO_BURST_LIMITS : readLimits(text);
  if (limits) return limits;
  context.issues.push({ code: 'custom', input: text, message: ALLOWED });
  return z.NEVER;
});

function readLimits(text: string): BurstLimits | null {
  const named = new Map<Plan, Rate | null>();
  for (const part of text.split(',')) {
    const [match, plan = '', perSecond, burst] = LIMIT.exec(part.trim()) ?? [];
    if (!match || !isPlan(plan) || named.has(plan)) return null;
    const rate = perSecond ? { perSecond: Number(perSecond), burst: Number(burst) } : null;
    if (rate && (rate.perSecond < 1 || rate.burst < 1)) return null;
    named.set(plan, rate);
  }
  return { ...DEFAULT_BURST_LIMITS, ...Object.fromEntries(named) };
}

/** Limits how many requests an account makes in a short time. Counts in this process only. */
export class BurstLimit {
  readonly #limits: BurstLimits;
  readonly #buckets: Record<Plan, TokenBuckets | null>;

  constructor(limits: BurstLimits, now: () => Date) {
    this.#limits = limits;
    this.#buckets = forEachPlan((plan) => limits[plan] && createTokenBuckets(limits[plan], now));
  }

  /** Counts one request; false when the account has made too many. */
  take({ plan, accountId }: Caller): boolean {
    return this.#buckets[plan]?.take(accountId) ?? true;
  }

  /** The same for a request with a key that others may read: whoever uses it leaves a quarter to the account's secret keys. */
  takeGranted({ plan, accountId }: Caller): boolean {
    return this.#buckets[plan]?.take(accountId, Math.floor((this.#limits[plan]?.burst ?? 0) / 4)) ?? true;
  }

  putBack({ plan, accountId }: Caller): void {
    this.#buckets[plan]?.putBack(accountId);
  }

  /** The plan's rate, infinite where it has no limit, and the time until the next request may come. */
  termsOf({ plan, accountId }: Caller): Rate & { waitSeconds: number } {
    const rate = this.#limits[plan] ?? { perSecond: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY };
    return { ...rate, waitSeconds: this.#buckets[plan]?.waitSeconds(accountId) ?? 1 };
  }
}

/** Bounds the work that fails, for each account and in this process: a failed request costs as much work as another. */
export class FailureLimit {
  readonly #failures: Record<Plan, TokenBuckets>;
  readonly #refunds: Record<Plan, TokenBuckets>;

  constructor(now: () => Date) {
    const bucketsOf = (perPeriod: (plan: Plan) => number, seconds: number) =>
      forEachPlan((plan) => createTokenBuckets({ perSecond: perPeriod(plan) / seconds, burst: perPeriod(plan) }, now));
    this.#failures = bucketsOf((plan) => PLANS[plan].failuresAMinute, 60);
    this.#refunds = bucketsOf((plan) => PLANS[plan].refundsAnHour, 3600);
  }

  /** Counts a failed request, and tells how many of the requests that it counted as are given back. */
  note({ plan, accountId }: Caller, count: number): number {
    this.#failures[plan].take(accountId);
    let givenBack = 0;
    while (givenBack < count && this.#refunds[plan].take(accountId)) givenBack++;
    return givenBack;
  }

  /** Whether so many requests failed in the last minute that the account has to wait. */
  isReached({ plan, accountId }: Caller): boolean {
    return this.#failures[plan].isEmpty(accountId);
  }

  waitSeconds({ plan, accountId }: Caller): number {
    return this.#failures[plan].waitSeconds(accountId);
  }
}
