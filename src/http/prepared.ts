import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { encodeOnce } from '../responses/finished-response.ts';
import { listsEtag, matchesAny } from './freshness-headers.ts';
import { sendEncoded } from './send-response.ts';

/**
 * A handler that sends the same body to everybody: its hash is computed here, and each encoding when it is first asked
 * for. Without `maxAgeSeconds` a browser asks each time whether its copy is still right.
 */
export function prepare(
  content: string | Uint8Array,
  { type, maxAgeSeconds }: { type: string; maxAgeSeconds?: number | undefined },
) {
  const body = { bytes: Buffer.from(content), encoded: new Map() };
  const etag = `W/"${createHash('sha1').update(body.bytes).digest('base64url')}"`;
  const headers = {
    'cache-control': maxAgeSeconds === undefined ? 'no-cache' : `public, max-age=${maxAgeSeconds}`,
    etag,
    vary: 'Accept-Encoding',
  };
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const condition = request.headers['if-none-match'];
    reply.headers(headers);
    if (listsEtag(condition, etag) || matchesAny(condition)) return reply.code(304).send();
    reply.header('content-type', type);
    return sendEncoded(request, reply, body.bytes, (encoding) => encodeOnce(body, encoding));
  };
}
