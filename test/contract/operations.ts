import { departuresResponse } from '#src/operations/departures/departure.ts';
import { nearbyResponse } from '#src/operations/nearby/operation.ts';
import { stopSearchResponse } from '#src/operations/stop-search/operation.ts';
import { tripsResponse } from '#src/operations/trips/response.ts';
import { coordResponse, departureMonitorResponse, stopFinderResponse, tripResponse } from './payloads.ts';

/** Four operations, each with a valid request, its upstream endpoint, a valid response of that endpoint and our schema. */
export const OPERATIONS = [
  {
    name: 'departures',
    url: '/v1/departures?stop=200020&modes=all',
    endpoint: 'departure_mon',
    response: departureMonitorResponse,
    schema: departuresResponse,
  },
  {
    name: 'nearby',
    url: '/v1/nearby?lat=-33.8613&lng=151.2108&modes=all',
    endpoint: 'coord',
    response: coordResponse,
    schema: nearbyResponse,
  },
  {
    name: 'stop search',
    url: '/v1/stops/search?q=manly',
    endpoint: 'stop_finder',
    response: stopFinderResponse,
    schema: stopSearchResponse,
  },
  {
    name: 'trips',
    url: '/v1/trips?from=202091&to=G2095102',
    endpoint: 'trip',
    response: tripResponse,
    schema: tripsResponse,
  },
] as const;

export type Operation = (typeof OPERATIONS)[number];

/** The valid response of each endpoint, as text. */
export const GOOD_ANSWERS: ReadonlyMap<string, string> = new Map(
  OPERATIONS.map(({ endpoint, response }) => [endpoint, JSON.stringify(response)]),
);

/** The last part of the path of an upstream request: "departure_mon", "coord", "stop_finder" or "trip". */
export function endpointOf(requestUrl: string): string {
  return requestUrl.split('?', 1)[0]?.split('/').at(-1) ?? '';
}

/** A board with the calls of each vehicle. */
const WITH_CALLS = JSON.stringify({
  ...departureMonitorResponse,
  stopEvents: departureMonitorResponse.stopEvents.map((event) => ({
    ...event,
    onwardLocations: [
      {
        id: '200030',
        isGlobalId: true,
        name: 'Martin Place Station, Sydney',
        disassembledName: 'Martin Place Station',
        type: 'stop',
        arrivalTimePlanned: '2026-04-15T08:00:00Z',
      },
    ],
  })),
});

/** Notices, which none of the operations above requests. */
const NOTICES = JSON.stringify({
  version: '10.6.21.17',
  infos: {
    current: [{ type: 'stopInfo', priority: 'normal', subtitle: 'Lift', affected: { stops: [{ id: '200020' }] } }],
  },
});
const NO_TRIP = JSON.stringify({ systemMessages: [{ type: 'error', module: 'BROKER', code: -4000, text: '' }] });

/** The valid response to a request, for its stop or position. */
export function goodAnswerTo(requestUrl: string): string {
  const endpoint = endpointOf(requestUrl);
  const query = new URL(requestUrl, 'http://upstream.test').searchParams;
  if (endpoint === 'add_info') return NOTICES;
  const isElsewhere = query.has('coord') && !query.get('coord')?.startsWith('151.2108:-33.8613:');
  if (isElsewhere) return JSON.stringify({ ...coordResponse, locations: [] });
  const positions = [query.get('name_origin'), query.get('name_destination')].filter((name) =>
    /^[^I]*:/.test(name ?? ''),
  );
  if (positions.some((name) => !/^151\.\d+:-33\.[89]/.test(name ?? ''))) return NO_TRIP;
  const sent = new Map([
    ['200020', query.get('name_dm')],
    ['202091', query.get('name_origin')],
    ['G2095102', query.get('name_destination')],
  ]);
  const isOfArrivals = endpoint === 'departure_mon' && query.get('depArrMacro') === 'arr';
  const board = query.has('includeCompleteStopSeq') ? WITH_CALLS : GOOD_ANSWERS.get(endpoint);
  const response = isOfArrivals ? (board ?? '').replaceAll('"departureTime', '"arrivalTime') : (board ?? '');
  return response.replaceAll(/"(G?\d+)"/g, (text, id) => JSON.stringify(sent.get(id) ?? JSON.parse(text)));
}
