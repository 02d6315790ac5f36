import { DAY_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';

/** The two numbers of `Cache-Control: max-age, stale-if-error`. */
export interface FreshnessWindow {
  /** The response is fresh for so long. */
  freshMs: number;
  /** It may be served stale for so long after that. */
  staleMs: number;
}

/**
 * The cache time of everything. What is made with feeds is fresh until the next poll (`freshUntil` of realtime/live-feeds.ts), and no
 * finished response is served from the cache beyond the minute (`validUntil` of operations/finished-response.ts).
 */
export const FRESHNESS_WINDOWS = {
  /** Responses of the trip planner. */
  departuresNow: { freshMs: 15 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  departuresAtTime: { freshMs: 60 * SECOND_MS, staleMs: 10 * MINUTE_MS },
  trips: { freshMs: 30 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  notices: { freshMs: 2 * MINUTE_MS, staleMs: 15 * MINUTE_MS },
  nearby: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
  search: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
  /** A run of the departure monitor: it is asked for again after so long. */
  run: { freshMs: 30 * SECOND_MS, staleMs: 3 * MINUTE_MS },
  /** Boards, runs and journeys of the timetable where no feed is laid over it. */
  timetable: { freshMs: MINUTE_MS, staleMs: 3 * MINUTE_MS },
  /** At most, because vehicles move. */
  vehicles: { freshMs: 30 * SECOND_MS, staleMs: MINUTE_MS },
  /** Stops that are known without a request: a caller looks for a newer list after a day. */
  stops: { freshMs: DAY_MS, staleMs: 7 * DAY_MS },
} as const satisfies Record<string, FreshnessWindow>;

/** How old a response is and how it came about. Moments in milliseconds since 1970. */
export interface Freshness {
  /** The moment at which upstream responded; that of the oldest of several responses. */
  retrievedAt: number;
  /** From here on the response is stale. */
  freshUntil: number;
  /** From here on it must not be served at all. */
  staleUntil: number;
  /** `upstream`: a call was made for it; `joined`: it shares the call of another request; `cache`: it was kept. */
  source: 'upstream' | 'joined' | 'cache';
  /** Why a stale response is served: calls are short (`busy`), or upstream fails. Null while fresh. */
  shortage: 'busy' | 'failing' | null;
}

const SOURCES = ['cache', 'joined', 'upstream'] as const;

/** The response's own freshness; a response without one came straight from upstream and is not kept. */
export function freshnessOf(response: { retrievedAt: Date; freshness?: Freshness }): Freshness {
  const moment = response.retrievedAt.getTime();
  if (response.freshness) return response.freshness;
  return { retrievedAt: moment, freshUntil: moment, staleUntil: moment, source: 'upstream', shortage: null };
}

/** The freshness of a response that is made of several: as old as the oldest, fresh until the first one goes stale. */
export function oldestOf(first: Freshness, ...others: Freshness[]): Freshness {
  const all = [first, ...others];
  return {
    retrievedAt: Math.min(...all.map(({ retrievedAt }) => retrievedAt)),
    freshUntil: Math.min(...all.map(({ freshUntil }) => freshUntil)),
    staleUntil: Math.min(...all.map(({ staleUntil }) => staleUntil)),
    source: SOURCES.findLast((source) => all.some((one) => one.source === source)) ?? 'upstream',
    shortage: all.find(({ shortage }) => shortage !== null)?.shortage ?? null,
  };
}
