import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { sourceOf } from '../http/freshness-headers.ts';
import { fromRoute } from '../http/paths.ts';
import type { Instruments } from './instruments.ts';
import type { Traffic } from './traffic.ts';

/** Counts every response of the routes that are registered beside it. */
export const requestRecorder = fp(
  async (
    app: FastifyInstance,
    { traffic, instruments }: { traffic: Traffic | null; instruments: Instruments | null },
  ) => {
    app.addHook('onRoute', (route) => {
      const operation = fromRoute(route.url);
      route.onResponse = [
        route.onResponse ?? [],
        // With a callback: a promise for each response would cost more than the counting.
        (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
          record(operation, request, reply);
          done();
        },
      ].flat();
    });

    function record(operation: string, { toolCall, admission }: FastifyRequest, reply: FastifyReply): void {
      const { statusCode: status, elapsedTime } = reply;
      // The response to an assistant is sent as a stream of one event.
      const isTimed = toolCall || !isStream(reply);
      if (isTimed) traffic?.answered(toolCall?.path ?? operation, toolCall?.status ?? status, elapsedTime);
      if (!instruments) return;
      if (isTimed) instruments.requestSeconds.observe(elapsedTime / 1000, [operation]);
      const age = reply.getHeader('age');
      if (age !== undefined) instruments.responseAge.observe(Number(age), [operation]);
      const plan = admission?.caller.plan ?? 'none';
      instruments.requests.inc([operation, status, plan]);
      const decision = admission?.kind ?? withoutAdmission(status);
      if (decision) instruments.quotaDecisions.inc([decision, plan]);
      const source = sourceOf(reply.getHeader('cache-status'));
      if (source) instruments.responses.inc([operation, source]);
    }
  },
  { name: 'request-recorder' },
);

/** Streams last for as long as their readers stay, which is no measure of speed. */
function isStream(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream');
}

/** Why a request was neither admitted nor refused for its quota; null when its key was not looked at. */
function withoutAdmission(status: number): string | null {
  if (status === 401) return 'key-refused';
  return status === 503 ? 'unavailable' : null;
}
