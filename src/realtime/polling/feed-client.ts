import type { IncomingHttpHeaders } from 'node:http';
import { UpstreamStatusError } from '../../efa/failure.ts';
import { UpstreamHttp } from '../../efa/upstream-http.ts';
import { ApiError } from '../../errors/api-error.ts';
import { MAX_FEED_BYTES } from '../feed/feed-reader.ts';
import type { PollFailure } from './feed-health.ts';
import { type FeedId, isPositions, pathOf } from './feed-source.ts';

/** A poll that returned no feed. The message never contains the key. */
export class FailedPoll extends Error {
  override readonly name = 'FailedPoll';
  readonly failure: PollFailure;

  constructor(failure: PollFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** At most this many feeds are fetched at the same time. */
const MAX_CONNECTIONS = 10;

/** Fetches feeds from upstream. */
export class FeedClient {
  readonly #options;
  readonly #http: UpstreamHttp;

  constructor(options: {
    /** The base URL for the paths of the feeds: "https://api.transport.nsw.gov.au". */
    url: string;
    apiKeys: readonly string[];
    /** Charges a call to the budget; `key` is the index in `apiKeys`. */
    callForFeed: <Result>(call: (key: number) => Promise<Result>, priority: 'feed' | 'background') => Promise<Result>;
    /** The limit for a whole poll, including the body. */
    timeoutMs: number;
    proxyUrl?: string | null;
    now: () => Date;
  }) {
    const { url, timeoutMs, proxyUrl = null, now } = options;
    this.#options = options;
    this.#http = new UpstreamHttp({
      url,
      connectTimeoutMs: timeoutMs,
      proxyUrl,
      now,
      connections: MAX_CONNECTIONS,
      headers: { accept: 'application/x-google-protobuf, application/octet-stream, */*', 'accept-encoding': 'gzip' },
      maxBytes: MAX_FEED_BYTES,
    });
  }

  /** Returns the bytes of the feed. Throws only `FailedPoll`. */
  async fetch(source: FeedId): Promise<Buffer> {
    const { apiKeys, callForFeed, timeoutMs } = this.#options;
    try {
      return await callForFeed(
        (key) => this.#http.get(pathOf(source), { apiKey: apiKeys[key] ?? '', timeoutMs }, refusePages),
        // Feeds of positions are for maps only, and must not use up calls that other requests need.
        isPositions(source) ? 'background' : 'feed',
      );
    } catch (error) {
      throw toFailedPoll(error, timeoutMs);
    }
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

/**
 * Rejects web pages, because the gateway can return error pages with status 200. No feed begins with "<": as a tag it would begin a
 * group.
 */
async function refusePages(feed: Buffer, headers: IncomingHttpHeaders): Promise<Buffer> {
  const isPage = /text\/html/i.test(String(headers['content-type'])) || feed[0] === '<'.charCodeAt(0);
  if (isPage) throw new FailedPoll('a web page', 'the feed is a web page');
  return feed;
}

function toFailedPoll(error: unknown, timeoutMs: number): FailedPoll {
  if (error instanceof FailedPoll) return error;
  const { message, name, cause } = error as Error;
  if (cause instanceof UpstreamStatusError) return new FailedPoll('not 200', cause.message, error);
  // The budget refuses calls with this code.
  if (error instanceof ApiError && error.code === 'UPSTREAM_UNAVAILABLE')
    return new FailedPoll('no calls left', message, error);
  if (error instanceof ApiError && cause instanceof Error) return new FailedPoll('undecodable', cause.message, error);
  if (name === 'TimeoutError') return new FailedPoll('no response', `no response within ${timeoutMs} ms`, error);
  return new FailedPoll('no response', message, error);
}
