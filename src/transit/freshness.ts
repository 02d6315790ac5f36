import { DAY_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';

/** Cache lifetimes: `max-age` and `stale-if-error` of `Cache-Control`. */
export interface FreshnessWindow {
  /** How long the response is fresh. */
  freshMs: number;
  /** How long it may be served stale after that. */
  staleMs: number;
}

/**
 * All cache times. Responses that use feeds are fresh until the next poll (`freshUntil` of realtime/live-feeds.ts). A finished
 * response is never served from the cache past the end of its minute (`validUntil` of operations/finished-response.ts).
 */
export const FRESHNESS_WINDOWS = {
  /** Responses of the trip planner. */
  departuresNow: { freshMs: 15 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  departuresAtTime: { freshMs: 60 * SECOND_MS, staleMs: 10 * MINUTE_MS },
  trips: { freshMs: 30 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  notices: { freshMs: 2 * MINUTE_MS, staleMs: 15 * MINUTE_MS },
  nearby: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
  search: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
  /** A run from the departure monitor. */
  run: { freshMs: 30 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  /** Boards, runs and journeys from the timetable, without feed data. */
  timetable: { freshMs: MINUTE_MS, staleMs: 3 * MINUTE_MS },
  /** An upper limit, because vehicles move. */
  vehicles: { freshMs: 30 * SECOND_MS, staleMs: MINUTE_MS },
  /** Stops, which are known without an upstream request. Callers should fetch a new list daily. */
  stops: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
} as const satisfies Record<string, FreshnessWindow>;

/** The age of a response and where it came from. Times are in milliseconds since 1970. */
export interface Freshness {
  /** When upstream responded; for a combined response, the oldest of these times. */
  retrievedAt: number;
  /** The response is stale from this time on. */
  freshUntil: number;
  /** The response must not be served from this time on. */
  staleUntil: number;
  /** `upstream`: a call was made for it; `joined`: it shares another request's call; `cache`: it was cached. */
  source: 'upstream' | 'joined' | 'cache';
  /** Why a stale response is served: calls are scarce (`busy`) or upstream fails (`failing`). Null while fresh. */
  shortage: 'busy' | 'failing' | null;
}

const SOURCES = ['cache', 'joined', 'upstream'] as const;

/** The response's own freshness. A response without one came straight from upstream and is not cached. */
export function freshnessOf({ retrievedAt, freshness }: { retrievedAt: number; freshness?: Freshness }): Freshness {
  const justRetrieved = { retrievedAt, freshUntil: retrievedAt, staleUntil: retrievedAt };
  return freshness ?? { ...justRetrieved, source: 'upstream', shortage: null };
}

/** The freshness of data that needs no upstream call: fresh for a window from now on. */
export function freshFrom(now: number, { freshMs, staleMs }: FreshnessWindow, retrievedAt = now): Freshness {
  const freshUntil = now + freshMs;
  return { retrievedAt, freshUntil, staleUntil: freshUntil + staleMs, source: 'cache', shortage: null };
}

/** The freshness of a response made from several: retrieved with the oldest, fresh until the first goes stale. */
export function oldestOf(first: Freshness, ...others: Freshness[]): Freshness {
  const all = [first, ...others];
  return {
    retrievedAt: Math.min(...all.map(({ retrievedAt }) => retrievedAt)),
    freshUntil: Math.min(...all.map(({ freshUntil }) => freshUntil)),
    staleUntil: Math.min(...all.map(({ staleUntil }) => staleUntil)),
    source: SOURCES.findLast((source) => all.some((freshness) => freshness.source === source)) ?? 'upstream',
    shortage: all.find(({ shortage }) => shortage !== null)?.shortage ?? null,
  };
}
