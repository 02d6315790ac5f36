import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';

/** HEAD as GET would answer. Fastify says `Content-Length: 0` where there is no body; a 304 must not (RFC 9110, 8.6). */
export const head = fp(
  async (app: FastifyInstance) => {
    app.addHook('onRoute', (route) => {
      if (route.method === 'HEAD') route.onSend = [route.onSend ?? [], withoutLength].flat();
    });
  },
  { name: 'head' },
);

async function withoutLength(_request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (reply.statusCode === 304) reply.removeHeader('content-length');
  return payload;
}
