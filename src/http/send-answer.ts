import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answers } from '../answers/answers.ts';
import type { FinishedAnswer } from '../answers/finished-answer.ts';
import { chooseEncoding } from './accept-encoding.ts';
import { answerHeaders, listsEtag, matchesAny } from './freshness-headers.ts';
import { noteBoards } from './log/request-log.ts';

/** Sends a finished answer: how fresh it is, 304 to a caller that has it already, encoded as the caller prefers. */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: FinishedAnswer,
  { answers, now }: { answers: Pick<Answers, 'bytesOf'>; now: () => Date },
): FastifyReply {
  const { body, freshness } = answer;
  noteBoards(request, answer);
  const condition = request.headers['if-none-match'];
  request.costNoUpstreamCall = freshness.source !== 'upstream';
  if (answer.failedParts > 0) request.failedParts = answer.failedParts;
  request.hasAnswer = listsEtag(condition, body.etag);
  reply.headers(answerHeaders(answer, now().getTime()));
  if (request.hasAnswer || matchesAny(condition)) return reply.code(304).send();

  const encoding = chooseEncoding(acceptEncodingOf(request), body.bytes);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  reply.header('content-type', 'application/json; charset=utf-8');
  const bytes = answers.bytesOf(answer, encoding);
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
