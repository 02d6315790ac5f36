import type { IncomingHttpHeaders } from 'node:http';
import { UpstreamStatusError } from '../../efa/failure.ts';
import { type ChargedCalls, ChargedHttp } from '../../efa/upstream-http.ts';
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

/** Fetches feeds from upstream, each charged to the budget. */
export class FeedClient {
  readonly #http: ChargedHttp;
  readonly #timeoutMs: number;

  constructor(calls: ChargedCalls) {
    const accept = 'application/x-google-protobuf, application/octet-stream, */*';
    const headers = { accept, 'accept-encoding': 'gzip' };
    this.#http = new ChargedHttp(calls, { connections: MAX_CONNECTIONS, headers, maxBytes: MAX_FEED_BYTES });
    this.#timeoutMs = calls.timeoutMs;
  }

  /** Returns the bytes of the feed. Throws only `FailedPoll`. */
  fetch(source: FeedId): Promise<Buffer> {
    // Feeds of positions are for maps only, and must not use up calls that other requests need.
    const priority = isPositions(source) ? 'background' : 'feed';
    return this.#http.get(pathOf(source), priority, refusePages).catch((error) => {
      throw toFailedPoll(error, this.#timeoutMs);
    });
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

/**
 * Rejects web pages, because the gateway can return error pages with status 200. No feed begins with "<": as a tag it would begin
 * a group.
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
