import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { hideKeys } from '../../access/keys.ts';
import { askedPath } from '../paths.ts';

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
  log: Pick<FastifyBaseLogger, 'info'>,
  request: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
): void {
  const { id, method } = request;
  const path = hideKeys(askedPath(request));
  log.info({ reqId: id, method, path, status: statusCode, durationMs: Math.round(elapsedTime) }, 'answered');
}
