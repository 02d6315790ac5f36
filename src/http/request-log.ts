import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { hideKeys } from '../access/keys.ts';
import { askedPath } from './paths.ts';

/**
 * One log line a request. The query is not logged: it tells where people are, and
 * somebody will put a key there one day.
 */
export const requestLog = fp(
  async (app: FastifyInstance) => {
    app.addHook('onResponse', (request, reply, done) => {
      app.log.info(
        {
          reqId: request.id,
          method: request.method,
          path: hideKeys(askedPath(request)),
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
