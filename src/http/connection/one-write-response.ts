import { type IncomingMessage, ServerResponse } from 'node:http';

/** Longer texts do not fit into the block that Node writes from without allocating memory. */
const MAX_BYTES = 15 * 1024;

/**
 * A response that leaves in one write. Node writes headers and a `Buffer` as two parts, which costs an eighth of a small response
 * more than one text does. Each character of Latin-1 is one byte, so a text can carry any bytes. HTTP/1.1 connections stay open
 * unless a response says otherwise, so `Connection: keep-alive` is left out.
 */
export class OneWriteResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override writeHead(...head: unknown[]): this {
    if (this.shouldKeepAlive && this.req.httpVersionMinor === 1) this.removeHeader('connection');
    return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>));
  }

  override end(...rest: unknown[]): this {
    const [body] = rest;
    if (Buffer.isBuffer(body) && body.length < MAX_BYTES) {
      rest[0] = body.toString('latin1');
      rest[1] = 'latin1';
    }
    return super.end(...(rest as Parameters<ServerResponse['end']>));
  }
}
