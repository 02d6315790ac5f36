import { DAY_MS, MINUTE_MS, SECOND_MS } from '../clock.ts';
import type { CallPurpose } from '../efa/ask.ts';
import type { FreshnessClass } from '../efa/request.ts';

/** The two numbers of `Cache-Control: max-age, stale-if-error`. */
export interface FreshnessWindow {
  /** The response is fresh for so long; for longer when calls are short. */
  freshMs: number;
  /** It may be served stale for so long after `freshMs`, however long it was fresh. */
  staleMs: number;
  /** When calls are short, `freshMs` is multiplied by no more than this; by as much as calls are short unless given. */
  maxStretch?: number;
}

export const FRESHNESS_WINDOWS: Readonly<Record<FreshnessClass, FreshnessWindow>> = {
  departuresNow: { freshMs: 15 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  departuresAtTime: { freshMs: 60 * SECOND_MS, staleMs: 10 * MINUTE_MS },
  trips: { freshMs: 30 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  notices: { freshMs: 2 * MINUTE_MS, staleMs: 15 * MINUTE_MS },
  nearby: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
  search: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
};

/** Beside boards from the realtime feeds, one from the departure monitor is no older than they are: 45 seconds. */
const BOARD_BESIDE_FEEDS: FreshnessWindow = { ...FRESHNESS_WINDOWS.departuresNow, maxStretch: 3 };

export function windowOf(freshnessClass: FreshnessClass, purpose?: CallPurpose): FreshnessWindow {
  const isBoard = purpose === 'board' && freshnessClass === 'departuresNow';
  return isBoard ? BOARD_BESIDE_FEEDS : FRESHNESS_WINDOWS[freshnessClass];
}

/** `stretch`, from 1 to 4, makes responses stay fresh longer when calls are short. */
export function freshUntil(retrievedAt: number, window: FreshnessWindow, stretch: number): number {
  const { freshMs, maxStretch = stretch } = window;
  return retrievedAt + freshMs * Math.min(stretch, maxStretch);
}

export function staleUntil(retrievedAt: number, { freshMs, staleMs }: FreshnessWindow): number {
  return retrievedAt + freshMs + staleMs;
}
