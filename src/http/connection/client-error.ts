import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../../core/log.ts';
import { type ApiError, errorBody } from '../../errors/api-error.ts';
import { arrivedTooSlowly, headersTooLarge, notHttp, unknownMethod } from '../../errors/messages.ts';
import { createRequestId } from '../request-log.ts';
import { errorHeaders } from '../send-error.ts';
import type { Connections } from './connections.ts';

/** How long a client may leave its side of a connection open after we have closed ours. */
const LINGER_MS = 500;

/** The beginning of a request with an unknown method; anything else is not HTTP. */
const REQUEST_LINE = /^([A-Z-]{1,20}) [/*]/;

export interface RefusalOptions {
  docsUrl: string;
  log: Log<'info'>;
}

/** Responds when Node rejects an incomplete request: invalid HTTP, oversized headers, or a slow client. */
export function sendClientError(
  error: { code?: string | undefined; rawPacket?: unknown },
  socket: Socket,
  { connections, ...options }: RefusalOptions & { connections: Connections },
): void {
  if (error.code === 'ECONNRESET' || !connections.canBeAnswered(socket)) {
    socket.destroy();
    return;
  }
  endWithError(socket, toApiError(error), options);
}

function toApiError({ code, rawPacket }: { code?: string | undefined; rawPacket?: unknown }): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return arrivedTooSlowly();
  const start = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, 24) : '';
  const [, method] = REQUEST_LINE.exec(start) ?? [];
  return code === 'HPE_INVALID_METHOD' && method ? unknownMethod(method) : notHttp();
}

/** CONNECT requests a tunnel, which only proxies provide. */
export function refuseConnect(socket: Duplex, options: RefusalOptions): void {
  endWithError(socket, unknownMethod('CONNECT'), options);
}

/** Writes an error to a connection without a complete request, and closes it. */
export function endWithError(socket: Duplex, error: ApiError, { docsUrl, log }: RefusalOptions): void {
  const { statusCode: status, code } = error;
  const reqId = createRequestId();
  const body = JSON.stringify(errorBody(error, docsUrl));
  const headers = {
    ...errorHeaders(error, reqId),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  log.info({ reqId, status, code }, 'malformed request rejected');
  // A client that keeps its half open would delay a clean stop.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
