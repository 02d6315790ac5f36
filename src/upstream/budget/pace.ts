import { DAY_MS, HOUR_MS } from '../../clock.ts';
import type { Priority } from '../../efa/ask.ts';

/*
 * The calls of a day are handed out as the day goes by, after a reserve at its start: few in Sydney's night, most in its
 * morning. Calls that are not made can be made later on the same day, so no hour uses up the calls of a later one, but
 * for what may be made in advance. The day is the UTC day, as it is for the quotas of accounts.
 */

/**
 * How many calls an hour hands out, relative to the others. Sydney is 10 or 11 hours ahead of UTC: its night ends with the
 * 19th hour of the UTC day, and its morning, when the pages of all stops are asked for, is the end of that day.
 */
const PERIODS = [
  { fromHour: 0, untilHour: 13, weight: 1 },
  { fromHour: 13, untilHour: 19, weight: 0.4 },
  { fromHour: 19, untilHour: 24, weight: 1.3 },
] as const;
const WEIGHT_OF_DAY = PERIODS.reduce(
  (sum, { fromHour, untilHour, weight }) => sum + weight * (untilHour - fromHour),
  0,
);
/** The reserve is the share of half an hour of an even day, and at least 20 calls. */
const RESERVE_SHARE = 1 / 48;
const MIN_RESERVE = 20;
/** In the last hours of the day fewer and fewer calls are made in advance, so that some are left at its end. */
const ADVANCE_SHRINKS_MS = 6 * HOUR_MS;

/**
 * Between which parts of the reserve freshness is stretched. For Pro it begins below what other plans may use (`reserve-limits.ts`):
 * nothing that they ask for makes its responses older.
 */
const STRETCH = { others: { from: 0.8, until: 0.4 }, high: { from: 0.26, until: 0.2 } } as const;
const QUEUE_STRETCH_FROM = 0.6;
const MAX_STRETCH = 4;

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

function reserveOf(dailyBudget: number): number {
  return Math.max(dailyBudget * RESERVE_SHARE, Math.min(dailyBudget, MIN_RESERVE));
}

/** How many calls the day has handed out by now. */
function allowance(now: number, dailyBudget: number): number {
  const reserve = reserveOf(dailyBudget);
  return reserve + (dailyBudget - reserve) * handedOut(now);
}

/** The part of the day's calls that has been handed out by now, 0 to 1. */
function handedOut(now: number): number {
  const hour = (now % DAY_MS) / HOUR_MS;
  const weights = PERIODS.map(
    ({ fromHour, untilHour, weight }) => weight * Math.max(0, Math.min(hour, untilHour) - fromHour),
  );
  return weights.reduce((sum, weight) => sum + weight) / WEIGHT_OF_DAY;
}

/** The part of the day's calls that a millisecond hands out at that moment. */
function handedOutPerMs(now: number): number {
  const hour = (now % DAY_MS) / HOUR_MS;
  const weight = PERIODS.find(({ untilHour }) => hour < untilHour)?.weight ?? 1;
  return weight / WEIGHT_OF_DAY / HOUR_MS;
}

/**
 * A new process counts all but the reserve as spent before it began, so that restarts do not exceed the budget.
 */
export function presumedSpent(now: number, dailyBudget: number): number {
  return Math.floor(allowance(now, dailyBudget) - reserveOf(dailyBudget));
}

/**
 * How full the reserve is: 1 is full, more than 1 when calls were saved, 0 when no call is left for now, less than 0 when
 * calls were made in advance.
 */
export function reserveFill(now: number, dailyBudget: number, spent: number): number {
  return (allowance(now, dailyBudget) - spent) / reserveOf(dailyBudget);
}

/** How far a call may go with the calls of the day. */
export interface ReserveLimits {
  /** The part of the reserve that has to be left after the call. */
  floor: number;
  /** How many reserves of calls may be made in advance of the hours to come. */
  advance: number;
}

/** Whether a call that the stricter limits allow is allowed by the others too. */
export function isWithin(stricter: ReserveLimits, { floor, advance }: ReserveLimits): boolean {
  return stricter.floor >= floor && stricter.advance <= advance;
}

/** How many calls may have been made, this one included. */
export function spendLimit(now: number, dailyBudget: number, limits: ReserveLimits): number {
  const limit = allowance(now, dailyBudget) - lowestFill(now, limits) * reserveOf(dailyBudget);
  return Math.floor(Math.min(dailyBudget, limit));
}

function lowestFill(now: number, { floor, advance }: ReserveLimits): number {
  const restMs = DAY_MS - (now % DAY_MS);
  return floor - advance * Math.min(1, restMs / ADVANCE_SHRINKS_MS);
}

/**
 * Milliseconds until there is a call again, at the pace of the present hour; until the end of the day when it hands out
 * nothing more.
 */
export function waitForCall(now: number, dailyBudget: number, spent: number, limits: ReserveLimits): number {
  const missing = spent + 1 + lowestFill(now, limits) * reserveOf(dailyBudget) - allowance(now, dailyBudget);
  const perMs = (dailyBudget - reserveOf(dailyBudget)) * handedOutPerMs(now);
  return missing <= 0 ? 0 : perMs > 0 ? missing / perMs : DAY_MS - (now % DAY_MS);
}

/** By how much freshness is stretched for a plan, 1 to 4. `queueFill` is 1 when the line for a call is full. */
export function stretchFor(priority: Priority, fill: number, queueFill: number): number {
  const { from, until } = priority === 'high' ? STRETCH.high : STRETCH.others;
  const scarcity = (from - fill) / (from - until);
  const pressure = Math.max(scarcity, (queueFill - QUEUE_STRETCH_FROM) / (1 - QUEUE_STRETCH_FROM));
  return 1 + (MAX_STRETCH - 1) * Math.min(1, Math.max(0, pressure));
}
