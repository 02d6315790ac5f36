import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { stopping } from '../../errors/messages.ts';
import { endWithError } from './client-error.ts';
import type { Connections } from './connections.ts';

/** How long open connections may still get one last response, marked `Connection: close`. Skipped if none is open. */
const FAREWELL_MS = 300;
/**
 * How long new requests are held back at least before the server closes. Clients that open a connection per request connect in
 * this time.
 */
const HOLD_MS = 30;
/** After that, the server closes once nobody has connected for this long, or after `MAX_HOLD_MS`. */
const QUIET_MS = 10;
const MAX_HOLD_MS = 300;
const IDLE_SWEEP_MS = 50;
/** How long a request that has begun may still take to arrive. Node disables its own deadlines when a server closes. */
const ARRIVAL_MS = 2000;
/** How long a connection may be open before its first request begins to arrive. */
const FIRST_REQUEST_MS = 500;

/**
 * A clean stop: requests in flight are finished and each response says `Connection: close`. When a server closes, Node cuts
 * connections that look idle, even if their next request is in transit. So the server waits a moment, in which busy connections
 * end by themselves, and then closes. Connections that become idle later are closed too, because they would hold the process
 * for their keep-alive time. Requests that arrive slowly or never are refused.
 *
 * When the listening socket closes, the system resets connections that Node has not accepted yet. There are always some while
 * the event loop is busy, so new requests are held back until it is not.
 */
export const drain = fp(
  async (app: FastifyInstance, { connections, docsUrl }: { connections: Connections; docsUrl: string }) => {
    let isClosing = false;
    /** Set while new requests are held back. */
    let held: Promise<void> | null = null;
    const openedAt = new WeakMap<Socket, number>();
    let accepted = 0;

    app.server.on('connection', (socket: Socket) => {
      accepted++;
      openedAt.set(socket, performance.now());
    });
    app.addHook('onRequest', (_request, _reply, done) => {
      if (held) held.then(() => done());
      else done();
    });
    app.addHook('preClose', async () => {
      isClosing = true;
      if (!app.server.listening) return;
      if (connections.open.size > 0) await sleep(FAREWELL_MS);
      const { promise, resolve: release } = Promise.withResolvers<void>();
      held = promise;
      await sleep(HOLD_MS);
      await untilNobodyConnects();
      // Fastify closes the server when this hook ends, which is before the next turn.
      setImmediate(() => {
        held = null;
        release();
      });
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

    async function untilNobodyConnects(): Promise<void> {
      const until = performance.now() + MAX_HOLD_MS;
      for (let before = -1; before !== accepted && performance.now() < until; ) {
        before = accepted;
        await sleep(QUIET_MS);
        // Ends the wait right after the event loop has accepted all pending connections.
        await nextTurn();
      }
    }

    function closeIdle(): void {
      app.server.closeIdleConnections();
      // Node 24 does not count a connection as idle before its first request.
      const latest = performance.now() - FIRST_REQUEST_MS;
      for (const socket of connections.open) {
        if (socket.bytesRead === 0 && (openedAt.get(socket) ?? 0) < latest) socket.destroy();
      }
    }

    function refuseHalfSent(): void {
      for (const socket of connections.open) {
        if (connections.isBeingAnswered(socket)) continue;
        if (connections.canBeAnswered(socket)) endWithError(socket, stopping('request'), { docsUrl, log: app.log });
        else socket.destroy();
      }
    }
  },
  { name: 'drain' },
);
