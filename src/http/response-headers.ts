import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';

/** Our headers that scripts of other origins may read. */
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
  'X-Notice',
  'X-Times-Source',
  'X-Key-Warning',
  'WWW-Authenticate',
  'Allow',
  'Age',
  'Cache-Status',
  'ETag',
  'Date',
  'Link',
].join(', ');

const READABLE_EVERYWHERE = { 'access-control-allow-origin': '*' };
/** On responses to pages of other origins, and on every error: a request that cannot be read may have had an `Origin`. */
export const CROSS_ORIGIN_HEADERS = { ...READABLE_EVERYWHERE, 'access-control-expose-headers': EXPOSED };

/** `*` allows all other headers, such as those of tracing tools; browsers exempt Authorization from it. */
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

/** Other OPTIONS requests are answered by `paths.ts` with the methods of the path. */
function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** The policy of pages sent outside `pageSecurity`: load everything from this server only. */
export const PAGE_POLICY =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * Headers of every response: request ID, CORS and no MIME sniffing; in the sandbox also that the data is made up. The other
 * security headers are only for pages and would double the cost of a cache hit.
 *
 * Every response, including errors, can be read from every origin: there are no cookies, and a key is sent on purpose. The list
 * of exposed headers, a third of all headers, is only on errors and where an `Origin` was sent. Preflights are answered first,
 * without a key or charge, and on unknown paths too, so that scripts can read the 404.
 */
export const commonHeaders = fp(
  async (app: FastifyInstance, { isSandbox }: { isSandbox: boolean }) => {
    const headers = {
      ...READABLE_EVERYWHERE,
      'x-content-type-options': 'nosniff',
      ...(isSandbox && { 'x-data-source': 'sandbox' }),
    };
    app.addHook('onRequest', (request, reply, done) => {
      if (isPreflight(request)) {
        const answer = { ...CROSS_ORIGIN_HEADERS, ...PREFLIGHT_HEADERS, 'x-request-id': request.id };
        reply.code(204).headers(answer).send();
        return;
      }
      reply.headers(headers).header('x-request-id', request.id);
      if (request.headers.origin !== undefined) reply.headers(CROSS_ORIGIN_HEADERS);
      done();
    });
    app.addHook('onRoute', (route) => {
      if (route.method === 'HEAD') route.onSend = [route.onSend ?? [], withoutLength].flat();
    });
  },
  { name: 'common-headers' },
);

/** For HEAD without a body, Fastify sends `Content-Length: 0`, which a 304 must not have (RFC 9110, 8.6). */
async function withoutLength(_request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (reply.statusCode === 304) reply.removeHeader('content-length');
  return payload;
}
