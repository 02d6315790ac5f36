/** What an account may ask for in a UTC day; null is unlimited. */
export const PLANS = {
  free: { title: 'Free', dailyLimit: 1000 },
  developer: { title: 'Developer', dailyLimit: 50_000 },
  pro: { title: 'Pro', dailyLimit: null },
} as const satisfies Record<string, { title: string; dailyLimit: number | null }>;

export type Plan = keyof typeof PLANS;

export function isPlan(text: string): text is Plan {
  return Object.hasOwn(PLANS, text);
}
