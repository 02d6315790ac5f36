/**
 * The daily limit counts requests of a UTC day; null is unlimited. When calls of the transport authority are scarce,
 * requests of a higher priority come first.
 */
export const PLANS = {
  free: { title: 'Free', dailyLimit: 1000, priority: 'low' },
  developer: { title: 'Developer', dailyLimit: 50_000, priority: 'normal' },
  pro: { title: 'Pro', dailyLimit: null, priority: 'high' },
} as const satisfies Record<string, PlanTerms>;

interface PlanTerms {
  title: string;
  dailyLimit: number | null;
  priority: 'low' | 'normal' | 'high';
}

export type Plan = keyof typeof PLANS;

export function isPlan(text: string): text is Plan {
  return Object.hasOwn(PLANS, text);
}
