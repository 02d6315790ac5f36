/*
 * How many of the runs that the departure monitor calls live are in the feed. When identifiers change their form, the
 * feed looks alive and says nothing of any departure; this is how that shows.
 */

const HALF_LIFE_MS = 10 * 60_000;
/** So many runs have to be compared before the rate counts. */
const MIN_COMPARED = 20;
const COLLAPSED_BELOW = 0.5;
const RECOVERED_FROM = 0.7;

/** Counts that halve every ten minutes. */
export interface MatchRate {
  found: number;
  compared: number;
  at: number;
  isCollapsed: boolean;
}

export const NOTHING_COMPARED: MatchRate = { found: 0, compared: 0, at: 0, isCollapsed: false };

/** Adds the runs of one response of the departure monitor: `found` of `compared` are in the feed. */
export function addMatches(rate: MatchRate, found: number, compared: number, now: number): MatchRate {
  const kept = 0.5 ** (Math.max(0, now - rate.at) / HALF_LIFE_MS);
  const sum = { found: rate.found * kept + found, compared: rate.compared * kept + compared };
  const share = sum.found / sum.compared;
  const isCollapsed = rate.isCollapsed ? share < RECOVERED_FROM : share < COLLAPSED_BELOW;
  return { ...sum, at: now, isCollapsed: sum.compared >= MIN_COMPARED ? isCollapsed : rate.isCollapsed };
}
