import { createWriteStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { MINUTE_MS, untilAborted, withTimeLimit } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { pipeThrough } from '../core/own-memory.ts';
import { ApiError } from '../errors/api-error.ts';
import { unexpectedResponse, unexpectedStatus } from './failure.ts';

/**
 * Responses above this size and compressed ones are read a few at a time, because reading one takes many times its size in
 * memory.
 */
const SMALL_BYTES = 64_000;

/** Long downloads have long timeouts, but end when nothing arrives for this long. */
const SILENT_MS = MINUTE_MS;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
]);

/** `timeoutMs` limits the whole call, body included; `signal` ends it earlier. */
type HttpCall = { apiKey: string; timeoutMs: number; signal?: AbortSignal | undefined };

/**
 * The only HTTP client for upstream: GET and HEAD requests to one host, with the key, a time limit, and decompressed bodies of
 * limited size. Each use has its own connections: the trip planner (`client.ts`) may have many calls in flight, feeds
 * (`realtime/polling/feed-client.ts`) are few and large, schedule files go to disk, and the operator's check accepts any
 * status.
 */
export class UpstreamHttp {
  readonly #options;
  readonly #basePath: string;
  readonly #origin: string;
  readonly #pool: Dispatcher;

  constructor(options: {
    /** The base URL for paths. */
    url: string;
    connections: number;
    connectTimeoutMs: number;
    /** An outbound proxy, "http://proxy:3128"; requests are tunnelled, so it never sees the key. */
    proxyUrl?: string | null;
    /** `accept` and `accept-encoding`. */
    headers: Record<string, string>;
    /** Limits a body, as received and as decompressed. */
    maxBytes: number;
    /** Limits how many large bodies are read at once. */
    parseLarge?: <Result>(work: () => Promise<Result>) => Promise<Result>;
    /** Receives upstream's clock time from each response. */
    clock?: { recordResponse: UpstreamClock['recordResponse'] } | undefined;
    now: () => number;
  }) {
    const { url, connections, connectTimeoutMs, proxyUrl } = options;
    const { origin, pathname } = new URL(url);
    this.#options = options;
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, '');
    const silence = { headersTimeout: SILENT_MS, bodyTimeout: SILENT_MS };
    const pool = { connections, pipelining: 1, connect: { timeout: connectTimeoutMs }, ...silence };
    this.#pool = proxyUrl ? new ProxyAgent({ ...pool, uri: proxyUrl, proxyTunnel: true }) : new Pool(origin, pool);
  }

  /**
   * Returns the result of `parse` for the decompressed body. Throws an `ApiError` for any status but 200 and for an unusable
   * body; network and abort errors pass through unchanged.
   */
  get<Result>(
    path: string,
    call: HttpCall,
    parse: (body: Buffer, headers: IncomingHttpHeaders) => Promise<Result>,
  ): Promise<Result> {
    const { maxBytes } = this.#options;
    return this.#request(path, call, async (response, signal) => {
      if (response.statusCode !== 200) {
        // If the body cannot be read, use the status alone.
        const body = await this.#parse(response, signal, SMALL_BYTES, async (bytes) => bytes.toString()).catch(
          () => '',
        );
        throw this.#unexpected(response.statusCode, response.headers, call, body);
      }
      return this.#parse(response, signal, maxBytes, (body) => parse(body, response.headers));
    });
  }

  /** The decompressed response, whatever its status. Throws like `get` if the body cannot be received. */
  receive(path: string, call: HttpCall): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
    return this.#request(path, call, async (response, signal) => {
      const body = await this.#parse(response, signal, this.#options.maxBytes, async (bytes) => bytes);
      return { status: response.statusCode, headers: response.headers, body };
    });
  }

  /** The headers of the response to a HEAD request. Throws like `get`. */
  head(path: string, call: HttpCall): Promise<IncomingHttpHeaders> {
    return this.#request(path, { ...call, method: 'HEAD' }, async ({ statusCode, headers, body }) => {
      await body.dump();
      if (statusCode !== 200) throw this.#unexpected(statusCode, headers, call);
      return headers;
    });
  }

  /**
   * Streams the body to a file and returns the headers. For a 304, when nothing changed since `ifModifiedSince` (the
   * `Last-Modified` of an earlier response), returns null and writes no file. Throws like `get`; the file is then closed.
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
          if (size > maxBytes) throw unexpectedResponse(`the response is larger than ${maxBytes} bytes`);
          yield chunk;
        }
      }
      const out = createWriteStream(file);
      // `pipeline` may fail before the file is opened, which would bring back a file that the caller has removed.
      const closed = new Promise<void>((resolve) => out.once('close', resolve));
      await pipeline(bounded, out, { signal })
        .catch((error: Error) => {
          if (error instanceof ApiError || signal.aborted) throw error;
          throw new BrokenDownload(`stopped after ${size} bytes: ${error.message}`, { cause: error });
        })
        .finally(() => closed);
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
      headers: extraHeaders,
    }: HttpCall & { method?: 'GET' | 'HEAD'; headers?: Record<string, string> },
    receive: (response: Dispatcher.ResponseData, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { headers, clock, now } = this.#options;
    const send = async (signal: AbortSignal) => {
      const sentAt = now();
      const response = await this.#pool.request({
        origin: this.#origin,
        method,
        path: `${this.#basePath}${path}`,
        headers: { ...headers, ...extraHeaders, ...(apiKey && { authorization: `apikey ${apiKey}` }) },
        signal,
      });
      clock?.recordResponse(response.headers.date?.toString(), { sentAt, receivedAt: now() });
      return receive(response, signal);
    };
    return withTimeLimit(timeoutMs, send, { signal: other });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #parse<Result>(
    { body, headers }: Dispatcher.ResponseData,
    signal: AbortSignal,
    maxBytes: number,
    parse: (unpacked: Buffer) => Promise<Result>,
  ): Promise<Result> {
    const { parseLarge: readLarge } = this.#options;
    const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
    const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const receivedChunks: Buffer[] = [];
    let size = 0;

    /** True if the body has ended. */
    async function receive(limit: number): Promise<boolean> {
      while (size <= limit) {
        const { done: isDone, value } = await chunks.next();
        if (isDone) return true;
        receivedChunks.push(value);
        size += value.length;
      }
      return false;
    }

    async function finish(): Promise<Result> {
      signal.throwIfAborted();
      if (!(await receive(maxBytes))) {
        body.destroy();
        throw unexpectedResponse(`the response is larger than ${maxBytes} bytes`);
      }
      const bytes = Buffer.concat(receivedChunks.splice(0));
      return parse(encoding === 'identity' || bytes.length === 0 ? bytes : await unpack(bytes, encoding, maxBytes));
    }

    const isSmall = (await receive(Math.min(SMALL_BYTES, maxBytes))) && encoding === 'identity';
    return isSmall || !readLarge ? finish() : untilAborted(signal, readLarge(finish), () => signal.reason);
  }
}

