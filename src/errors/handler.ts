import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { HeldRefusals } from '../http/connection/held-refusals.ts';
import { wantsPage } from '../http/paths.ts';
import { logServed } from '../http/request-log.ts';
import { CROSS_ORIGIN_HEADERS, PAGE_POLICY } from '../http/response-headers.ts';
import { ApiError, codeForStatus, errorBody } from './api-error.ts';
import {
  bodyLengthWrong,
  bodyTooLarge,
  internalError,
  invalidJson,
  malformedUrl,
  notUnderstood,
  serviceUnavailable,
  unsupportedMediaType,
  upstreamFailed,
} from './messages.ts';

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
      /** Slows down clients that are refused all the time; without it all refusals are sent at once. */
      refusals?: HeldRefusals | undefined;
    },
  ) => {
    const { docsUrl, drawError, refusals } = options;
    app.decorateRequest('failure', null);
    app.addHook('preClose', async () => refusals?.release());
    app.setErrorHandler((error, request, reply) => {
      const apiError = toApiError(error);
      logError(apiError, request);
      const send = () => sendErrorOrPage(apiError, request, reply);
      if (refusals && isRefusal(apiError, request)) refusals.refuse(request, reply, send);
      else send();
    });

    function sendErrorOrPage(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
      const hasPage = drawError && !API_PATH.test(request.url);
      if (hasPage) reply.header('vary', 'Accept');
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

/** Whatever was thrown, as the one kind of error that we respond with. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const {
    statusCode = 500,
    code = '',
    message,
    expose,
  } = (error ?? {}) as Partial<FastifyError> & { expose?: boolean };
  const ours = FRAMEWORK_ERRORS[code] ?? CLIENT_ERRORS[statusCode];
  if (ours) return ours(error);
  if (statusCode >= 400 && statusCode < 500) {
    // http-errors writes these messages for callers; other errors with such a status may hold anything.
    return expose && message
      ? new ApiError(codeForStatus(statusCode), message, { cause: error })
      : notUnderstood(error);
  }
  return SERVER_ERRORS[statusCode]?.(error) ?? internalError(error);
}

/** Our words for what the framework says of requests that it cannot read. */
const FRAMEWORK_ERRORS: Record<string, (cause: unknown) => ApiError> = {
  FST_ERR_BAD_URL: malformedUrl,
  FST_ERR_CTP_INVALID_JSON_BODY: invalidJson,
  FST_ERR_CTP_EMPTY_JSON_BODY: invalidJson,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: bodyLengthWrong,
};

const CLIENT_ERRORS: Record<number, (cause: unknown) => ApiError> = {
  413: bodyTooLarge,
  415: unsupportedMediaType,
};

/** Our words for the 5xx of plugins: theirs are for the log. */
const SERVER_ERRORS: Record<number, (cause: unknown) => ApiError> = {
  502: upstreamFailed,
  503: serviceUnavailable,
  504: (cause) =>
    new ApiError('UPSTREAM_TIMEOUT', 'The transport authority did not answer in time. Try again later.', { cause }),
};
