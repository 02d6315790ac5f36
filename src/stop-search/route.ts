import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EfaClient } from '../efa/client.ts';
import { logLeftOut } from '../efa/record.ts';
import type { Answers } from '../http/answer.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { mapSearchResults } from './map.ts';
import { stopSearchOperation as schema } from './operation.ts';
import { toStopSearchQuestion } from './query.ts';

/** `GET /v1/stops/search` */
export async function stopSearchRoute(
  app: FastifyInstance,
  { efa, answers }: { efa: Pick<EfaClient, 'stopFinder'>; answers: Answers },
): Promise<void> {
  app.withTypeProvider<ZodTypeProvider>().get('/v1/stops/search', { schema }, (request, reply) =>
    answers.send(request, reply, async (options) => {
      const { query, log } = request;
      const answer = await efa.stopFinder(toStopSearchQuestion(query), options);
      const { results, leftOut } = mapSearchResults(answer.payload);
      logLeftOut(log, leftOut);
      return { body: { query: query.q, results: results.slice(0, query.limit) }, freshness: freshnessOf(answer) };
    }),
  );
}
