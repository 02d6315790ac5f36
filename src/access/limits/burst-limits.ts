import { forEachPlan, PLANS, type PlanName } from '../plan.ts';
import type { Rate } from './token-buckets.ts';

/** The burst limit of each plan; null means none. */
export type BurstLimits = Readonly<Record<PlanName, Rate | null>>;

export const DEFAULT_BURST_LIMITS: BurstLimits = forEachPlan((plan) => PLANS[plan].rate);
export const NO_BURST_LIMITS: BurstLimits = forEachPlan(() => null);
