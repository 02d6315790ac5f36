import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse, validateHeaderName } from 'node:http';
import { SECOND_MS } from '../../core/clock.ts';

/** Larger responses are written in two parts: copying more than this would cost more than a second part. */
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
  /** Whether the client waits for permission to send its body. */
  _expect_continue: boolean;
}

/** Headers that Node also acts on, so Node formats the headers of a response that has one of them. */
const SPECIAL = [
  'connection',
  'content-disposition',
  'date',
  'expect',
  'keep-alive',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
];
/** Valid names of other headers. They come from our own code, so they are few. */
const plainNames = new Set<string>();
/** Not allowed in a value, as in Node. A line break would begin a header of its own. */
const INVALID = /[^\t\x20-\x7e\x80-\xff]/;
const latestDate = { second: Number.NaN, text: '' };

/**
 * A response that leaves in one write. Node writes headers and a `Buffer` as two parts, which makes a small response an eighth
 * more expensive. HTTP/1.1 connections stay open unless a response says otherwise, so `Connection: keep-alive` is left out.
 */
export class OneWriteResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override writeHead(...head: unknown[]): this {
    const staysOpen = this.shouldKeepAlive && this.req.httpVersionMinor === 1;
    if (staysOpen) this.removeHeader('connection');
    const [status, headers] = head as [number, OutgoingHttpHeaders | undefined];
    const fields = this as unknown as ResponseFields;
    const isUsual = staysOpen && status === 200 && fields._header === null && !fields._expect_continue;
    const text = isUsual && head.length === 2 && this.getHeaderNames().length === 0 ? toText(headers) : null;
    if (text === null) return super.writeHead(...(head as [number, OutgoingHttpHeaders]));
    this.statusCode = status;
    this.statusMessage = 'OK';
    fields._header = text;
    fields._headerSent = false;
    return this;
  }

  override end(...rest: unknown[]): this {
    const [body, encoding, callback] = rest;
    // Without a socket, an earlier response of the connection is not finished. A socket with unsent data would keep the block.
    const { socket } = this;
    const isIdle = socket?.writableLength === 0;
    const fields = this as unknown as ResponseFields;
    const { _header: headers } = fields;
    const isWhole = headers !== null && !fields._headerSent && fields._hasBody && !this.chunkedEncoding;
    const isPlain = Buffer.isBuffer(body) && !encoding && !callback;
    if (!isIdle || !isWhole || !isPlain || headers.length + body.length > MAX_BYTES) {
      return super.end(...(rest as [unknown, BufferEncoding]));
    }
    const start = block.write(headers, 'latin1');
    const end = start + body.copy(block, start);
    fields._headerSent = true;
    // Bypasses Node's `end`, which would cork the socket and write what has gathered.
    socket.write(block.subarray(0, end));
    super.end();
    // The system has not copied all of it yet.
    if (socket.writableLength > 0) block = Buffer.allocUnsafeSlow(MAX_BYTES);
    return this;
  }
}

/**
 * The headers of a usual response as Node would write them; null if they are not plain texts, or the length is unknown. Node compares
 * each name with those that it knows, and checks each value by itself.
 */
function toText(headers: OutgoingHttpHeaders | undefined): string | null {
  if (typeof headers !== 'object' || headers === null || headers['content-length'] === undefined) return null;
  let lines = '';
  let values = '';
  for (const name in headers) {
    const value = headers[name];
    if (typeof value !== 'string' && typeof value !== 'number') return null;
    if (!plainNames.has(name) && !isPlain(name)) return null;
    lines += `${name}: ${value}\r\n`;
    values += value;
  }
  return INVALID.test(values) ? null : `HTTP/1.1 200 OK\r\n${lines}Date: ${dateNow()}\r\n\r\n`;
}

function isPlain(name: string): boolean {
  if (SPECIAL.includes(name.toLowerCase())) return false;
  validateHeaderName(name);
  plainNames.add(name);
  return true;
}

function dateNow(): string {
  const second = Math.floor(Date.now() / SECOND_MS);
  if (second !== latestDate.second) {
    latestDate.second = second;
    latestDate.text = new Date(second * SECOND_MS).toUTCString();
  }
  return latestDate.text;
}
