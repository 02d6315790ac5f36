import type { Rate } from './limits/token-buckets.ts';

/**
 * The daily limit counts requests of a UTC day; `rate` limits the requests that an account makes in a short time, in each
 * process; null is unlimited. `streams` may be open at once on each instance. When calls of the transport authority are
 * scarce, requests of a higher priority come first.
 */
export const PLANS = {
  free: { title: 'Free', dailyLimit: 1000, rate: { perSecond: 10, burst: 60 }, streams: 10, priority: 'low' },
  developer: {
    title: 'Developer',
    dailyLimit: 50_000,
    rate: { perSecond: 50, burst: 300 },
    streams: 100,
    priority: 'normal',
  },
  pro: { title: 'Pro', dailyLimit: null, rate: null, streams: 1000, priority: 'high' },
} as const satisfies Record<string, PlanTerms>;

interface PlanTerms {
  title: string;
  dailyLimit: number | null;
  rate: Rate | null;
  streams: number;
  priority: 'low' | 'normal' | 'high';
}

export type Plan = keyof typeof PLANS;

export function isPlan(text: string): text is Plan {
  return Object.hasOwn(PLANS, text);
}
