import type { FastifyReply, FastifyRequest } from 'fastify';
import { prepare } from '../http/send-response.ts';

const HTML = 'text/html; charset=utf-8';

/** Sends a page that no cache keeps. */
export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.header('cache-control', 'no-store').type(HTML).send(page);
}

/** A handler of a page that is the same for everybody: it is drawn once, and again when the sandbox has another key. */
export function fixedPage(
  draw: (testKey: string | null) => string,
  testKey: () => Promise<string | null> = async () => null,
) {
  let drawn: { testKey: string | null; send: ReturnType<typeof prepare> } | null = null;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const key = await testKey();
    if (drawn?.testKey !== key) drawn = { testKey: key, send: prepare(draw(key), { type: HTML }) };
    return drawn.send(request, reply);
  };
}
