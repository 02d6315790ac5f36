import { z } from 'zod';
import type { Reach } from '../../journeys/reach.ts';
import { PRICES, routeOf } from '../../routes.ts';
import { toChoices } from '../../transit/choices.ts';
import { countChanges, destinationOf, type Journey, originOf } from '../../transit/journey.ts';
import { describe, type ProblemDetails } from '../../transit/parameter.ts';
import { formatPlace, stopListParameter } from '../../transit/place.ts';
import { count, field, flag, list, record, text } from '../../transit/schema.ts';
import { bestKnown, formatTimestamp, minutesBetween, timestampSchema } from '../../transit/time.ts';
import { defineOperation, requestedWallClock } from '../operation.ts';
import { DAY_PRICE } from '../price.ts';
import { stopReferenceSchema } from '../trips/response.ts';
import { COVERED, originQuery } from './operation.ts';

const MAX_DESTINATIONS = 10;
const timesQuery = z
  .object({
    ...originQuery.shape,
    to: describe(
      stopListParameter(MAX_DESTINATIONS),
      `The destinations, without the origin: up to ${MAX_DESTINATIONS} stop IDs separated by commas.`,
    ).meta({ examples: [['209573', '202210']] }),
  })
  .refine(({ from, to }) => !Array.isArray(to) || !to.includes(String(from)), {
    path: ['to'],
    message: 'must not include `from`',
    params: { isComplete: true } satisfies ProblemDetails,
    when: () => true,
  });

const timesResponse = record('TravelTimes', 'Travel times from one place to several stops.', {
  origin: stopReferenceSchema,
  retrieved_at: field(timestampSchema, 'Timestamp (UTC) of the oldest live data used'),
  destinations: list(
    record('TravelTime', 'The travel time to one destination.', {
      stop_id: text('As requested', '209573'),
      name: text('Stop name', 'Manly Wharf'),
      best: z
        .strictObject({
          departs_at: field(timestampSchema, 'Latest start for this arrival, best-known, UTC'),
          arrives_at: field(timestampSchema, 'Earliest arrival, best-known, UTC'),
          duration_minutes: count('Whole minutes from start to arrival', 47),
          changes: count('Number of changes between rides', 1),
          is_live: flag('Whether any ride is tracked'),
        })
        .nullable()
        .meta({ description: 'The journey that arrives first; null if there is none within a day' }),
    }),
    'In the order of `to`',
  ),
});

const exampleBody: z.infer<typeof timesResponse> = {
  origin: { stop_id: '200060', name: 'Central Station' },
  retrieved_at: '2026-11-20T02:00:12Z',
  destinations: [
    {
      stop_id: '209573',
      name: 'Manly Wharf',
      best: {
        departs_at: '2026-11-20T02:15:00Z',
        arrives_at: '2026-11-20T03:02:00Z',
        duration_minutes: 47,
        changes: 1,
        is_live: true,
      },
    },
    { stop_id: '202210', name: 'Bondi Junction Station', best: null },
  ],
};

/** `GET /v1/travel-times` */
export const createTimesOperation = ({ reach }: { reach: Reach }) =>
  defineOperation({
    ...routeOf('listTravelTimes'),
    tag: 'Journeys',
    summary: 'Travel times to several stops',
    description: `The journey that arrives first at each of up to ${MAX_DESTINATIONS} stops: duration, start, arrival and changes, without its legs. ${COVERED}\n\nCosts one request for each ${PRICES.destinationsOfOne} destinations or part of them. ${DAY_PRICE}.`,
    query: timesQuery,
    body: timesResponse,
    example: { query: 'from=200060&to=209573,202210', body: exampleBody },
    tool: {
      description:
        'How long it takes from one place to each of up to ten stops, with start, arrival and changes. To compare places, for instance where to live or meet. For the rides of a journey use planTrips.',
    },

    async handle({ from, to, date, time, modes, wheelchair, ...query }, { turn, now }) {
      const at = requestedWallClock({ date, time }, now());
      const { name, destinations, freshness } = await reach.times(
        { from, to, at, modes, isAccessible: wheelchair, choices: toChoices(query) },
        turn,
      );
      return {
        body: {
          origin: { stop_id: formatPlace(from), name: name ?? formatPlace(from) },
          retrieved_at: formatTimestamp(freshness.retrievedAt),
          destinations: destinations.map((destination) => ({
            stop_id: destination.stopId,
            name: destination.name,
            best: destination.journey && summarise(destination.journey),
          })),
        },
        freshness,
        journeys: { source: 'timetable' },
      };
    },
  });

function summarise(journey: Journey) {
  const [start, end] = [bestKnown(originOf(journey)), bestKnown(destinationOf(journey))];
  return {
    departs_at: formatTimestamp(start),
    arrives_at: formatTimestamp(end),
    duration_minutes: minutesBetween(start, end),
    changes: countChanges(journey),
    is_live: journey.legs.some(({ isLive }) => isLive),
  };
}
