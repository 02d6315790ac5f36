import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/** For so long each open connection still gets one answer, which says that it is the last. */
const FAREWELL_MS = 300;
const IDLE_SWEEP_MS = 50;

/**
 * A clean stop: the requests in flight are finished, each answer says `Connection: close`. When a server closes, Node
 * cuts the connections that look idle, also those whose next request is on its way: so it closes only after a moment
 * in which busy connections end by themselves. A connection that becomes idle later would hold the process for its
 * keep-alive time; those are swept.
 */
export const drain = fp(
  async (app: FastifyInstance) => {
    const sockets = new Set<Socket>();
    let isClosing = false;

    app.server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    app.addHook('preClose', async () => {
      isClosing = true;
      if (!app.server.listening) return;
      await sleep(FAREWELL_MS);
      const sweep = setInterval(() => {
        app.server.closeIdleConnections();
        // Node 24 does not count a connection as idle before its first request.
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }, IDLE_SWEEP_MS);
      app.server.once('close', () => clearInterval(sweep));
    });
    app.addHook('onSend', async (_request, reply) => {
      if (isClosing) reply.header('connection', 'close');
    });
  },
  { name: 'drain' },
);
