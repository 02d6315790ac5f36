import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EfaClient } from '../efa/client.ts';
import { logLeftOut } from '../efa/record.ts';
import { findLiveStops } from './live-stops.ts';
import { mapNearbyStops } from './map.ts';
import { nearbyOperation as schema } from './operation.ts';
import { toNearbyQuestion } from './query.ts';
import { checkStop, type Verdicts } from './verdict.ts';

/** `GET /v1/nearby` */
export async function nearbyRoute(
  app: FastifyInstance,
  options: { efa: Pick<EfaClient, 'coordSearch' | 'departureMonitor'>; verdicts: Verdicts; now: () => Date },
): Promise<void> {
  const { efa, verdicts, now } = options;
  app.withTypeProvider<ZodTypeProvider>().get('/v1/nearby', { schema }, async ({ query, log }) => {
    const location = { lat: query.lat, lng: query.lng };
    const { payload } = await efa.coordSearch(toNearbyQuestion(query));
    const { stops, leftOut } = mapNearbyStops(payload, location);
    logLeftOut(log, leftOut);
    const live = await findLiveStops(stops, query, {
      find: verdicts.find,
      check: (stopId) => checkStop(efa, verdicts, stopId, now()),
    });
    return { location, stops: live };
  });
}
