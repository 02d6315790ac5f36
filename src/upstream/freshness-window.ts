import type { FreshnessClass } from '../efa/question.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * For how long an answer is fresh, and for how long after that it may be served stale. They are the two numbers of
 * `Cache-Control: max-age, stale-if-error`.
 */
export interface FreshnessWindow {
  freshMs: number;
  staleMs: number;
}

export const FRESHNESS_WINDOWS: Readonly<Record<FreshnessClass, FreshnessWindow>> = {
  departuresNow: { freshMs: 15 * SECOND, staleMs: 3 * MINUTE },
  departuresAtTime: { freshMs: 60 * SECOND, staleMs: 10 * MINUTE },
  trips: { freshMs: 30 * SECOND, staleMs: 3 * MINUTE },
  nearby: { freshMs: 6 * HOUR, staleMs: 24 * HOUR },
  search: { freshMs: 24 * HOUR, staleMs: 7 * DAY },
};

/** `stretch`, from 1 to 4, makes answers stay fresh longer when calls are scarce. */
export function freshUntil(retrievedAt: number, { freshMs }: FreshnessWindow, stretch: number): number {
  return retrievedAt + freshMs * stretch;
}

export function staleUntil(retrievedAt: number, { freshMs, staleMs }: FreshnessWindow): number {
  return retrievedAt + freshMs + staleMs;
}
