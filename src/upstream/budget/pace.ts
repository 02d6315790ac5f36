import { DAY_MS } from '../../core/clock.ts';
import { PRIORITIES, type Priority } from '../../efa/ask.ts';

/*
 * Paces the calls of a UTC day, which is the day of upstream's quota. Feeds and files may use the whole day: what they need
 * until midnight is set aside. Requests get the rest: an hour's share when the day begins, the others evenly over the day.
 * Unused calls stay available until midnight.
 */

/** The limits of one upstream key. */
export interface Limits {
  /** Calls a second; infinite for no limit. */
  rps: number;
  /** Calls a UTC day. */
  dailyBudget: number;
  /** Calls of the day that feeds and files need; 0 unless given. */
  setAside?: number;
}

/** What requests may use before it is handed out: this share of their day. */
const AHEAD_SHARE = 1 / 24;

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

function aheadOf({ dailyBudget, setAside = 0 }: Limits): number {
  return (dailyBudget - setAside) * AHEAD_SHARE;
}

/** How many calls may have been made so far. `share` is the part of the calls ahead that may be used. */
function limitAt(now: number, limits: Limits, share: number): number {
  const { dailyBudget } = limits;
  const left = 1 - (now % DAY_MS) / DAY_MS;
  const ahead = aheadOf(limits);
  return Math.floor(dailyBudget - (dailyBudget - ahead) * left - ahead * (1 - share));
}

/** How many calls of the day may have been made. Each priority leaves a quarter of the calls ahead to the next one. */
export function spendLimit(now: number, limits: Limits, priority: Priority): number {
  if (priority === 'feed') return limits.dailyBudget;
  return limitAt(now, limits, (PRIORITIES.indexOf(priority) + 1) / 4);
}

/** A new process assumes that calls were made at the even pace before it began, so that restarts do not exceed the budget. */
export function presumedSpent(now: number, limits: Limits): number {
  return limitAt(now, limits, 0);
}

/** The share that is left of what requests may run ahead of the pace, 0 to 1. */
export function budgetLeft(now: number, limits: Limits, spent: number): number {
  return Math.min(1, Math.max(0, (spendLimit(now, limits, 'high') - spent) / aheadOf(limits)));
}

/** Milliseconds until the day allows one more call. */
export function waitForCall(now: number, limits: Limits, spent: number, priority: Priority): number {
  const untilMidnight = DAY_MS - (now % DAY_MS);
  if (spent + 1 > limits.dailyBudget) return untilMidnight;
  const missing = spent + 1 - spendLimit(now, limits, priority);
  return Math.min(untilMidnight, (Math.max(0, missing) * DAY_MS) / (limits.dailyBudget - aheadOf(limits)));
}
