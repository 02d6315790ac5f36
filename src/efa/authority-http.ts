import { createWriteStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { createConcurrencyLimit } from '../event-loop-turn.ts';
import { pipeThrough } from '../own-memory.ts';
import { untilAborted } from '../time-limit.ts';
import { nonsense, unexpectedStatus } from './failure.ts';

/** Beyond so many bytes, and where they are to be unpacked, few responses are read at once: a large one takes many times its size. */
const SMALL_BYTES = 64_000;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
]);

/** GET requests to one host of the authority: sends the key, expects 200, and unpacks bodies of a bounded size. */
export class AuthorityHttp {
  readonly #options;
  readonly #basePath: string;
  readonly #origin: string;
  readonly #pool: Dispatcher;

  constructor(options: {
    /** The address to which paths are appended. */
    url: string;
    connections: number;
    /** To connect. */
    timeoutMs: number;
    /** A proxy on the way out, "http://proxy:3128"; requests go through a tunnel, so that it sees no key. */
    proxyUrl?: string | null;
    /** `accept` and `accept-encoding`. */
    headers: Record<string, string>;
    /** Of a body, as received and unpacked. */
    maxBytes: number;
    /** Bounds how many large bodies are read at once. */
    readLarge?: ReturnType<typeof createConcurrencyLimit>;
    /** Is told what the authority's clock says in each response. */
    noteDate?: ((date: string | undefined, call: { sentAt: number; receivedAt: number }) => void) | undefined;
    now: () => Date;
  }) {
    const { url, connections, timeoutMs, proxyUrl } = options;
    const { origin, pathname } = new URL(url);
    this.#options = options;
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, '');
    const pool = { connections, pipelining: 1, connect: { timeout: timeoutMs } };
    this.#pool = proxyUrl ? new ProxyAgent({ ...pool, uri: proxyUrl, proxyTunnel: true }) : new Pool(origin, pool);
  }

  /**
   * What `read` makes of the unpacked body. Throws an `ApiError` for another status than 200 and for a body that cannot
   * be used, and the error of the network or of `signal` as it is.
   */
  async get<Result>(
    path: string,
    { apiKey, signal }: { apiKey: string; signal: AbortSignal },
    read: (body: Buffer, headers: IncomingHttpHeaders) => Promise<Result>,
  ): Promise<Result> {
    const { maxBytes, now } = this.#options;
    const response = await this.#request(path, { apiKey, signal });
    if (response.statusCode !== 200) {
      // When the body cannot be read, the status has to do.
      const body = await this.#read(response, signal, SMALL_BYTES, async (bytes) => bytes.toString()).catch(() => '');
      throw unexpectedStatus(response.statusCode, response.headers, body, { now: now(), apiKey });
    }
    return await this.#read(response, signal, maxBytes, (body) => read(body, response.headers));
  }

  /** The response whatever its status, unpacked. Throws as `get` does when the body cannot be received. */
  async receive(
    path: string,
    call: { apiKey: string; signal: AbortSignal },
  ): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
    const response = await this.#request(path, call);
    const body = await this.#read(response, call.signal, this.#options.maxBytes, async (bytes) => bytes);
    return { status: response.statusCode, headers: response.headers, body };
  }

  /** Writes the body into a file as it is received. Throws as `get` does. */
  async download(path: string, call: { apiKey: string; signal: AbortSignal }, file: string): Promise<void> {
    const { maxBytes, now } = this.#options;
    const { statusCode, headers, body } = await this.#request(path, call);
    if (statusCode !== 200) {
      await body.dump({ limit: SMALL_BYTES }).catch(() => undefined);
      throw unexpectedStatus(statusCode, headers, '', { now: now(), apiKey: call.apiKey });
    }
    let size = 0;
    async function* bounded() {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) throw nonsense(`the response is larger than ${maxBytes} bytes`);
        yield chunk;
      }
    }
    await pipeline(bounded, createWriteStream(file), { signal: call.signal });
  }

  async #request(
    path: string,
    { apiKey, signal }: { apiKey: string; signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    const { headers, noteDate, now } = this.#options;
    const sentAt = now().getTime();
    const response = await this.#pool.request({
      origin: this.#origin,
      method: 'GET',
      path: `${this.#basePath}${path}`,
      headers: { ...headers, ...(apiKey && { authorization: `apikey ${apiKey}` }) },
      signal,
    });
    noteDate?.(response.headers.date?.toString(), { sentAt, receivedAt: now().getTime() });
    return response;
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #read<Result>(
    { body, headers }: Dispatcher.ResponseData,
    signal: AbortSignal,
    maxBytes: number,
    read: (unpacked: Buffer) => Promise<Result>,
  ): Promise<Result> {
    const { readLarge } = this.#options;
    const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
    const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const received: Buffer[] = [];
    let size = 0;

    /** True when the body has ended. */
    async function receive(most: number): Promise<boolean> {
      while (size <= most) {
        const { done, value } = await chunks.next();
        if (done) return true;
        received.push(value);
        size += value.length;
      }
      return false;
    }

    async function finish(): Promise<Result> {
      signal.throwIfAborted();
      if (!(await receive(maxBytes))) {
        body.destroy();
        throw nonsense(`the response is larger than ${maxBytes} bytes`);
      }
      const bytes = Buffer.concat(received.splice(0));
      return read(encoding === 'identity' || bytes.length === 0 ? bytes : await unpack(bytes, encoding, maxBytes));
    }

    const isSmall = (await receive(Math.min(SMALL_BYTES, maxBytes))) && encoding === 'identity';
    return isSmall || !readLarge ? finish() : untilAborted(signal, readLarge(finish), () => signal.reason);
  }
}

async function unpack(bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const createDecoder = DECODERS.get(encoding);
  if (!createDecoder) throw nonsense(`the response has the unknown content-encoding ${encoding}`);
  try {
    return await pipeThrough(createDecoder(), bytes, maxBytes);
  } catch (error) {
    throw nonsense('the response could not be unpacked', error);
  }
}
