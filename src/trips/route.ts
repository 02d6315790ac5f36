import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EfaClient } from '../efa/client.ts';
import { logLeftOut } from '../efa/record.ts';
import type { Answers } from '../http/answer.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { formatTimestamp } from '../transit/time.ts';
import { findEndName } from './journey.ts';
import { mapJourneys } from './map.ts';
import { tripsOperation as schema } from './operation.ts';
import { toTripQuestion } from './query.ts';
import { toJourneyBody } from './response.ts';
import { selectJourneys } from './selection.ts';

/** `GET /v1/trips` */
export async function tripsRoute(
  app: FastifyInstance,
  { efa, answers, now }: { efa: Pick<EfaClient, 'tripPlan'>; answers: Answers; now: () => Date },
): Promise<void> {
  app.withTypeProvider<ZodTypeProvider>().get('/v1/trips', { schema }, (request, reply) =>
    answers.send(request, reply, async (options) => {
      const { query, log } = request;
      const question = toTripQuestion(query, now());
      const answer = await efa.tripPlan(question, options);
      const { journeys, leftOut } = mapJourneys(answer.payload, question);
      const selection = selectJourneys(journeys, { ...question, limit: query.limit });
      logLeftOut(log, leftOut, selection.leftOut);
      const body = {
        origin: { stop_id: query.from, name: findEndName(journeys, query.from, 'origin') },
        destination: { stop_id: query.to, name: findEndName(journeys, query.to, 'destination') },
        retrieved_at: formatTimestamp(answer.retrievedAt),
        journeys: selection.journeys.map(toJourneyBody),
      };
      return { body, freshness: freshnessOf(answer) };
    }),
  );
}
