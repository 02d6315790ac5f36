import { sumLeftOut } from '../efa/record.ts';
import { defineOperation } from '../operation.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { formatTimestamp } from '../transit/time.ts';
import { exampleBody } from './example.ts';
import { findEndName } from './journey.ts';
import { mapJourneys } from './map.ts';
import { withPaths } from './path.ts';
import { toTripQuestion, tripsQuery } from './query.ts';
import { toJourneyBody, tripsResponse } from './response.ts';
import { selectJourneys } from './selection.ts';

/** `GET /v1/trips` */
export const tripsOperation = defineOperation({
  id: 'planTrips',
  path: '/v1/trips',
  tag: 'Journeys',
  summary: 'Journeys between two stops',
  description:
    'Journeys across all modes, with walks, platforms, real-time times and a polyline for each leg. Journeys with a cancelled leg are left out, unless `cancelled=include` asks for them. When nothing joins the stops, the answer is 404 `NO_JOURNEYS_FOUND`, never an empty list.',
  query: tripsQuery,
  body: tripsResponse,
  errors: ['DATE_OUT_OF_RANGE', 'NO_JOURNEYS_FOUND', 'STOP_NOT_FOUND'],
  example: { query: 'from=202020&to=209573&limit=1', body: exampleBody },
  toolDefaults: { limit: '3', path: 'none' },

  async find(query, { ask, now }) {
    const question = toTripQuestion(query, now());
    const answer = await ask(question);
    const { journeys, leftOut } = mapJourneys(answer.payload, { ...question, cancelled: query.cancelled });
    const selection = selectJourneys(journeys, { ...question, limit: query.limit });
    const body = {
      origin: { stop_id: query.from, name: findEndName(journeys, query.from, 'origin') },
      destination: { stop_id: query.to, name: findEndName(journeys, query.to, 'destination') },
      retrieved_at: formatTimestamp(answer.retrievedAt),
      journeys: selection.journeys.map((journey) => withPaths(toJourneyBody(journey, query), query.path)),
    };
    return { body, freshness: freshnessOf(answer), leftOut: sumLeftOut([leftOut, selection.leftOut]) };
  },
});
