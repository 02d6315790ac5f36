import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

const IDLE_SWEEP_MS = 50;

/**
 * A clean stop: from `close()` on, no new connections, the requests in flight are finished, each answer says
 * `Connection: close`. Node closes only the connections that are idle at that moment; one that becomes idle later
 * would hold the process for its keep-alive time, so they are swept.
 */
export const drain = fp(
  async (app: FastifyInstance) => {
    let isClosing = false;

    app.addHook('preClose', async () => {
      isClosing = true;
      const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS);
      app.server.once('close', () => clearInterval(sweep));
    });
    app.addHook('onSend', async (_request, reply) => {
      if (isClosing) reply.header('connection', 'close');
    });
  },
  { name: 'drain' },
);
