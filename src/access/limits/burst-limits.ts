import { z } from 'zod';
import { forEachPlan, isPlan, PLAN_NAMES, PLANS, type Plan } from '../plan.ts';
import type { Rate } from './token-buckets.ts';

/** The burst limit of each plan; null means none. */
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
  `must be off, or requests per second and burst of some of the plans ` +
  `${new Intl.ListFormat('en-AU').format(PLAN_NAMES)}, such as ${EXAMPLE}`;

/** The variable `BURST_LIMITS`: `off`, or limits of some plans. Plans not named keep their limits. */
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
