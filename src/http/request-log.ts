import { randomFillSync } from 'node:crypto';
import type {} from '@fastify/otel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { hideKeys, keyId } from '../access/keys.ts';
import { SECOND_MS } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { FinishedResponse } from '../operations/finished-response.ts';
import type { OperationResult } from '../operations/operation.ts';
import { sourceOf } from './freshness-headers.ts';
import { requestedPath } from './paths.ts';

/** Slower requests are always logged, with more detail. */
const SLOW_MS = 1000;

declare module 'fastify' {
  interface FastifyRequest {
    /** The sources of boards in the response, if it has any. */
    boards?: OperationResult['boards'];
    /** The source of journeys in the response, if it has any. */
    journeys?: OperationResult['journeys'];
  }
}

/**
 * One log line per request. At most `perSecond` successful requests a second are logged, and the next line says how many were
 * `omitted`. The query is not logged: it reveals where people are, and sooner or later someone puts a key there.
 */
export const requestLog = fp(
  async (app: FastifyInstance, options: { perSecond: number; now: () => number }) => {
    const sample = createSample(options);
    app.addHook('onResponse', (request, reply, done) => {
      logServed(app.log, request, reply, sample);
      done();
    });
  },
  { name: 'request-log' },
);

/** Adds the sources of boards and journeys, and why the other source was not used, to the request's log line and span. */
export function recordSources(request: FastifyRequest, { boards, journeys }: FinishedResponse): void {
  // Missing on requests if tracing is off.
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

function createSample({ perSecond, now }: { perSecond: number; now: () => number }) {
  let second = 0;
  let logged = 0;
  let omitted = 0;
  /** Returns the number of requests omitted since the last line, or null if this request is omitted too. */
  return (): number | null => {
    const current = Math.floor(now() / SECOND_MS);
    if (current !== second) [second, logged] = [current, 0];
    if (logged >= perSecond) {
      omitted++;
      return null;
    }
    logged++;
    const before = omitted;
    omitted = 0;
    return before;
  };
}

/** `log` is the service's log. */
export function logServed(
  log: Log,
  request: FastifyRequest,
  reply: FastifyReply,
  sample = (): number | null => 0,
): void {
  const { id, method, failure, boards, journeys } = request;
  const { statusCode, elapsedTime } = reply;
  const path = hideKeys(requestedPath(request));
  const durationMs = Math.round(elapsedTime);
  const line = {
    reqId: id,
    method,
    path,
    status: statusCode,
    durationMs,
    // pino omits undefined fields.
    boards,
    journeys,
  };
  if (statusCode < 400 && !failure && elapsedTime < SLOW_MS) {
    const omitted = sample();
    if (omitted !== null) log.info(omitted > 0 ? { ...line, omitted } : line, 'answered');
  } else log[statusCode < 500 ? 'info' : 'warn']({ ...line, ...whyOf(request, reply) }, 'answered');
}

/** Facts that explain a refused or slow request to an operator. The caller's message is left out: it may contain a position. */
function whyOf({ admission, failure, keyInUse }: FastifyRequest, reply: FastifyReply): object {
  // Bugs are logged in their own line.
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

const ID_DIGITS = 16;
const random = Buffer.alloc(256 * ID_DIGITS);
/** The digits of many IDs, made at once. */
let digits = '';

/** A request ID for the response and the log: 16 hexadecimal digits, random so that it does not reveal the number of requests. */
export function createRequestId(): string {
  if (digits === '') digits = randomFillSync(random).toString('hex');
  const id = digits.slice(0, ID_DIGITS);
  digits = digits.slice(ID_DIGITS);
  return id;
}
