import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Encoding, FinishedResponse } from '../responses/finished-response.ts';
import type { Responses } from '../responses/responses.ts';
import { chooseEncoding } from './accept-encoding.ts';
import { answerHeaders, listsEtag, matchesAny } from './freshness-headers.ts';
import { noteBoards } from './request-log.ts';

/** Sends a finished response: how fresh it is, 304 to a caller that has it already, encoded as the caller prefers. */
export function sendResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  response: FinishedResponse,
  { responses, now }: { responses: Pick<Responses, 'bytesOf'>; now: () => Date },
): FastifyReply {
  const { body, freshness } = response;
  noteBoards(request, response);
  const condition = request.headers['if-none-match'];
  request.costNoUpstreamCall = freshness.source !== 'upstream';
  if (response.failedParts > 0) request.failedParts = response.failedParts;
  request.hasResponse = listsEtag(condition, body.etag);
  reply.headers(answerHeaders(response, now().getTime()));
  if (request.hasResponse || matchesAny(condition)) return reply.code(304).send();

  reply.header('content-type', 'application/json; charset=utf-8');
  return sendEncoded(request, reply, body.bytes, (encoding) => responses.bytesOf(response, encoding));
}

/** Sends a body in the encoding that the caller prefers. */
export function sendEncoded(
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
