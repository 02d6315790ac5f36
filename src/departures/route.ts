import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EfaClient } from '../efa/client.ts';
import { logLeftOut } from '../efa/record.ts';
import { formatTimestamp, minutesBetween } from '../transit/time.ts';
import { readBoard } from './board.ts';
import { leavesAt, type ScheduledDeparture, toDeparture } from './departure.ts';
import { departuresOperation as schema } from './operation.ts';
import { toDeparturesQuestion } from './query.ts';

/** Who left longer ago than this cannot be caught any more. */
const GRACE_MINUTES = 1;

/** `GET /v1/departures` */
export async function departuresRoute(
  app: FastifyInstance,
  { efa, now }: { efa: Pick<EfaClient, 'departureMonitor'>; now: () => Date },
): Promise<void> {
  app.withTypeProvider<ZodTypeProvider>().get('/v1/departures', { schema }, async ({ query, log }) => {
    const question = toDeparturesQuestion(query, now());
    const isGone = (departure: ScheduledDeparture) => minutesBetween(leavesAt(departure), now()) > GRACE_MINUTES;
    const board = await readBoard(efa, question, query.limit, (departure) => {
      const isAsked =
        query.modes.includes(departure.mode) && (query.routes?.has(departure.route.toUpperCase()) ?? true);
      return isAsked && (question.at !== null || !isGone(departure));
    });
    logLeftOut(log, ...board.leftOut);
    const sentAt = now();
    return {
      stop_id: query.stop,
      stop_name: board.stopName,
      retrieved_at: formatTimestamp(board.retrievedAt),
      departures: board.departures.map((departure) => toDeparture(departure, sentAt)),
    };
  });
}
