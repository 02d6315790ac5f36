import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { type ApiError, errorBody } from '../errors/api-error.ts';
import { toApiError } from '../errors/to-api-error.ts';
import type { NetworkLimit } from './network-limit.ts';
import { wantsPage } from './paths.ts';
import { logServed } from './request-log.ts';
import { CROSS_ORIGIN_HEADERS, PAGE_POLICY } from './response-headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request failed, for the log. */
    failure?: ApiError;
  }
}

/** Paths of the API, where errors are always JSON. */
const API_PATH = /^\/(?:v1|mcp|openapi\.json)(?:$|[/?])/;

/** Handles every error of a route, a hook or the framework. */
export const errorHandler = fp(
  async (
    app: FastifyInstance,
    options: {
      docsUrl: string;
      /** Renders error pages for browsers; without it, all errors are JSON. */
      drawError?: ((error: ApiError) => string) | undefined;
      /** Slows down networks that keep being refused; without it, refusals are sent at once. */
      networkLimit?: NetworkLimit | undefined;
    },
  ) => {
    const { docsUrl, drawError, networkLimit } = options;
    app.addHook('preClose', async () => networkLimit?.release());
    app.setErrorHandler((error, request, reply) => {
      const apiError = toApiError(error);
      logError(apiError, request);
      const send = () => sendErrorOrPage(apiError, request, reply);
      if (networkLimit && isRefusal(apiError, request)) networkLimit.refuse(request, reply, send);
      else send();
    });

    function sendErrorOrPage(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
      const hasPage = drawError && !API_PATH.test(request.url);
      if (hasPage) reply.vary('Accept');
      if (hasPage && wantsPage(request)) sendErrorPage(error, drawError(error), request, reply);
      else sendError(error, request, reply, docsUrl);
    }
  },
  { name: 'error-handler' },
);

/** Refusals of admitted requests are already limited by their account. */
function isRefusal({ statusCode }: ApiError, { admission }: FastifyRequest): boolean {
  return statusCode < 500 && admission?.kind !== 'admitted';
}

function sendErrorPage(error: ApiError, page: string, request: FastifyRequest, reply: FastifyReply): void {
  if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', PAGE_POLICY);
  reply
    .code(error.statusCode)
    .headers(error.headers)
    .header('x-request-id', request.id)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(page);
}

/** For errors that Fastify detects before routing. No hook runs for them, not even logging. */
export function sendErrorEarly(error: unknown, request: FastifyRequest, reply: FastifyReply, docsUrl: string): void {
  const apiError = toApiError(error);
  logError(apiError, request);
  sendError(apiError, request, reply, docsUrl);
  logServed(request.server.log, request, reply);
}

/** Sends an error without logging it. */
export function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply, docsUrl: string): void {
  reply.code(error.statusCode).headers(errorHeaders(error, request.id)).send(errorBody(error, docsUrl));
}

/** The headers of an error in JSON. */
export function errorHeaders(error: ApiError, requestId: string) {
  return {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...CROSS_ORIGIN_HEADERS,
    ...error.headers,
    'x-request-id': requestId,
  };
}

/**
 * Logs stacks only for our own bugs. Other failures, which are many when upstream or the store is unreachable, have only a reason
 * in the response's log line.
 */
export function logError(error: ApiError, request: FastifyRequest): void {
  request.failure = error;
  if (error.code === 'INTERNAL_ERROR')
    request.log.error({ reqId: request.id, err: error.cause ?? error, code: error.code }, error.message);
}
