import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { hideKeys } from '../access/keys.ts';

/**
 * A request id on every answer and one log line a request. The query is not logged: it tells where people are, and
 * somebody will put a key there one day.
 */
export const requestLog = fp(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id);
      done();
    });
    app.addHook('onResponse', (request, reply, done) => {
      request.log.info(
        {
          method: request.method,
          path: hideKeys(request.url.split('?', 1)[0] ?? ''),
          status: reply.statusCode,
          durationMs: Math.round(reply.elapsedTime),
        },
        'answered',
      );
      done();
    });
  },
  { name: 'request-log' },
);
