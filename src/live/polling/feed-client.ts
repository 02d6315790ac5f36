import { createGunzip } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { pipeThrough } from '../../compression.ts';
import { UpstreamStatusError, unexpectedStatus } from '../../efa/failure.ts';
import { ApiError } from '../../errors/api-error.ts';
import { withTimeLimit } from '../../time-limit.ts';
import { MAX_FEED_BYTES } from '../feed/feed-reader.ts';
import type { PollFailure } from './feed-health.ts';
import { FEED_SOURCES, type FeedSourceId } from './feed-source.ts';

/** A poll that brought no feed. The message has no key in it. */
export class FailedPoll extends Error {
  override readonly name = 'FailedPoll';
  readonly failure: PollFailure;

  constructor(failure: PollFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** As many as may be polled in one second. */
const MAX_CONNECTIONS = 10;
/** The largest feed (buses) has about a fifth of this without compression. */
const MAX_RECEIVED_BYTES = MAX_FEED_BYTES;
const MAX_ERROR_BYTES = 64 * 1024;

/** Fetches feeds from the authority. */
export class FeedClient {
  readonly #options;
  readonly #path: string;
  readonly #pool: Pool;

  constructor(options: {
    /** The address to which the paths of the feeds are appended, "https://api.transport.nsw.gov.au". */
    url: string;
    apiKeys: readonly string[];
    /** Takes a call from the budget; `key` is the position in `apiKeys`. */
    callForFeed: <Result>(call: (key: number) => Promise<Result>) => Promise<Result>;
    /** For a whole poll, body included. */
    timeoutMs: number;
    now: () => Date;
  }) {
    const { url, timeoutMs } = options;
    const { origin, pathname } = new URL(url);
    this.#options = options;
    this.#path = pathname.replace(/\/$/, '');
    this.#pool = new Pool(origin, { connections: MAX_CONNECTIONS, pipelining: 1, connect: { timeout: timeoutMs } });
  }

  /** Returns the bytes of the feed. Throws `FailedPoll` and nothing else. */
  async fetch(source: FeedSourceId): Promise<Buffer> {
    const { apiKeys, callForFeed, timeoutMs } = this.#options;
    try {
      return await callForFeed((key) =>
        withTimeLimit(timeoutMs, (signal) => this.#request(source, apiKeys[key] ?? '', signal)),
      );
    } catch (error) {
      throw toFailedPoll(error, timeoutMs);
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #request(source: FeedSourceId, apiKey: string, signal: AbortSignal): Promise<Buffer> {
    const { now } = this.#options;
    const response = await this.#pool.request({
      method: 'GET',
      path: `${this.#path}${FEED_SOURCES[source].path}`,
      headers: {
        accept: 'application/x-google-protobuf, application/octet-stream, */*',
        'accept-encoding': 'gzip',
        ...(apiKey && { authorization: `apikey ${apiKey}` }),
      },
      signal,
    });
    if (response.statusCode === 200) return readFeedBytes(response);
    // When the body cannot be read, the status has to do.
    const body = await receive(response.body, MAX_ERROR_BYTES).catch(() => Buffer.alloc(0));
    throw unexpectedStatus(response.statusCode, response.headers, body.toString(), { now: now(), apiKey });
  }
}

async function readFeedBytes({ body, headers }: Dispatcher.ResponseData): Promise<Buffer> {
  const received = await receive(body, MAX_RECEIVED_BYTES);
  const isPacked = String(headers['content-encoding'] ?? '').toLowerCase() === 'gzip' && received.length > 0;
  const bytes = isPacked ? await unpack(received) : received;
  // Errors of the gateway can be pages with status 200. No feed begins with this byte: it would be the tag of a group.
  const isPage = /text\/html/i.test(String(headers['content-type'])) || bytes[0] === '<'.charCodeAt(0);
  if (isPage) throw new FailedPoll('a web page', 'the feed is a web page');
  return bytes;
}

/** At most so many bytes; the rest is not received. */
async function receive(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new FailedPoll('undecodable', `the feed is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function unpack(received: Buffer): Promise<Buffer> {
  try {
    return await pipeThrough(createGunzip(), received, MAX_FEED_BYTES);
  } catch (error) {
    throw new FailedPoll('undecodable', 'the feed could not be unpacked', error);
  }
}

function toFailedPoll(error: unknown, timeoutMs: number): FailedPoll {
  if (error instanceof FailedPoll) return error;
  const { message, name, cause } = error as Error;
  if (cause instanceof UpstreamStatusError) return new FailedPoll('not 200', cause.message, error);
  // The budget refuses calls with this code.
  if (error instanceof ApiError && error.code === 'UPSTREAM_UNAVAILABLE')
    return new FailedPoll('no calls left', message, error);
  if (name === 'TimeoutError') return new FailedPoll('no response', `no response within ${timeoutMs} ms`, error);
  return new FailedPoll('no response', message, error);
}
