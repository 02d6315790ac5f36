/**
 * The daily limit counts requests of a UTC day; null is unlimited. `streams` may be open at once on each instance. When calls of the transport authority are scarce,
 * requests of a higher priority come first.
 */
export const PLANS = {
  free: { title: 'Free', dailyLimit: 1000, streams: 10, priority: 'low' },
  developer: { title: 'Developer', dailyLimit: 50_000, streams: 100, priority: 'normal' },
  pro: { title: 'Pro', dailyLimit: null, streams: 1000, priority: 'high' },
} as const satisfies Record<string, PlanTerms>;

interface PlanTerms {
  title: string;
  dailyLimit: number | null;
  streams: number;
  priority: 'low' | 'normal' | 'high';
}

export type Plan = keyof typeof PLANS;

export function isPlan(text: string): text is Plan {
  return Object.hasOwn(PLANS, text);
}
