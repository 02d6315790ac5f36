import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Copying more than this would cost more than a second part. */
const MAX_BYTES = 16 * 1024;

/**
 * Headers and body of one response, until the system has copied them. All responses share it: a buffer or string per response
 * would double the memory that a cache hit allocates.
 */
let block = Buffer.allocUnsafeSlow(MAX_BYTES);

/** Fields that Node does not document. */
interface ResponseFields {
  /** The text of the headers; null before `writeHead`. */
  _header: string | null;
  _headerSent: boolean;
  /** False for HEAD and 304. */
  _hasBody: boolean;
}

/**
 * A response that leaves in one write. Node writes headers and a `Buffer` as two parts, which makes a small response an eighth
 * more expensive. HTTP/1.1 connections stay open unless a response says otherwise, so `Connection: keep-alive` is left out.
 */
export class OneWriteResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override writeHead(...head: unknown[]): this {
    if (this.shouldKeepAlive && this.req.httpVersionMinor === 1) this.removeHeader('connection');
    return super.writeHead(...(head as [number, OutgoingHttpHeaders]));
  }

  override end(...rest: unknown[]): this {
    const [body] = rest;
    // Without a socket, an earlier response of the connection is not finished. A socket with unsent data would keep the block.
    const { socket } = this;
    const isIdle = socket?.writableLength === 0;
    const fields = this as unknown as ResponseFields;
    const { _header: headers } = fields;
    const isWhole = headers !== null && !fields._headerSent && fields._hasBody && !this.chunkedEncoding;
    if (!isIdle || !isWhole || !Buffer.isBuffer(body) || headers.length + body.length > MAX_BYTES) {
      return super.end(...(rest as [unknown, BufferEncoding]));
    }
    const start = block.write(headers, 'latin1');
    const end = start + body.copy(block, start);
    fields._headerSent = true;
    rest[0] = block.subarray(0, end);
    super.end(...(rest as [unknown, BufferEncoding]));
    // The system has not copied all of it yet.
    if (socket.writableLength > 0) block = Buffer.allocUnsafeSlow(MAX_BYTES);
    return this;
  }
}