/** How calls of a product with its own client are made: feeds and car parks. */
export interface ChargedCalls {
  /** The base URL for paths: "https://api.transport.nsw.gov.au". */
  url: string;
  apiKeys: readonly string[];
  /** Charges a call to the budget; `key` is the index in `apiKeys`. */
  callForFeed: <Result>(call: (key: number) => Promise<Result>, priority: 'feed' | 'background') => Promise<Result>;
  /** The limit for a whole call, including the body. */
  timeoutMs: number;
  proxyUrl?: string | null;
  now: () => number;
}

/** GET requests of a product, each charged to the budget. */
export class ChargedHttp {
  readonly #calls: ChargedCalls;
  readonly #http: UpstreamHttp;

  constructor(calls: ChargedCalls, limits: { connections: number; headers: Record<string, string>; maxBytes: number }) {
    const { url, timeoutMs, proxyUrl = null, now } = calls;
    this.#calls = calls;
    this.#http = new UpstreamHttp({ ...limits, url, connectTimeoutMs: timeoutMs, proxyUrl, now });
  }

  /** Like `UpstreamHttp.get`. `toError` converts an error before the budget sees it. */
  get<Result>(
    path: string,
    priority: 'feed' | 'background',
    parse: (body: Buffer, headers: IncomingHttpHeaders) => Promise<Result>,
    toError = (error: unknown) => error,
  ): Promise<Result> {
    const { apiKeys, callForFeed, timeoutMs } = this.#calls;
    return callForFeed(async (key) => {
      try {
        return await this.#http.get(path, { apiKey: apiKeys[key] ?? '', timeoutMs }, parse);
      } catch (error) {
        throw toError(error);
      }
    }, priority);
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

async function unpack(bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const createDecoder = DECODERS.get(encoding);
  if (!createDecoder) throw unexpectedResponse(`the response has the unknown content-encoding ${encoding}`);
  try {
    return await pipeThrough(createDecoder(), bytes, maxBytes);
  } catch (error) {
    throw unexpectedResponse('the response could not be unpacked', error);
  }
}

/** The body ended before it was complete. */
export class BrokenDownload extends Error {
  override readonly name = 'BrokenDownload';
}

/** A larger difference hides vehicles that have not left yet, or shows some that have. */
const MAX_SKEW_MS = 5000;
/** `Date` has whole seconds. */
const DATE_STEP_MS = 1000;

/** Compares upstream's clock, taken from the `Date` header of its responses, with ours. */
export class UpstreamClock {
  /** The least by which upstream's clock is ahead, in milliseconds; null before the first response. */
  skewMs: number | null = null;
  readonly #log: Log;
  #isSkewed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** If the clocks agree, `date` lies between the two times, however long the response took. */
  recordResponse(date: string | undefined, { sentAt, receivedAt }: { sentAt: number; receivedAt: number }): void {
    const upstreamTime = Date.parse(date ?? '');
    if (Number.isNaN(upstreamTime)) return;
    const behind = Math.min(0, upstreamTime + DATE_STEP_MS - sentAt);
    this.skewMs = behind < 0 ? behind : Math.max(0, upstreamTime - receivedAt);
    const isSkewed = Math.abs(this.skewMs) > MAX_SKEW_MS;
    if (isSkewed === this.#isSkewed) return;
    this.#isSkewed = isSkewed;
    const fields = { skewSeconds: this.skewMs / 1000 };
    if (isSkewed) this.#log.warn(fields, 'clocks differ: upstream and this machine are more than 5 seconds apart');
    else this.#log.info(fields, 'clocks of upstream and this machine agree again');
  }
}
