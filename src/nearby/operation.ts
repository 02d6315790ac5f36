import type { z } from 'zod';
import type { Operation } from '../http/operation.ts';
import { nearbyResponse } from './nearby-stop.ts';
import { nearbyQuery } from './query.ts';

const exampleBody: z.infer<typeof nearbyResponse> = {
  location: { lat: -33.8731, lng: 151.2069 },
  stops: [
    {
      stop_id: '200070',
      name: 'Town Hall Station, Sydney',
      distance_metres: 51,
      lat: -33.873552,
      lng: 151.206801,
      modes: ['train', 'lightrail', 'bus'],
      routes: [],
    },
    {
      stop_id: '2000171',
      name: 'QVB, Sydney',
      distance_metres: 132,
      lat: -33.871969,
      lng: 151.206475,
      modes: ['lightrail', 'bus'],
      routes: [],
    },
  ],
};

export const nearbyOperation = {
  operationId: 'getNearbyStops',
  tags: ['Stops'],
  summary: 'Stops around a place',
  description:
    'Stops around a coordinate, the nearest first. Stops of buses only unless `modes` says otherwise. Stops at which nothing departs any more are left out.',
  querystring: nearbyQuery,
  response: { 200: nearbyResponse },
  errors: [],
  example: { query: 'lat=-33.8731&lng=151.2069&radius=300&modes=all', body: exampleBody },
} satisfies Operation;
