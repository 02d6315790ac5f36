import type { z } from 'zod';
import type { Operation } from '../http/operation.ts';
import { departuresResponse } from './departure.ts';
import { departuresQuery } from './query.ts';

const exampleBody: z.infer<typeof departuresResponse> = {
  stop_id: '200070',
  stop_name: 'Town Hall Station',
  retrieved_at: '2026-11-20T02:00:20Z',
  departures: [
    {
      route: 'T1',
      mode: 'train',
      destination: 'Berowra via Gordon',
      platform: 'Platform 3',
      scheduled_at: '2026-11-20T02:04:00Z',
      realtime_at: '2026-11-20T02:03:12Z',
      minutes_away: 2,
      is_live: true,
      wheelchair_accessible: true,
      occupancy: null,
      alerts: [
        'Station Update - Sydney: The northern entrance of Town Hall Station is closed for upgrades. Use the main entrance & allow extra time.',
      ],
    },
  ],
};

export const departuresOperation = {
  operationId: 'getDepartures',
  tags: ['Stops'],
  summary: 'What leaves one stop',
  description:
    'Live and scheduled departures of one stop, in the order in which they leave. Buses only unless `modes` says otherwise. Filters come first, `limit` last.\n\nCancelled departures are left out. A stop at which nothing leaves is answered with an empty list.',
  querystring: departuresQuery,
  response: { 200: departuresResponse },
  errors: ['DATE_OUT_OF_RANGE', 'STOP_NOT_FOUND'],
  example: { query: 'stop=200070&modes=all&limit=5', body: exampleBody },
} satisfies Operation;
