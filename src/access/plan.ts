import type { Rate } from './limits/token-buckets.ts';

/**
 * The plans from smallest to largest. `purpose` is shown in the plans table of the home page. `dailyLimit` counts requests per
 * quota day; `rate` is the short-term limit of an account in each process; null is unlimited. `streams` may be open at once on
 * each instance. When upstream calls are scarce, requests with a higher priority come first.
 */
export const PLANS = {
  free: {
    title: 'Free',
    purpose: 'Trying the API, or a display at home. You get the key by email at once.',
    dailyLimit: 1000,
    rate: { perSecond: 10, burst: 60 },
    streams: 10,
    priority: 'low',
  },
  developer: {
    title: 'Developer',
    purpose: 'An app in daily use.',
    dailyLimit: 50_000,
    rate: { perSecond: 50, burst: 300 },
    streams: 100,
    priority: 'normal',
  },
  pro: {
    title: 'Pro',
    purpose: 'Whatever you build.',
    dailyLimit: null,
    rate: null,
    streams: 1000,
    priority: 'high',
  },
} as const satisfies Record<
  string,
  {
    title: string;
    purpose: string;
    dailyLimit: number | null;
    rate: Rate | null;
    streams: number;
    priority: 'low' | 'normal' | 'high';
  }
>;

export type PlanName = keyof typeof PLANS;

export function isPlan(text: string): text is PlanName {
  return Object.hasOwn(PLANS, text);
}

export const PLAN_NAMES = Object.keys(PLANS).filter(isPlan);
const SMALLEST_PLAN = 'free' satisfies PlanName;

/**
 * The plan with this name. While instances are replaced one by one, an account may have a plan that only the newer version
 * knows: it is treated as the smallest plan, not refused.
 */
export function planFrom(name: string): PlanName {
  return isPlan(name) ? name : SMALLEST_PLAN;
}

export function forEachPlan<Value>(of: (plan: PlanName) => Value): Record<PlanName, Value> {
  return Object.fromEntries(PLAN_NAMES.map((plan) => [plan, of(plan)])) as Record<PlanName, Value>;
}
