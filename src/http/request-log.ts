import { randomUUID } from 'node:crypto';
import type {} from '@fastify/otel';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { hideKeys, keyId } from '../access/keys.ts';
import type { Finding } from '../operations/operation.ts';
import { sourceOf } from './freshness-headers.ts';
import { askedPath } from './paths.ts';

/** From here on a line says more. */
const SLOW_MS = 1000;

declare module 'fastify' {
  interface FastifyRequest {
    /** The sources of the boards in the response; null where it shows none. */
    boards: Finding['boards'] | null;
    /** The source of the journeys in the response; null where it shows none. */
    journeys: Finding['journeys'] | null;
  }
}

/**
 * One log line a request. The query is not logged: it tells where people are, and
 * somebody will put a key there one day.
 */
export const requestLog = fp(
  async (app: FastifyInstance) => {
    app.decorateRequest('boards', null);
    app.decorateRequest('journeys', null);
    app.addHook('onResponse', (request, reply, done) => {
      logServed(app.log, request, reply);
      done();
    });
  },
  { name: 'request-log' },
);

/** Says in the log line and the span of the request where its boards and journeys come from, and why not from the other source. */
export function noteSources(request: FastifyRequest, { boards, journeys }: Pick<Finding, 'boards' | 'journeys'>): void {
  // Without tracing, requests do not have this.
  const span = boards || journeys ? (request as Partial<FastifyRequest>).opentelemetry?.().span : undefined;
  if (boards) {
    request.boards = boards;
    span?.setAttributes({
      'transit.board.source': boards.map(({ source }) => source),
      'transit.board.reason': boards.map(({ reason, detail, feed }) =>
        [reason, detail, feed].filter(Boolean).join(': '),
      ),
    });
  }
  if (journeys) {
    request.journeys = journeys;
    span?.setAttributes({
      'transit.journeys.source': journeys.source,
      'transit.journeys.reason': journeys.reason ?? '',
    });
  }
}

/** `log` is that of the service. */
export function logServed(
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { id, method, failure, boards, journeys } = request;
  const { statusCode, elapsedTime } = reply;
  const path = hideKeys(askedPath(request));
  const durationMs = Math.round(elapsedTime);
  const sources = { ...(boards && { boards }), ...(journeys && { journeys }) };
  const line = { reqId: id, method, path, status: statusCode, durationMs, ...sources };
  if (statusCode < 400 && !failure && elapsedTime < SLOW_MS) log.info(line, 'answered');
  else log[statusCode < 500 ? 'info' : 'warn']({ ...line, ...whyOf(request, reply) }, 'answered');
}

/** The facts with which an operator looks into a refused or slow request. The message for the caller stays out: it may hold a position. */
function whyOf({ admission, failure, keyInUse }: FastifyRequest, reply: FastifyReply): object {
  // A bug of ours has a line of its own.
  const cause = failure && failure.statusCode > 500 ? failure.cause : null;
  const source = sourceOf(reply.getHeader('cache-status'));
  return {
    ...(admission && { account: admission.caller.accountId, plan: admission.caller.plan }),
    ...(keyInUse && { key: keyId(keyInUse) }),
    ...(source && { source }),
    ...(failure && { reason: failure.code, ...failure.logFields }),
    ...(failure?.unavailable && { unavailable: failure.unavailable }),
    ...(cause instanceof Error && { cause: cause.message }),
  };
}

/** The id of a request, in its response and in the log: 16 hexadecimal digits. Random, so that it does not tell how many requests there are. */
export function createRequestId(): string {
  const uuid = randomUUID();
  return `${uuid.slice(0, 8)}${uuid.slice(-8)}`;
}
