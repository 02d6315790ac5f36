/*
 * The calls of a day are handed out evenly: a reserve at the start of the day, the rest as the day goes by. Calls that
 * are not made can be made later on the same day, so no hour uses up the calls of a later one, but for what may be made
 * in advance. The day is the UTC day, as it is for the quotas of accounts.
 */

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** The reserve is the share of half an hour, and at least 20 calls. */
const RESERVE_SHARE = 1 / 48;
const MIN_RESERVE = 20;
/** In the last hours of the day fewer and fewer calls are made in advance, so that some are left at its end. */
const ADVANCE_SHRINKS_MS = 6 * HOUR_MS;

const STRETCH_FROM = 0.8;
const STRETCH_UNTIL = 0.4;
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
  return reserve + ((dailyBudget - reserve) * (now % DAY_MS)) / DAY_MS;
}

/**
 * What a new process counts as spent before it began: all but the reserve, so that restarts do not exceed the budget.
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
export interface Claim {
  /** The part of the reserve that has to be left after the call. */
  floor: number;
  /** How many reserves of calls may be made in advance of the hours to come. */
  advance: number;
}

/** How many calls may have been made, this one included. */
export function spendLimit(now: number, dailyBudget: number, claim: Claim): number {
  const limit = allowance(now, dailyBudget) - lowestFill(now, claim) * reserveOf(dailyBudget);
  return Math.floor(Math.min(dailyBudget, limit));
}

function lowestFill(now: number, { floor, advance }: Claim): number {
  const restMs = DAY_MS - (now % DAY_MS);
  return floor - advance * Math.min(1, restMs / ADVANCE_SHRINKS_MS);
}

/** Milliseconds until there is a call again; until the end of the day when it hands out nothing more. */
export function waitForCall(now: number, dailyBudget: number, spent: number, claim: Claim): number {
  const missing = spent + 1 + lowestFill(now, claim) * reserveOf(dailyBudget) - allowance(now, dailyBudget);
  const perMs = (dailyBudget - reserveOf(dailyBudget)) / DAY_MS;
  return missing <= 0 ? 0 : perMs > 0 ? missing / perMs : DAY_MS - (now % DAY_MS);
}

/** By how much freshness is stretched, 1 to 4. `queueFill` is 1 when the line for a call is full. */
export function stretchFor(fill: number, queueFill: number): number {
  const scarcity = (STRETCH_FROM - fill) / (STRETCH_FROM - STRETCH_UNTIL);
  const pressure = Math.max(scarcity, (queueFill - QUEUE_STRETCH_FROM) / (1 - QUEUE_STRETCH_FROM));
  return 1 + (MAX_STRETCH - 1) * Math.min(1, Math.max(0, pressure));
}
