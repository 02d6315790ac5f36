import type { z } from 'zod';
import type { Operation } from '../http/operation.ts';
import { tripsQuery } from './query.ts';
import { tripsResponse } from './response.ts';

const exampleBody: z.infer<typeof tripsResponse> = {
  origin: { stop_id: '202020', name: 'Domestic Airport Station' },
  destination: { stop_id: '209573', name: 'Manly Wharf' },
  retrieved_at: '2026-11-20T02:00:20Z',
  journeys: [
    {
      departs_at: '2026-11-20T02:08:00Z',
      arrives_at: '2026-11-20T03:02:00Z',
      departs_at_realtime: '2026-11-20T02:08:18Z',
      arrives_at_realtime: '2026-11-20T03:02:00Z',
      duration_minutes: 54,
      changes: 1,
      is_live: true,
      legs: [
        {
          mode: 'train',
          route: 'T8',
          line_name: 'T8 Airport & South Line',
          direction: 'City Circle via Museum',
          origin: {
            stop_id: '202091',
            name: 'Domestic Airport Station',
            platform: 'Platform 1',
            lat: -33.933605,
            lng: 151.180864,
            departs_at: '2026-11-20T02:08:00Z',
            departs_at_realtime: '2026-11-20T02:08:18Z',
          },
          destination: {
            stop_id: '2000351',
            name: 'Circular Quay',
            platform: 'Platform 1',
            lat: -33.861351,
            lng: 151.210295,
            arrives_at: '2026-11-20T02:28:00Z',
            arrives_at_realtime: '2026-11-20T02:28:06Z',
          },
          duration_minutes: 20,
          distance_metres: null,
          stops: 5,
          is_live: true,
          path: [
            [-33.933605, 151.180864],
            [-33.861351, 151.210295],
          ],
          alerts: [],
        },
        {
          mode: 'walk',
          route: null,
          line_name: null,
          direction: null,
          origin: {
            stop_id: '2000351',
            name: 'Circular Quay',
            platform: 'Platform 1',
            lat: -33.861351,
            lng: 151.210295,
            departs_at: '2026-11-20T02:28:00Z',
            departs_at_realtime: null,
          },
          destination: {
            stop_id: '2000216',
            name: 'Circular Quay',
            platform: 'Wharf 3, Side A',
            lat: -33.860747,
            lng: 151.211604,
            arrives_at: '2026-11-20T02:32:00Z',
            arrives_at_realtime: null,
          },
          duration_minutes: 4,
          distance_metres: 138,
          stops: 0,
          is_live: false,
          path: [
            [-33.861351, 151.210295],
            [-33.860747, 151.211604],
          ],
          alerts: [],
        },
        {
          mode: 'ferry',
          route: 'F1',
          line_name: 'F1 Manly',
          direction: 'Manly',
          origin: {
            stop_id: '2000216',
            name: 'Circular Quay',
            platform: 'Wharf 3, Side A',
            lat: -33.860747,
            lng: 151.211604,
            departs_at: '2026-11-20T02:40:00Z',
            departs_at_realtime: '2026-11-20T02:40:00Z',
          },
          destination: {
            stop_id: '20951',
            name: 'Manly Wharf',
            platform: 'Wharf 1',
            lat: -33.800459,
            lng: 151.283799,
            arrives_at: '2026-11-20T03:02:00Z',
            arrives_at_realtime: '2026-11-20T03:02:00Z',
          },
          duration_minutes: 22,
          distance_metres: null,
          stops: 0,
          is_live: true,
          path: [
            [-33.860747, 151.211604],
            [-33.800459, 151.283799],
          ],
          alerts: [],
        },
      ],
    },
  ],
};

export const tripsOperation = {
  operationId: 'planTrips',
  tags: ['Journeys'],
  summary: 'Journeys between two stops',
  description:
    'Journeys across all modes, with walks, platforms, real-time times and a polyline for each leg. When nothing joins the stops, the answer is 404 `NO_JOURNEYS_FOUND`, never an empty list.',
  querystring: tripsQuery,
  response: { 200: tripsResponse },
  errors: ['DATE_OUT_OF_RANGE', 'NO_JOURNEYS_FOUND', 'STOP_NOT_FOUND'],
  example: { query: 'from=202020&to=209573&limit=1', body: exampleBody },
} satisfies Operation;
