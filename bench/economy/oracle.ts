import { FRESHNESS_WINDOWS } from '#src/upstream/freshness-window.ts';
import type { Request } from './demand.ts';
import { stopsNear } from './network.ts';

/**
 * The fewest calls that can answer the day with nothing older than its fresh window, given full knowledge of the day and
 * an authority that answers at once: the number of distinct pairs of question and window, and one check for each stop
 * that is shown nearby before a request for its departures.
 */
export function countFewestCalls(demand: readonly Request[], stops: number): number {
  const freshUntil = new Map<string, number>();
  const known = new Set<number>();
  let calls = 0;

  function ask(question: string, at: number, freshMs: number): void {
    if (at < (freshUntil.get(question) ?? Number.NEGATIVE_INFINITY)) return;
    freshUntil.set(question, at + freshMs);
    calls++;
  }

  for (const request of demand) {
    if (request.kind === 'departures') {
      ask(`departures ${request.stop}`, request.at, FRESHNESS_WINDOWS.departuresNow.freshMs);
      known.add(request.stop);
    } else if (request.kind === 'trips') {
      ask(`trips ${request.from} ${request.to}`, request.at, FRESHNESS_WINDOWS.trips.freshMs);
    } else {
      ask(`nearby ${request.place}`, request.at, FRESHNESS_WINDOWS.nearby.freshMs);
      const unknown = stopsNear(request.place, stops).filter((stop) => !known.has(stop));
      for (const stop of unknown) known.add(stop);
      calls += unknown.length;
    }
  }
  return calls;
}
