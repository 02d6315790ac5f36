import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import fp from 'fastify-plugin';

/** The status in log and metrics of a request whose client hung up before its response began; it is never sent. nginx uses it too. */
const HUNG_UP = 499;
/** Created on first use. */
const CONTROLLER = Symbol('hang-up');

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborts when the client hangs up before its response has ended. */
    hangUp: AbortSignal;
    [CONTROLLER]: AbortController | null;
  }
}

/** Ends the wait of requests whose client has hung up, and has them logged and counted at once. */
export const hangUps = fp(
  async (app: FastifyInstance) => {
    // A response has no `close` event while an earlier pipelined request is unanswered. The `close` event of a request comes
    // as soon as its body is read.
    const unanswered = new WeakMap<Socket, Set<FastifyReply>>();
    app.decorateRequest(CONTROLLER, null);
    app.decorateRequest('hangUp', {
      getter() {
        this[CONTROLLER] ??= new AbortController();
        if (this.raw.socket.destroyed) this[CONTROLLER].abort();
        return this[CONTROLLER].signal;
      },
    });
    app.addHook('onRequest', (request, reply, done) => {
      repliesOn(request.raw.socket).add(reply);
      done();
    });
    app.addHook('onResponse', (request, reply, done) => {
      unanswered.get(request.raw.socket)?.delete(reply);
      done();
    });

    function repliesOn(socket: Socket): Set<FastifyReply> {
      const known = unanswered.get(socket);
      if (known) return known;
      const replies = new Set<FastifyReply>();
      unanswered.set(socket, replies);
      socket.once('close', () => {
        for (const reply of [...replies]) endUnanswered(reply);
      });
      return replies;
    }
  },
  { name: 'hang-ups' },
);

function endUnanswered(reply: FastifyReply): void {
  const { raw, request } = reply;
  if (raw.writableFinished) return;
  if (!raw.headersSent) reply.code(HUNG_UP);
  request[CONTROLLER]?.abort();
  // Fastify runs the hooks that log and count only after `finish` or `error`.
  if (raw.listenerCount('error') > 0) raw.emit('error', new Error('the client hung up'));
}
