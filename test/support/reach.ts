import type { Reach } from '#src/journeys/reach.ts';

/** A timetable in which nothing is reached from any place. */
export function emptyReach(now: number): Reach {
  const freshness = {
    retrievedAt: now,
    freshUntil: now,
    staleUntil: now,
    source: 'cache' as const,
    shortage: null,
  };
  return {
    search: async () => ({ name: null, departsAt: now, stations: [], total: 0, area: null, freshness }),
    times: async ({ to }) => ({
      name: null,
      destinations: to.map((stopId) => ({ stopId, name: stopId, journey: null })),
      freshness,
    }),
  };
}
