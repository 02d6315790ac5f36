import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { stopping } from '../../error-messages.ts';
import { endWithError } from './client-error.ts';
import type { Connections } from './connections.ts';

/** For so long each open connection still gets one answer, which says that it is the last. */
const FAREWELL_MS = 300;
const IDLE_SWEEP_MS = 50;
/** For so long after that a request that has begun may still arrive. Node stops its own deadlines when a server closes. */
const ARRIVAL_MS = 2000;

/**
 * A clean stop: the requests in flight are finished, each answer says `Connection: close`. When a server closes, Node
 * cuts the connections that look idle, also those whose next request is on its way: so it closes only after a moment
 * in which busy connections end by themselves. A connection that becomes idle later would hold the process for its
 * keep-alive time; those are swept. Requests that arrive slowly or never are refused.
 */
export const drain = fp(
  async (app: FastifyInstance, { connections, docsUrl }: { connections: Connections; docsUrl: string }) => {
    let isClosing = false;

    app.addHook('preClose', async () => {
      isClosing = true;
      if (!app.server.listening) return;
      await sleep(FAREWELL_MS);
      const sweep = setInterval(closeIdle, IDLE_SWEEP_MS);
      const refusal = setTimeout(refuseHalfSent, ARRIVAL_MS);
      app.server.once('close', () => {
        clearInterval(sweep);
        clearTimeout(refusal);
      });
    });
    app.addHook('onSend', (_request, reply, _payload, done) => {
      if (isClosing) reply.header('connection', 'close');
      done();
    });

    function closeIdle(): void {
      app.server.closeIdleConnections();
      // Node 24 does not count a connection as idle before its first request.
      for (const socket of connections.open) if (socket.bytesRead === 0) socket.destroy();
    }

    function refuseHalfSent(): void {
      for (const socket of connections.open) {
        if (connections.isBeingAnswered(socket)) continue;
        if (connections.canBeAnswered(socket)) endWithError(socket, stopping(), docsUrl);
        else socket.destroy();
      }
    }
  },
  { name: 'drain' },
);
