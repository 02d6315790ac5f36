import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';

/** Headers of ours that a script of another origin may read. */
const EXPOSED = [
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Deprecation',
  'Sunset',
  'X-Request-Id',
  'X-Data-Source',
  'X-Ignored-Parameters',
  'X-Notice',
  'X-Key-Warning',
  'WWW-Authenticate',
  'Allow',
  'Age',
  'Cache-Status',
  'ETag',
  'Date',
  'Link',
].join(', ');

/** On every response, also on those that leave before there is a request: broken HTTP and broken URLs. */
export const CROSS_ORIGIN_HEADERS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };

/** `*` stands for every other header, such as those of tracing tools; browsers take it for all but Authorization. */
const ALLOWED = [
  'Authorization',
  'Accept',
  'Cache-Control',
  'Content-Type',
  'If-None-Match',
  'X-Requested-With',
  'Last-Event-ID',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'traceparent',
  'tracestate',
  'baggage',
  '*',
].join(', ');

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': ALLOWED,
  'access-control-max-age': '86400',
};

/**
 * Every response can be read from every origin, errors included: there are no cookies, a key is sent on purpose.
 * A preflight is answered before anything else is looked at: it needs no key and costs nothing, on unknown paths too,
 * so that their 404 can be read.
 */
export const cors = fp(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', (request, reply, done) => {
      if (!isPreflight(request)) return done();
      const headers = { ...CROSS_ORIGIN_HEADERS, ...PREFLIGHT_HEADERS, 'x-request-id': request.id };
      reply.code(204).headers(headers).send();
    });
  },
  { name: 'cors' },
);

/** Other OPTIONS requests ask for the methods of a path; `paths.ts` answers them. */
function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
