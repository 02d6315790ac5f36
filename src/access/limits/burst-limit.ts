import { z } from 'zod';
import type { Caller } from '../admission.ts';
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
export interface BurstLimit {
  /** Counts one request; false when the account has made too many. */
  take(caller: Caller): boolean;
  /** The plan's rate, infinite where it has no limit, and the time until the next request may come. */
  termsOf(caller: Caller): Rate & { waitSeconds: number };
}

export function createBurstLimit(limits: BurstLimits, now: () => Date): BurstLimit {
  const buckets = new Map<Plan, TokenBuckets>();
  for (const plan of PLAN_NAMES) {
    const rate = limits[plan];
    if (rate) buckets.set(plan, createTokenBuckets(rate, now));
  }
  return {
    take: ({ plan, accountId }) => buckets.get(plan)?.take(accountId) ?? true,
    termsOf({ plan, accountId }) {
      const rate = limits[plan] ?? { perSecond: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY };
      return { ...rate, waitSeconds: buckets.get(plan)?.waitSeconds(accountId) ?? 1 };
    },
  };
}
