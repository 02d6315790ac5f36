import { createWriteStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { untilAborted, withTimeLimit } from '../core/clock.ts';
import type { createConcurrencyLimit } from '../core/event-loop-turn.ts';
import type { Log } from '../core/log.ts';
import { pipeThrough } from '../core/own-memory.ts';
import { nonsense, unexpectedStatus } from './failure.ts';

/** Beyond so many bytes, and where they are to be unpacked, few responses are read at once: a large one takes many times its size. */
const SMALL_BYTES = 64_000;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
]);

/** A whole call takes no longer than `timeoutMs`, body included; `signal` ends it earlier. */
type HttpCall = { apiKey: string; timeoutMs: number; signal?: AbortSignal | undefined };

/**
 * The one HTTP client for the authority: GET and HEAD requests to one of its hosts, with the key, a time limit, and bodies unpacked up
 * to a bounded size. It has its own connections for each use, because these differ: the trip planner (`client.ts`) may
 * have many calls under way, feeds (`realtime/polling/feed-client.ts`) are few and large, schedule files go to disk, and the operator's check wants
 * responses of any status.
 */
export class AuthorityHttp {
  readonly #options;
  readonly #basePath: string;
  readonly #origin: string;
  readonly #pool: Dispatcher;

  constructor(options: {
    /** The address to which paths are appended. */
    url: string;
    connections: number;
    connectTimeoutMs: number;
    /** A proxy on the way out, "http://proxy:3128"; requests go through a tunnel, so that it sees no key. */
    proxyUrl?: string | null;
    /** `accept` and `accept-encoding`. */
    headers: Record<string, string>;
    /** Bounds a body, as received and unpacked. */
    maxBytes: number;
    /** Bounds how many large bodies are read at once. */
    readLarge?: ReturnType<typeof createConcurrencyLimit>;
    /** Is told what the authority's clock says in each response. */
    clock?: Pick<AuthorityClock, 'note'> | undefined;
    now: () => Date;
  }) {
    const { url, connections, connectTimeoutMs, proxyUrl } = options;
    const { origin, pathname } = new URL(url);
    this.#options = options;
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, '');
    const pool = { connections, pipelining: 1, connect: { timeout: connectTimeoutMs } };
    this.#pool = proxyUrl ? new ProxyAgent({ ...pool, uri: proxyUrl, proxyTunnel: true }) : new Pool(origin, pool);
  }

  /**
   * Returns what `read` makes of the unpacked body. Throws an `ApiError` for another status than 200 and for a body that cannot
   * be used, and the error of the network or of `signal` as it is.
   */
  get<Result>(
    path: string,
    call: HttpCall,
    read: (body: Buffer, headers: IncomingHttpHeaders) => Promise<Result>,
  ): Promise<Result> {
    const { maxBytes } = this.#options;
    return this.#request(path, call, async (response, signal) => {
      if (response.statusCode !== 200) {
        // When the body cannot be read, the status has to do.
        const body = await this.#read(response, signal, SMALL_BYTES, async (bytes) => bytes.toString()).catch(() => '');
        throw this.#unexpected(response.statusCode, response.headers, call, body);
      }
      return this.#read(response, signal, maxBytes, (body) => read(body, response.headers));
    });
  }

  /** The response whatever its status, unpacked. Throws as `get` does when the body cannot be received. */
  receive(path: string, call: HttpCall): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
    return this.#request(path, call, async (response, signal) => {
      const body = await this.#read(response, signal, this.#options.maxBytes, async (bytes) => bytes);
      return { status: response.statusCode, headers: response.headers, body };
    });
  }

  /** The headers of the response to a HEAD request. Throws as `get` does. */
  head(path: string, call: HttpCall): Promise<IncomingHttpHeaders> {
    return this.#request(path, { ...call, method: 'HEAD' }, async ({ statusCode, headers, body }) => {
      await body.dump();
      if (statusCode !== 200) throw this.#unexpected(statusCode, headers, call);
      return headers;
    });
  }

  /**
   * Writes the body into a file as it is received and returns the headers; null, and no file, where the response is 304: nothing has
   * changed since `ifModifiedSince`, the `Last-Modified` of an earlier response. Throws as `get` does.
   */
  download(
    path: string,
    { ifModifiedSince, ...call }: HttpCall & { ifModifiedSince?: string | null },
    file: string,
  ): Promise<IncomingHttpHeaders | null> {
    const { maxBytes } = this.#options;
    const headers = ifModifiedSince ? { 'if-modified-since': ifModifiedSince } : {};
    return this.#request(path, { ...call, headers }, async ({ statusCode, headers, body }, signal) => {
      if (statusCode !== 200) {
        await body.dump({ limit: SMALL_BYTES }).catch(() => undefined);
        if (statusCode === 304 && ifModifiedSince) return null;
        throw this.#unexpected(statusCode, headers, call);
      }
      let size = 0;
      async function* bounded() {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          size += chunk.length;
          if (size > maxBytes) throw nonsense(`the response is larger than ${maxBytes} bytes`);
          yield chunk;
        }
      }
      await pipeline(bounded, createWriteStream(file), { signal });
      return headers;
    });
  }

  #unexpected(status: number, headers: IncomingHttpHeaders, { apiKey }: HttpCall, body = '') {
    return unexpectedStatus(status, headers, body, { now: this.#options.now(), apiKey });
  }

  #request<Result>(
    path: string,
    {
      apiKey,
      timeoutMs,
      signal: other,
      method = 'GET',
      headers: more,
    }: HttpCall & { method?: 'GET' | 'HEAD'; headers?: Record<string, string> },
    receive: (response: Dispatcher.ResponseData, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { headers, clock, now } = this.#options;
    const send = async (signal: AbortSignal) => {
      const sentAt = now().getTime();
      const response = await this.#pool.request({
        origin: this.#origin,
        method,
        path: `${this.#basePath}${path}`,
        headers: { ...headers, ...more, ...(apiKey && { authorization: `apikey ${apiKey}` }) },
        signal,
      });
      clock?.note(response.headers.date?.toString(), { sentAt, receivedAt: now().getTime() });
      return receive(response, signal);
    };
    return withTimeLimit(timeoutMs, send, { signal: other });
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

/** A larger difference hides vehicles that have not left yet, or shows some that have. */
const MAX_SKEW_MS = 5000;
/** `Date` has whole seconds. */
const DATE_STEP_MS = 1000;

/** Compares the clock of the authority, which its responses tell in `Date`, with ours. */
export class AuthorityClock {
  /** By how much the authority's clock is ahead at least, in milliseconds; null until a response has told. */
  skewMs: number | null = null;
  readonly #log: Log;
  #isOff = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** `date` was written between the two moments if the clocks agree: how long the response took is no difference. */
  note(date: string | undefined, { sentAt, receivedAt }: { sentAt: number; receivedAt: number }): void {
    const said = Date.parse(date ?? '');
    if (Number.isNaN(said)) return;
    const behind = Math.min(0, said + DATE_STEP_MS - sentAt);
    this.skewMs = behind < 0 ? behind : Math.max(0, said - receivedAt);
    const isOff = Math.abs(this.skewMs) > MAX_SKEW_MS;
    if (isOff === this.#isOff) return;
    this.#isOff = isOff;
    const fields = { skewSeconds: this.skewMs / 1000 };
    if (isOff) this.#log.warn(fields, 'the clock of the authority and ours differ by more than 5 seconds');
    else this.#log.info(fields, 'the clock of the authority and ours agree again');
  }
}
