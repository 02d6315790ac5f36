import { departuresResponse } from '#src/departures/departure.ts';
import { nearbyResponse } from '#src/nearby/nearby-stop.ts';
import { stopSearchResponse } from '#src/stop-search/search-result.ts';
import { tripsResponse } from '#src/trips/journey.ts';
import { coordAnswer, departureMonitorAnswer, stopFinderAnswer, tripAnswer } from './payloads.ts';

/** The four operations: a good request, the endpoint it leads to, that endpoint's good answer, our answer's schema. */
export const OPERATIONS = [
  {
    name: 'departures',
    url: '/v1/departures?stop=200020&modes=all',
    endpoint: 'departure_mon',
    answer: departureMonitorAnswer,
    schema: departuresResponse,
  },
  {
    name: 'nearby',
    url: '/v1/nearby?lat=-33.8613&lng=151.2108&modes=all',
    endpoint: 'coord',
    answer: coordAnswer,
    schema: nearbyResponse,
  },
  {
    name: 'stop search',
    url: '/v1/stops/search?q=manly',
    endpoint: 'stop_finder',
    answer: stopFinderAnswer,
    schema: stopSearchResponse,
  },
  {
    name: 'trips',
    url: '/v1/trips?from=202091&to=G2095102',
    endpoint: 'trip',
    answer: tripAnswer,
    schema: tripsResponse,
  },
] as const;

export type Operation = (typeof OPERATIONS)[number];

/** The good answer of each endpoint, as text. */
export const GOOD_ANSWERS: ReadonlyMap<string, string> = new Map(
  OPERATIONS.map(({ endpoint, answer }) => [endpoint, JSON.stringify(answer)]),
);

/** "departure_mon", "coord", "stop_finder" or "trip": the last part of the path that the authority is asked. */
export function endpointOf(requestUrl: string): string {
  return requestUrl.split('?', 1)[0]?.split('/').at(-1) ?? '';
}

/** The good answer to that request; a board is that of the stop asked for. */
export function goodAnswerTo(requestUrl: string): string | undefined {
  const stop = new URLSearchParams(requestUrl.split('?')[1]).get('name_dm') ?? '200020';
  return GOOD_ANSWERS.get(endpointOf(requestUrl))?.replaceAll('"200020"', JSON.stringify(stop));
}
