import helmet from '@fastify/helmet';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { SERVICE_LINKS } from '../operations/serve.ts';

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

/** Other OPTIONS requests ask for the methods of a path; `paths.ts` responds to them. */
function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** The policy of pages that are sent outside of `pageSecurity`: everything comes from this server. */
export const PAGE_POLICY =
  "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * On every response: its request id, that scripts of every origin may read it, where the description, the documentation,
 * the status and the licence of the data are, and that JSON is not to be sniffed as HTML; in the sandbox also that the
 * data is made up. The other security headers are for pages and would double what a hit costs.
 */
export const commonHeaders = fp(
  async (app: FastifyInstance, { isSandbox }: { isSandbox: boolean }) => {
    const headers = {
      ...CROSS_ORIGIN_HEADERS,
      link: SERVICE_LINKS,
      'x-content-type-options': 'nosniff',
      ...(isSandbox && { 'x-data-source': 'sandbox' }),
    };
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers(headers).header('x-request-id', request.id);
      done();
    });
    app.addHook('onRoute', (route) => {
      if (route.method === 'HEAD') route.onSend = [route.onSend ?? [], withoutLength].flat();
    });
  },
  { name: 'common-headers' },
);

/** On HEAD, Fastify says `Content-Length: 0` where there is no body; a 304 must not (RFC 9110, 8.6). */
async function withoutLength(_request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (reply.statusCode === 304) reply.removeHeader('content-length');
  return payload;
}

/**
 * For the routes that are registered beside it: pages load scripts, styles and data from this server only, and pictures
 * also from the map's tile server, if there is one.
 */
export const pageSecurity = fp(
  async (app: FastifyInstance, { publicUrl, tileUrl }: { publicUrl: string; tileUrl: string | null }) => {
    const isHttps = publicUrl.startsWith('https:');
    await app.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'self'"],
          // Small pictures inside style sheets are data: URLs.
          imgSrc: ["'self'", 'data:', ...(tileUrl ? [originOf(tileUrl)] : [])],
          objectSrc: ["'none'"],
          baseUri: ["'none'"],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
        },
      },
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      // With "no-referrer" a browser would hide the origin, by which our own forms are checked.
      referrerPolicy: { policy: 'same-origin' },
      strictTransportSecurity: isHttps && { maxAge: 31_536_000 },
    });
  },
  { name: 'page-security' },
);

/** "https://{s}.tile.example/{z}/{x}/{y}.png" → "https://*.tile.example" */
function originOf(tileUrl: string): string {
  return new URL(tileUrl.replace('{s}', 'x')).origin.replace('//x.', tileUrl.includes('{s}') ? '//*.' : '//x.');
}
