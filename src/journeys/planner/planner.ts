import { ApiError } from '../../errors/api-error.ts';
import { timetableNeeded } from '../../errors/messages.ts';
import type { StopLookup } from '../../stops/register.ts';
import { listChosen } from '../../transit/choices.ts';
import { freshnessOf } from '../../transit/freshness.ts';
import type { Journeys } from '../source.ts';
import { mapJourneys } from './map.ts';

/** Returns the trip planner as a source of journeys. `stops` supplies positions that a response lacks. */
export function plannerJourneys(stops: StopLookup): Journeys {
  return {
    async fetch(
      { via, choices, from, to, at, isArrival, modes, isAccessible, conditions, cancelled, mayBeNone },
      { queryUpstream },
    ) {
      const unknown = [...(via?.length ? ['via'] : []), ...listChosen(choices)];
      if (unknown.length > 0) throw timetableNeeded(unknown);
      const response = await queryUpstream({ kind: 'trip', from, to, at, isArrival, modes, isAccessible });
      const requested = { from, to, at, conditions, cancelled };
      const mapped = await mapJourneys(response.payload, requested, stops).catch((error) => {
        // The error says why there are no journeys. Callers that accept none get an empty list.
        if (mayBeNone && error instanceof ApiError && error.statusCode < 500) return { journeys: [], leftOut: {} };
        throw error;
      });
      return { ...mapped, freshness: freshnessOf(response), origin: { source: 'planner' } };
    },
  };
}
