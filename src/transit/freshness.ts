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
