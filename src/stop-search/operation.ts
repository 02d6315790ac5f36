import type { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { findByName, type KnownStops } from './by-name.ts';
import { mapSearchResults, stopSearchResponse, toSearchResult } from './map.ts';
import { stopSearchQuery } from './query.ts';

const exampleBody: z.infer<typeof stopSearchResponse> = {
  query: 'town hall',
  results: [
    {
      stop_id: '200070',
      name: 'Town Hall Station, Sydney',
      suburb: 'Sydney',
      lat: -33.873844,
      lng: 151.206956,
      modes: ['train', 'lightrail'],
    },
  ],
};

/** `GET /v1/stops/search` */
export const createStopSearchOperation = (known: KnownStops) =>
  defineOperation({
    id: 'searchStops',
    path: '/v1/stops/search',
    tag: 'Stops',
    summary: 'Stops by name',
    description:
      'Stops whose name matches, the best match first. Only real stops: no streets, suburbs or points of interest. Where the authority has fewer than three, stops with similar names follow: typos, missing blanks and abbreviations are forgiven.',
    query: stopSearchQuery,
    body: stopSearchResponse,
    errors: [],
    example: { query: 'q=town%20hall', body: exampleBody },
    tool: {
      description:
        'Stops whose name matches a text, the best match first, typos forgiven; its `stop_id` is what the other tools take. It finds stations, wharves and bus stops, no addresses, suburbs or sights: search for the name of a stop, or use getNearbyStops with a position.',
    },

    find: (query, context) =>
      findByName(query, context, {
        known,
        read: (payload) => mapSearchResults(payload, known.stops, query.near),
        idOf: ({ stop_id }) => stop_id,
        toHit: toSearchResult,
        areStops: true,
      }),
  });
