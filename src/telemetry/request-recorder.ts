import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { sourceOf } from '../http/freshness-headers.ts';
import { type Instruments, observer } from './instruments.ts';
import type { Traffic } from './traffic.ts';

/** Counts every response of the routes that are registered beside it. */
export const requestRecorder = fp(
  async (
    app: FastifyInstance,
    { traffic, instruments }: { traffic: Traffic | null; instruments: Instruments | null },
  ) => {
    app.addHook('onRoute', (route) => {
      const record = createRecorder(route.url, traffic, instruments);
      route.onResponse = [
        route.onResponse ?? [],
        // With a callback: a promise for each response would cost more than the counting.
        (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
          record(request, reply);
          done();
        },
      ].flat();
    });
  },
  { name: 'request-recorder' },
);

/** Counts the answers of one route. */
function createRecorder(operation: string, traffic: Traffic | null, instruments: Instruments | null) {
  const countersOf = instruments && createTallies(operation, instruments);
  const observeSeconds = instruments && observer(instruments.requestSeconds, operation);
  const observeAge = instruments && observer(instruments.answerAge, operation);
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { statusCode, elapsedTime } = reply;
    const age = reply.getHeader('age');
    if (age !== undefined) observeAge?.(Number(age));
    const { toolCall } = request;
    // The response to an assistant is sent as a stream of one event.
    if (toolCall || !isStream(reply)) {
      traffic?.answered(toolCall?.path ?? operation, toolCall?.status ?? statusCode, elapsedTime);
      observeSeconds?.(elapsedTime / 1000);
    }
    if (!countersOf) return;
    const { admission } = request;
    const plan = admission?.caller.plan ?? 'none';
    const decision = admission?.kind ?? withoutAdmission(statusCode);
    for (const counter of countersOf(statusCode, plan, decision, sourceOf(reply.getHeader('cache-status')))) {
      counter.count++;
    }
  };
}

/** The counters of one kind of response. */
interface Tally {
  status: number;
  plan: string;
  decision: string | null;
  source: string | null;
  counters: { count: number }[];
}

/**
 * Finds the counters for a response. Kinds of responses are few, and mostly the first ones match; looking up each counter by
 * its labels would take as long as all other counting.
 */
function createTallies(operation: string, { requests, responses, quotaDecisions }: Instruments) {
  const tallies: Tally[] = [];
  return (status: number, plan: string, decision: string | null, source: string | null): Tally['counters'] => {
    for (const one of tallies) {
      if (one.status === status && one.source === source && one.decision === decision && one.plan === plan) {
        return one.counters;
      }
    }
    const counters = [
      requests.series.at(operation, status, plan),
      ...(decision ? [quotaDecisions.series.at(decision, plan)] : []),
      ...(source ? [responses.series.at(operation, source)] : []),
    ];
    tallies.push({ status, plan, decision, source, counters });
    return counters;
  };
}

/** Streams last for as long as their readers stay, which is no measure of speed. */
function isStream(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream');
}

/** Why a request was neither admitted nor refused for its quota; null when its key was not looked at. */
function withoutAdmission(status: number): string | null {
  if (status === 401) return 'key-refused';
  return status === 503 ? 'unavailable' : null;
}
