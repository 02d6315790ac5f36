import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { EfaClient } from '../efa/client.ts';
import { logLeftOut } from '../efa/record.ts';
import type { Answers } from '../http/answer.ts';
import { formatTimestamp, minutesBetween } from '../transit/time.ts';
import { readBoard } from './board.ts';
import { leavesAt, nextMinuteAway, type ScheduledDeparture, toDeparture } from './departure.ts';
import { departuresOperation as schema } from './operation.ts';
import { toDeparturesQuestion } from './query.ts';

/** Who left longer ago than this cannot be caught any more. */
const GRACE_MINUTES = 1;

/** `GET /v1/departures` */
export async function departuresRoute(
  app: FastifyInstance,
  { efa, answers, now }: { efa: Pick<EfaClient, 'departureMonitor'>; answers: Answers; now: () => Date },
): Promise<void> {
  app.withTypeProvider<ZodTypeProvider>().get('/v1/departures', { schema }, (request, reply) =>
    answers.send(request, reply, async (options) => {
      const { query, log } = request;
      const question = toDeparturesQuestion(query, now());
      const isGone = (departure: ScheduledDeparture) => minutesBetween(leavesAt(departure), now()) > GRACE_MINUTES;
      const isWanted = (departure: ScheduledDeparture) => {
        const isAsked =
          query.modes.includes(departure.mode) && (query.routes?.has(departure.route.toUpperCase()) ?? true);
        return isAsked && (question.at !== null || !isGone(departure));
      };
      const { stopName, departures, freshness, leftOut } = await readBoard(
        efa,
        question,
        query.limit,
        isWanted,
        options,
      );
      logLeftOut(log, ...leftOut);
      const sentAt = now();
      const body = {
        stop_id: query.stop,
        stop_name: stopName,
        retrieved_at: formatTimestamp(new Date(freshness.retrievedAt)),
        departures: departures.map((departure) => toDeparture(departure, sentAt)),
      };
      return { body, freshness, changesAt: nextMinuteAway(departures, sentAt) };
    }),
  );
}
