import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EfaClient } from '../efa/client.ts';
import { logLeftOut } from '../efa/record.ts';
import { formatTimestamp } from '../transit/time.ts';
import { findEndName, mapJourneys, selectJourneys, toJourneyBody } from './map.ts';
import { tripsOperation as schema } from './operation.ts';
import { toTripQuestion } from './query.ts';

/** `GET /v1/trips` */
export async function tripsRoute(
  app: FastifyInstance,
  { efa, now }: { efa: Pick<EfaClient, 'tripPlan'>; now: () => Date },
): Promise<void> {
  app.withTypeProvider<ZodTypeProvider>().get('/v1/trips', { schema }, async ({ query, log }) => {
    const question = toTripQuestion(query, now());
    const { payload, retrievedAt } = await efa.tripPlan(question);
    const { journeys, leftOut } = mapJourneys(payload, question);
    logLeftOut(log, leftOut);
    return {
      origin: { stop_id: query.from, name: findEndName(journeys, query.from, 'origin') },
      destination: { stop_id: query.to, name: findEndName(journeys, query.to, 'destination') },
      retrieved_at: formatTimestamp(retrievedAt),
      journeys: selectJourneys(journeys, query.limit, query.arrive_by).map(toJourneyBody),
    };
  });
}
