import type { FastifyReply } from 'fastify';

/** Sends a page. `maxAgeSeconds` for pages that are the same for everybody; without it no cache keeps a copy. */
export function sendPage(reply: FastifyReply, page: string, maxAgeSeconds?: number): FastifyReply {
  return reply
    .header('cache-control', maxAgeSeconds === undefined ? 'no-store' : `public, max-age=${maxAgeSeconds}`)
    .type('text/html; charset=utf-8')
    .send(page);
}
