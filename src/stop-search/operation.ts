import type { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { mapSearchResults, stopSearchResponse } from './map.ts';
import { stopSearchQuery, toStopSearchRequest } from './query.ts';

const exampleBody: z.infer<typeof stopSearchResponse> = {
  query: 'town hall',
  results: [
    { stop_id: '200070', name: 'Town Hall Station, Sydney', suburb: 'Sydney', lat: -33.873844, lng: 151.206956 },
  ],
};

/** `GET /v1/stops/search` */
export const stopSearchOperation = defineOperation({
  id: 'searchStops',
  path: '/v1/stops/search',
  tag: 'Stops',
  summary: 'Stops by name',
  description:
    'Stops whose name matches, the best match first. Only real stops: no streets, suburbs or points of interest.',
  query: stopSearchQuery,
  body: stopSearchResponse,
  errors: [],
  example: { query: 'q=town%20hall', body: exampleBody },
  tool: {
    description:
      'Stops whose name matches a text, the best match first; its `stop_id` is what the other tools take. It finds stations, wharves and bus stops, no addresses, suburbs or sights: search for the name of a stop, or use getNearbyStops with a position.',
  },

  async find(query, { ask }) {
    const response = await ask(toStopSearchRequest(query));
    const { results, leftOut } = await mapSearchResults(response.payload);
    const body = { query: query.q, results: results.slice(0, query.limit) };
    return { body, freshness: freshnessOf(response), leftOut };
  },
});
