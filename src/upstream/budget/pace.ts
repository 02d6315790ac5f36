/*
 * The day's calls are handed out evenly: a reserve at the start of the day, the rest as the day goes by. What is not
 * used carries over to the end of the day, so a quiet night pays for the morning, and no hour can take what belongs to
 * a later one. The day is the UTC day, as it is for the callers' own quotas.
 */

const DAY_MS = 24 * 60 * 60_000;
/** Half an hour's share, and never so little that a first look around would use it up. */
const RESERVE_SHARE = 1 / 48;
const MIN_RESERVE = 20;

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

/** What to count as spent when nobody knows: everything but the reserve. A restart must not spend the morning twice. */
export function presumedSpent(now: number, dailyBudget: number): number {
  return Math.floor(allowance(now, dailyBudget) - reserveOf(dailyBudget));
}

/** How full the reserve is: 1 is full, above it something was carried over, 0 is nothing left for now. */
export function reserveFill(now: number, dailyBudget: number, spent: number): number {
  return (allowance(now, dailyBudget) - spent) / reserveOf(dailyBudget);
}

/** How many calls may have been made by now for one more to leave `floor` of the reserve untouched. */
export function spendLimit(now: number, dailyBudget: number, floor: number): number {
  return Math.floor(allowance(now, dailyBudget) - floor * reserveOf(dailyBudget));
}

/** Milliseconds until the reserve has grown back to `floor`; infinite when the day hands out nothing more. */
export function waitForFloor(now: number, dailyBudget: number, spent: number, floor: number): number {
  const missing = spent + 1 + floor * reserveOf(dailyBudget) - allowance(now, dailyBudget);
  const perMs = (dailyBudget - reserveOf(dailyBudget)) / DAY_MS;
  return missing <= 0 ? 0 : perMs > 0 ? missing / perMs : DAY_MS - (now % DAY_MS);
}

/** By how much freshness stretches, 1 to 4. `queueFill` is 1 when the queue for a call is as long as it may get. */
export function stretchFor(fill: number, queueFill: number): number {
  const scarcity = (STRETCH_FROM - fill) / (STRETCH_FROM - STRETCH_UNTIL);
  const pressure = Math.max(scarcity, (queueFill - QUEUE_STRETCH_FROM) / (1 - QUEUE_STRETCH_FROM));
  return 1 + (MAX_STRETCH - 1) * Math.min(1, Math.max(0, pressure));
}
