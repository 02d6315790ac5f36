import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { ApiError, errorBody } from '../errors.ts';
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
  reply
    .code(apiError.statusCode)
    .headers(apiError.headers)
    .headers(CROSS_ORIGIN_HEADERS)
    .header('x-request-id', request.id)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(errorBody(apiError, docsUrl));
}

/** Failures of the authority are expected; an internal error is a bug. */
export function logError(error: ApiError, request: FastifyRequest): void {
  if (error.statusCode < 500) return;
  const level = error.code === 'INTERNAL_ERROR' ? 'error' : 'warn';
  request.log[level]({ err: error.cause ?? error, code: error.code }, error.message);
}

/** What Node refuses before there is a request: broken HTTP, too large a header, too slow a client. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, docsUrl: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = CLIENT_ERRORS[error.code ?? ''] ?? [
    400,
    'The request is not valid HTTP. Blanks and letters beyond ASCII in the URL must be percent-encoded.',
  ];
  const body = JSON.stringify(errorBody(new ApiError('INVALID_PARAMETER', message), docsUrl));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...CROSS_ORIGIN_HEADERS,
    'x-request-id': randomUUID(),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // A client that keeps its half of the connection open would hold up a clean stop.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

const LINGER_MS = 500;

const CLIENT_ERRORS: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The URL and headers of the request are too large together.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};
