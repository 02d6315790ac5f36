import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, errorBody } from '../../errors.ts';
import { CROSS_ORIGIN_HEADERS } from '../cors.ts';
import type { Connections } from './connections.ts';

/** For so long a client may keep its half of a connection open that we have ended. */
const LINGER_MS = 500;

const CLIENT_ERRORS: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The URL and headers of the request are too large together.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

const NOT_HTTP: [status: number, message: string] = [
  400,
  'The request is not valid HTTP. Blanks and letters beyond ASCII in the URL must be percent-encoded.',
];

/** What Node refuses before there is a whole request: broken HTTP, too large a header, too slow a client. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { docsUrl, connections }: { docsUrl: string; connections: Connections },
): void {
  if (error.code === 'ECONNRESET' || !connections.canBeAnswered(socket)) {
    socket.destroy();
    return;
  }
  const [status, message] = CLIENT_ERRORS[error.code ?? ''] ?? NOT_HTTP;
  endWithError(socket, new ApiError('INVALID_PARAMETER', message), { docsUrl, status });
}

/** Writes an error to a connection without a whole request, and closes it. */
export function endWithError(
  socket: Socket,
  error: ApiError,
  { docsUrl, status = error.statusCode }: { docsUrl: string; status?: number },
): void {
  const body = JSON.stringify(errorBody(error, docsUrl));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...CROSS_ORIGIN_HEADERS,
    ...error.headers,
    'x-request-id': randomUUID(),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // A client that keeps its half of the connection open would hold up a clean stop.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
