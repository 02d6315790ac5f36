import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { type ApiError, errorBody } from '../errors.ts';
import { CROSS_ORIGIN_HEADERS } from './cors.ts';
import { toApiError } from './error-answer.ts';

/** Every error of a route, a hook or the framework leaves through here. */
export const errorHandler = fp(
  async (app: FastifyInstance, { docsUrl }: { docsUrl: string }) => {
    app.setErrorHandler((error, request, reply) => answerError(error, request, reply, docsUrl));
  },
  { name: 'error-handler' },
);

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, docsUrl: string): void {
  const apiError = toApiError(error);
  logError(apiError, request);
  sendError(apiError, request, reply, docsUrl);
}

/** An error that is no news for the log. */
export function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply, docsUrl: string): void {
  reply
    .code(error.statusCode)
    .headers(error.headers)
    .headers(CROSS_ORIGIN_HEADERS)
    .header('x-request-id', request.id)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(errorBody(error, docsUrl));
}

/** Failures of the authority are expected; an internal error is a bug. */
export function logError(error: ApiError, request: FastifyRequest): void {
  if (error.statusCode < 500) return;
  const level = error.code === 'INTERNAL_ERROR' ? 'error' : 'warn';
  request.log[level]({ err: error.cause ?? error, code: error.code }, error.message);
}
