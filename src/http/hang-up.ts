import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import fp from 'fastify-plugin';

/** The status in log and metrics of a request whose client hung up before its response began; it is never sent. nginx uses it too. */
const HUNG_UP = 499;
/** Holds the request's abort controller, which is created on first use. */
const CONTROLLER = Symbol('hang-up');
const UNANSWERED = Symbol('unanswered');

/**
 * A response has no `close` event while an earlier pipelined request is unanswered. The `close` event of a request comes as soon as its
 * body is read. So each connection knows its unanswered replies, earliest first.
 */
type WatchedSocket = Socket & { [UNANSWERED]?: FastifyReply[] };

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborts when the client hangs up before its response has ended. */
    hangUp: AbortSignal;
    [CONTROLLER]?: AbortController;
  }
}

/** Ends the wait of requests whose client has hung up, and has them logged and counted at once. */
export const hangUps = fp(
  async (app: FastifyInstance) => {
    app.decorateRequest('hangUp', {
      getter() {
        this[CONTROLLER] ??= new AbortController();
        if (this.raw.socket.destroyed) this[CONTROLLER].abort();
        return this[CONTROLLER].signal;
      },
    });
    app.addHook('onRequest', (request, reply, done) => {
      repliesOn(request.raw.socket).push(reply);
      done();
    });
    app.addHook('onResponse', (request, reply, done) => {
      const replies = repliesOn(request.raw.socket);
      const at = replies.indexOf(reply);
      if (at >= 0) replies.splice(at, 1);
      done();
    });
  },
  { name: 'hang-ups' },
);

function repliesOn(socket: WatchedSocket): FastifyReply[] {
  const known = socket[UNANSWERED];
  if (known) return known;
  const replies: FastifyReply[] = [];
  socket[UNANSWERED] = replies;
  socket.once('close', () => {
    for (const reply of [...replies]) endUnanswered(reply);
  });
  return replies;
}

function endUnanswered(reply: FastifyReply): void {
  const { raw, request } = reply;
  if (raw.writableFinished) return;
  if (!raw.headersSent) reply.code(HUNG_UP);
  request[CONTROLLER]?.abort();
  // Fastify runs the hooks that log and count only after `finish` or `error`.
  if (raw.listenerCount('error') > 0) raw.emit('error', new Error('the client hung up'));
}
