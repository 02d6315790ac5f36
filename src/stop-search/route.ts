import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EfaClient } from '../efa/client.ts';
import { logLeftOut } from '../efa/record.ts';
import { mapSearchResults } from './map.ts';
import { stopSearchOperation as schema } from './operation.ts';
import { toStopSearchQuestion } from './query.ts';

/** `GET /v1/stops/search` */
export async function stopSearchRoute(
  app: FastifyInstance,
  { efa }: { efa: Pick<EfaClient, 'stopFinder'> },
): Promise<void> {
  app.withTypeProvider<ZodTypeProvider>().get('/v1/stops/search', { schema }, async ({ query, log }) => {
    const { payload } = await efa.stopFinder(toStopSearchQuestion(query));
    const { results, leftOut } = mapSearchResults(payload);
    logLeftOut(log, leftOut);
    return { query: query.q, results: results.slice(0, query.limit) };
  });
}
