import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { AskOptions, EfaClient } from '../efa/client.ts';
import { logLeftOut } from '../efa/record.ts';
import type { Answers } from '../http/answer.ts';
import { type Freshness, freshnessOf } from '../transit/freshness.ts';
import { findLiveStops, type LiveStops } from './live-stops.ts';
import { mapNearbyStops } from './map.ts';
import { nearbyOperation as schema } from './operation.ts';
import { toNearbyQuestion } from './query.ts';
import { checkStop, type Verdicts } from './verdict.ts';

/** The checks of one answer take no longer; what is not known by then is shown unchecked. */
const CHECKS_WITHIN_MS = 5000;
/** For how long an answer with unchecked stops is good. */
const UNCERTAIN_MS = 30_000;

/** `GET /v1/nearby` */
export async function nearbyRoute(
  app: FastifyInstance,
  options: {
    efa: Pick<EfaClient, 'coordSearch' | 'departureMonitor'>;
    answers: Answers;
    verdicts: Verdicts;
    now: () => Date;
  },
): Promise<void> {
  const { efa, answers, verdicts, now } = options;
  app.withTypeProvider<ZodTypeProvider>().get('/v1/nearby', { schema }, (request, reply) =>
    answers.send(request, reply, async (options) => {
      const { query, log } = request;
      const location = { lat: query.lat, lng: query.lng };
      const answer = await efa.coordSearch(toNearbyQuestion(query), options);
      const { stops, leftOut } = mapNearbyStops(answer.payload, location);
      logLeftOut(log, leftOut);
      await verdicts.load(stops.map(({ stop_id }) => stop_id));
      const checks = checking(options);
      let hasChecked = false;
      const live = await findLiveStops(stops, query, {
        find: verdicts.find,
        check(stopId) {
          hasChecked = true;
          return checkStop(efa, verdicts, stopId, now(), checks);
        },
      });
      const freshness = freshnessWith(freshnessOf(answer), live, hasChecked, now());
      return { body: { location, stops: live.stops }, freshness };
    }),
  );
}

/** Nobody waits for a check as they do for an answer: it gives way to everything else. */
function checking({ signal }: AskOptions): AskOptions {
  const limit = AbortSignal.timeout(CHECKS_WITHIN_MS);
  return { priority: 'background', signal: signal ? AbortSignal.any([signal, limit]) : limit };
}

/** The stops are as fresh as upstream's list of them; what is shown of them holds as long as the verdicts do. */
function freshnessWith(listed: Freshness, live: LiveStops, hasChecked: boolean, now: Date): Freshness {
  const until = live.isCertain ? live.knownUntil : now.getTime() + UNCERTAIN_MS;
  return {
    ...listed,
    freshUntil: Math.min(listed.freshUntil, until),
    source: hasChecked ? 'upstream' : listed.source,
  };
}
