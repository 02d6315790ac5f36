import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { hideKeys } from '../../access/keys.ts';
import { sourceOf } from '../freshness-headers.ts';
import { askedPath } from '../paths.ts';

/** From here on a line says more. */
const SLOW_MS = 1000;

/**
 * One log line a request. The query is not logged: it tells where people are, and
 * somebody will put a key there one day.
 */
export const requestLog = fp(
  async (app: FastifyInstance) => {
    app.addHook('onResponse', (request, reply, done) => {
      logAnswered(app.log, request, reply);
      done();
    });
  },
  { name: 'request-log' },
);

/** `log` is that of the service. */
export function logAnswered(
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { id, method, failure } = request;
  const { statusCode, elapsedTime } = reply;
  const path = hideKeys(askedPath(request));
  const line = { reqId: id, method, path, status: statusCode, durationMs: Math.round(elapsedTime) };
  if (statusCode < 400 && !failure && elapsedTime < SLOW_MS) log.info(line, 'answered');
  else log[statusCode < 500 ? 'info' : 'warn']({ ...line, ...whyOf(request, reply) }, 'answered');
}

/** What a refused or a slow request is looked into by. The message for the caller stays out: it may hold a position. */
function whyOf({ admission, failure }: FastifyRequest, reply: FastifyReply): object {
  // A bug of ours has a line of its own.
  const cause = failure && failure.statusCode > 500 ? failure.cause : null;
  const source = sourceOf(reply.getHeader('cache-status'));
  return {
    ...(admission && { account: admission.caller.accountId, plan: admission.caller.plan }),
    ...(source && { source }),
    ...(failure && { reason: failure.code }),
    ...(cause instanceof Error && { cause: cause.message }),
  };
}
