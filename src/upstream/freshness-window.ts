import { DAY_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import type { FreshnessClass } from '../efa/request.ts';

/** The two numbers of `Cache-Control: max-age, stale-if-error`. */
export interface FreshnessWindow {
  /** The response is fresh for so long. */
  freshMs: number;
  /** It may be served stale for so long after that. */
  staleMs: number;
}

export const FRESHNESS_WINDOWS: Readonly<Record<FreshnessClass, FreshnessWindow>> = {
  departuresNow: { freshMs: 15 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  departuresAtTime: { freshMs: 60 * SECOND_MS, staleMs: 10 * MINUTE_MS },
  trips: { freshMs: 30 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  notices: { freshMs: 2 * MINUTE_MS, staleMs: 15 * MINUTE_MS },
  nearby: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
  search: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
};

export function freshUntil(retrievedAt: number, { freshMs }: FreshnessWindow): number {
  return retrievedAt + freshMs;
}

export function staleUntil(retrievedAt: number, { freshMs, staleMs }: FreshnessWindow): number {
  return retrievedAt + freshMs + staleMs;
}
