import { DAY_MS } from '../../core/clock.ts';
import { type Priority, rankOf } from '../../core/turn-queue.ts';

/**
 * Paces the calls of a UTC day, the period of upstream's quota. Feeds and files may use the whole budget, and the calls that
 * they need until midnight are reserved. Requests get the rest: an hour's share when the day begins, and the remainder evenly
 * over the day. Unused calls stay available until midnight.
 */

/** The limits of one upstream key. */
export interface Limits {
  /** Calls per second; Infinity for no limit. */
  rps: number;
  /** Calls per UTC day. */
  dailyBudget: number;
  /** Daily calls reserved for feeds and files; default 0. */
  setAside?: number;
}

/** The share of requests' daily calls available in advance. */
const AHEAD_SHARE = 1 / 24;

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

function callsInAdvance({ dailyBudget, setAside = 0 }: Limits): number {
  return (dailyBudget - setAside) * AHEAD_SHARE;
}

/** Calls allowed by now: those of the even pace, and this share of the calls available in advance. */
function limitAt(now: number, limits: Limits, share: number): number {
  const { dailyBudget } = limits;
  const restOfDay = 1 - (now % DAY_MS) / DAY_MS;
  const inAdvance = callsInAdvance(limits);
  return Math.floor(dailyBudget - (dailyBudget - inAdvance) * restOfDay - inAdvance * (1 - share));
}

/** Calls allowed by now for this priority. Each priority leaves a quarter of the calls in advance to the next higher one. */
export function spendLimit(now: number, limits: Limits, priority: Priority): number {
  if (priority === 'feed') return limits.dailyBudget;
  return limitAt(now, limits, (rankOf(priority) + 1) / 4);
}

/** Assumes that calls were made at the even pace before the process started, so that restarts do not exceed the budget. */
export function presumedSpent(now: number, limits: Limits): number {
  return limitAt(now, limits, 0);
}

/** The unused share of the calls in advance, 0 to 1. */
export function budgetLeft(now: number, limits: Limits, spent: number): number {
  return Math.min(1, Math.max(0, (spendLimit(now, limits, 'high') - spent) / callsInAdvance(limits)));
}

/** Milliseconds until the daily budget allows one more call. */
export function waitForCall(now: number, limits: Limits, spent: number, priority: Priority): number {
  const untilMidnight = DAY_MS - (now % DAY_MS);
  if (spent + 1 > limits.dailyBudget) return untilMidnight;
  const missing = spent + 1 - spendLimit(now, limits, priority);
  return Math.min(untilMidnight, (Math.max(0, missing) * DAY_MS) / (limits.dailyBudget - callsInAdvance(limits)));
}
