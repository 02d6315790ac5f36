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
    /** The reason why the request failed, for the log. */
    failure: ApiError | null;
  }
}

/** The API's own paths: an error is JSON there, whoever asks. */
const API_PATH = /^\/(?:v1|mcp|openapi\.json)(?:$|[/?])/;

/** Every error of a route, a hook or the framework leaves through here. */
export const errorHandler = fp(
  async (
    app: FastifyInstance,
    options: {
      docsUrl: string;
      /** Draws the page of an error, for browsers; without it everybody gets JSON. */
      drawError?: ((error: ApiError) => string) | undefined;
      /** Slows down client networks that are refused all the time; without it all refusals are sent at once. */
      networkLimit?: NetworkLimit | undefined;
    },
  ) => {
    const { docsUrl, drawError, networkLimit } = options;
    app.decorateRequest('failure', null);
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

/** Refusals of an admitted request are bounded by the limits of its account. */
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

/** For errors that Fastify finds before there is a route. No hook runs for them, not even that of the log. */
export function sendErrorEarly(error: unknown, request: FastifyRequest, reply: FastifyReply, docsUrl: string): void {
  const apiError = toApiError(error);
  logError(apiError, request);
  sendError(apiError, request, reply, docsUrl);
  logServed(request.server.log, request, reply);
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

/**
 * The log line of the response says why a request was refused, in a few words. A stack is written for our own bugs only:
 * refusals are many when upstream or the store is away.
 */
export function logError(error: ApiError, request: FastifyRequest): void {
  request.failure = error;
  if (error.code === 'INTERNAL_ERROR')
    request.log.error({ err: error.cause ?? error, code: error.code }, error.message);
}
