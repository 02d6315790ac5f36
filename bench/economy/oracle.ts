import { FRESHNESS_WINDOWS } from '#src/transit/freshness.ts';
import type { Request } from './demand.ts';
import { stopsShownNear } from './real-places.ts';

/**
 * The fewest calls that can answer the day with nothing older than its freshness window, given full knowledge of the day and an
 * upstream that answers at once: the number of distinct pairs of request and window, plus one check for each stop shown nearby.
 * One list serves a whole cell of a kilometre.
 */
export function countFewestCalls(demand: readonly Request[]): number {
  const freshUntil = new Map<string, number>();
  const known = new Set<string>();
  let calls = 0;

  function send(request: string, at: number, freshMs: number): void {
    if (at < (freshUntil.get(request) ?? Number.NEGATIVE_INFINITY)) return;
    freshUntil.set(request, at + freshMs);
    calls++;
  }

  for (const request of demand) {
    if (request.kind === 'departures') {
      send(`departures ${request.stop}`, request.at, FRESHNESS_WINDOWS.departuresNow.freshMs);
    } else if (request.kind === 'trips') {
      const { from, to } = request;
      send(`trips ${JSON.stringify(from)} ${to}`, request.at, FRESHNESS_WINDOWS.trips.freshMs);
    } else if (request.kind === 'search') {
      send(`search ${request.text}`, request.at, FRESHNESS_WINDOWS.search.freshMs);
    } else {
      const { lat, lng } = request.place;
      send(`nearby ${Math.floor(lat * 111)} ${Math.floor(lng * 92)}`, request.at, FRESHNESS_WINDOWS.nearby.freshMs);
      const unknown = stopsShownNear(request.place).filter((stop) => !known.has(stop));
      for (const stop of unknown) known.add(stop);
      calls += unknown.length;
    }
  }
  return calls;
}
