import type { z } from 'zod';
import type { Operation } from '../http/operation.ts';
import { stopSearchQuery } from './query.ts';
import { stopSearchResponse } from './search-result.ts';

const exampleBody: z.infer<typeof stopSearchResponse> = {
  query: 'town hall',
  results: [
    { stop_id: '200070', name: 'Town Hall Station, Sydney', suburb: 'Sydney', lat: -33.873844, lng: 151.206956 },
  ],
};

export const stopSearchOperation = {
  operationId: 'searchStops',
  tags: ['Stops'],
  summary: 'Stops by name',
  description:
    'Stops whose name matches, the best match first. Only real stops: no streets, suburbs or points of interest.',
  querystring: stopSearchQuery,
  response: { 200: stopSearchResponse },
  errors: [],
  example: { query: 'q=town%20hall', body: exampleBody },
} satisfies Operation;
