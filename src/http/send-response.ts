import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENCODINGS, type Encoding, encodeOnce, type FinishedResponse } from '../operations/finished-response.ts';
import { type Notice, noticeTo } from '../operations/operation.ts';
import type { Responses } from '../operations/serve.ts';
import { freshnessHeaders, listsEtag, matchesAny, VARY } from './freshness-headers.ts';
import { recordSources } from './request-log.ts';

/** RFC 7946, 12. It has no charset: it is always UTF-8. */
const GEOJSON = 'application/geo+json';

/** Sends a finished response with freshness headers, as a 304 or in the preferred encoding. */
export function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  response: FinishedResponse,
  { responses, now, notices = [] }: { responses: Responses; now: () => number; notices?: readonly Notice[] },
): FastifyReply {
  const { body } = response;
  recordSources(request, response);
  const condition = request.headers['if-none-match'];
  const hasResponse = listsEtag(condition, body.etag);
  if (response.failedParts > 0) request.outcome.failedParts = response.failedParts;
  if (hasResponse && response.isFromCache) request.outcome.isFree = true;
  reply.headers(freshnessHeaders(response.freshness, now())).header('etag', body.etag).header('vary', VARY);
  if (response.link) reply.header('link', response.link);
  const notice = noticeTo(request.query as object, response.notices, notices);
  if (notice) reply.header('x-notice', notice);
  if (response.timesSource) reply.header('x-times-source', response.timesSource);
  if (hasResponse || matchesAny(condition)) return reply.code(304).send();

  reply.header('content-type', response.isGeoJson ? GEOJSON : 'application/json; charset=utf-8');
  return sendEncoded(request, reply, body.bytes, (encoding) => responses.bytesOf(response, encoding));
}

/** Sends a body in the encoding that the caller prefers. */
function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Buffer,
  bytesIn: (encoding: Encoding) => Buffer | Promise<Buffer>,
): FastifyReply {
  const encoding = chooseEncoding(acceptEncodingOf(request), body);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  const bytes = bytesIn(encoding);
  if (Buffer.isBuffer(bytes)) return reply.send(bytes);
  bytes.then(
    (encoded) => reply.send(encoded),
    (error) => reply.send(error),
  );
  return reply;
}

function acceptEncodingOf({ headers }: FastifyRequest): string | undefined {
  const value = headers['accept-encoding'];
  return Array.isArray(value) ? value.join() : value;
}

/** Smaller bodies are not compressed: headers are most of such a response. */
const WORTH_ENCODING_BYTES = 1000;

/**
 * Chooses what the caller prefers (`Accept-Encoding` with weights), then what we prefer. `*` means gzip only: proxies
 * send it for clients that cannot read newer encodings.
 */
export function chooseEncoding(acceptEncoding: string | undefined, body: Buffer): Encoding {
  if (!acceptEncoding || body.length < WORTH_ENCODING_BYTES) return 'identity';
  const header = acceptEncoding.toLowerCase();
  if (!header.includes(';') && !header.includes('*')) {
    const names = header.split(',').map((name) => name.trim());
    return ENCODINGS.find((name) => names.includes(name)) ?? 'identity';
  }
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (name: Encoding) => weights.get(name) ?? (name === 'gzip' ? weights.get('*') : undefined) ?? 0;
  const best = ENCODINGS.reduce((best, name) => (weightOf(name) > weightOf(best) ? name : best));
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : 'identity';
}

/** A body that is the same for everyone. */
export interface PreparedBody {
  etag: string;
  /** Sends the body in the encoding that the caller prefers, or a 304. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

/** Prepares a body that is the same for everyone: hashed here, and compressed once per encoding. */
export function prepareBody(bytes: Buffer, type: string): PreparedBody {
  const body = { bytes, encoded: new Map() };
  const etag = `W/"${createHash('sha1').update(bytes).digest('base64url')}"`;
  return {
    etag,
    send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
      const condition = request.headers['if-none-match'];
      if (listsEtag(condition, etag) || matchesAny(condition)) return reply.code(304).send();
      reply.header('content-type', type);
      return sendEncoded(request, reply, bytes, (encoding) => encodeOnce(body, encoding));
    },
  };
}

/**
 * Returns a handler that sends a body which the first request builds, so that startup does not wait for it. Without `maxAgeSeconds`,
 * browsers revalidate their copy each time.
 */
export function prepare(
  build: () => string | Buffer,
  { type, maxAgeSeconds }: { type: string; maxAgeSeconds?: number | undefined },
) {
  let body: PreparedBody | null = null;
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    body ??= prepareBody(Buffer.from(build()), type);
    const { etag, send } = body;
    const cacheControl = maxAgeSeconds === undefined ? 'no-cache' : `public, max-age=${maxAgeSeconds}`;
    return send(request, reply.headers({ 'cache-control': cacheControl, etag, vary: 'Accept-Encoding' }));
  };
}
