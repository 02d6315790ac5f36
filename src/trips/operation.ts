import { sumLeftOut } from '../efa/response/record.ts';
import { noJourneys } from '../errors/messages.ts';
import { defineOperation } from '../operation.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { formatPlace } from '../transit/place.ts';
import { formatTimestamp } from '../transit/time.ts';
import { nameEnd } from './ends.ts';
import { exampleBody } from './example.ts';
import { mapJourneys } from './map.ts';
import { listConditions, toTripRequest, tripsQuery } from './query.ts';
import { toJourneyBody, tripsResponse, withPaths } from './response.ts';
import { keepFitting, selectJourneys } from './selection.ts';

/** `GET /v1/trips` */
export const tripsOperation = defineOperation({
  id: 'planTrips',
  path: '/v1/trips',
  tag: 'Journeys',
  summary: 'Journeys between two places',
  description:
    'Journeys across all modes, with walks, platforms, real-time times and, as `path` asks, the geometry of each leg. Journeys with a cancelled leg are left out, unless `cancelled=include` asks for them. When nothing joins the stops, the answer is 404 `NO_JOURNEYS_FOUND`, never an empty list.',
  query: tripsQuery,
  body: tripsResponse,
  errors: ['DATE_OUT_OF_RANGE', 'NO_JOURNEYS_FOUND', 'STOP_NOT_FOUND'],
  example: { query: 'from=202020&to=209573&limit=1', body: exampleBody },
  toolDefaults: { limit: '3', path: 'none' },

  async find(query, { ask, now }) {
    const request = toTripRequest(query, now());
    const response = await ask(request);
    const conditions = listConditions(query);
    const { journeys, leftOut } = await mapJourneys(response.payload, {
      ...request,
      conditions,
      cancelled: query.cancelled,
    });
    const fitting = keepFitting(journeys, query);
    const [from, to] = [formatPlace(query.from), formatPlace(query.to)];
    if (fitting.journeys.length === 0) throw noJourneys(from, to, conditions);
    const selection = selectJourneys(fitting.journeys, { ...request, limit: query.limit, now: now() });
    const [originName, destinationName] = await Promise.all([
      nameEnd(ask, journeys, from, 'origin'),
      nameEnd(ask, journeys, to, 'destination'),
    ]);
    const body = {
      origin: { stop_id: from, name: originName },
      destination: { stop_id: to, name: destinationName },
      retrieved_at: formatTimestamp(response.retrievedAt),
      journeys: selection.journeys.map((journey) => withPaths(toJourneyBody(journey, query), query.path)),
    };
    return {
      body,
      freshness: freshnessOf(response),
      leftOut: sumLeftOut([leftOut, fitting.leftOut, selection.leftOut]),
    };
  },
});
