import { isHigher } from '../../core/turn-queue.ts';
import type { ApiError } from '../../errors/api-error.ts';
import { toApiError } from '../../errors/to-api-error.ts';
import type { FinishedResponse } from '../../operations/finished-response.ts';
import type { Operation } from '../../operations/operation.ts';
import { queryKey, type Requester, type Responses } from '../../operations/serve.ts';
import { boardEvent } from './event-stream.ts';

/** One stream that follows a channel. When it ends, the channel's request goes on for the other streams. */
export interface Subscriber extends Omit<Requester, 'signal'> {
  changed(etag: string, event: Buffer): void;
  /** A response cost an upstream call, made for this stream's account. */
  calledUpstream(): void;
  /** A request failed; the channel retries. */
  failed(error: ApiError): void;
  /** A request failed for good; the channel is closed. */
  refused(error: ApiError): void;
}

interface FollowedQuery {
  operation: Operation;
  query: Readonly<Record<string, unknown>>;
}

/** An operation and query followed by streams. */
interface Channel extends FollowedQuery {
  key: string;
  subscribers: Set<Subscriber>;
  /**
   * The ETag of the response that all subscribers have. Null after a failure, empty if they have different responses; the next
   * response is then sent even if it has not changed.
   */
  etag: string | null;
  timer: NodeJS.Timeout | null;
}

/**
 * Repeats requests for any number of streams. Streams with equal requests share a channel, which sends the request once for
 * all. `minMs` is the minimum time between two requests: otherwise each poll of each feed would have a board computed again, up
 * to once a second.
 */
export function createChannels(options: { responses: Responses; now: () => number; times: { minMs: number } }) {
  const { responses, now, times } = options;
  const channels = new Map<string, Channel>();

  function schedule(channel: Channel, delayMs: number): void {
    if (channels.get(channel.key) === channel) channel.timer = setTimeout(check, delayMs, channel).unref();
  }

  function close(channel: Channel): void {
    if (channel.timer) clearTimeout(channel.timer);
    if (channels.get(channel.key) === channel) channels.delete(channel.key);
  }

  function delayAfter({ validUntil }: FinishedResponse): number {
    return Math.max(times.minMs, validUntil - now());
  }

  async function check(channel: Channel): Promise<void> {
    try {
      const requester = requesterOf(channel.subscribers);
      const response = await responses.get(channel.operation, channel.query, requester);
      if (response.freshness.source === 'upstream') requester.calledUpstream();
      const { etag } = response.body;
      if (channel.etag !== etag) {
        channel.etag = etag;
        const event = boardEvent(response, channel.operation);
        for (const subscriber of channel.subscribers) subscriber.changed(etag, event);
      }
      schedule(channel, delayAfter(response));
    } catch (error) {
      fail(channel, toApiError(error));
    }
  }

  function fail(channel: Channel, error: ApiError): void {
    const mayPass = error.statusCode >= 500;
    const isNews = channel.etag !== null;
    channel.etag = null;
    if (mayPass) schedule(channel, times.minMs);
    else close(channel);
    for (const subscriber of [...channel.subscribers]) {
      if (!mayPass) subscriber.refused(error);
      else if (isNews) subscriber.failed(error);
    }
  }

  return {
    /** Follows until the returned function is called. `response` is what the subscriber already has. */
    follow({ operation, query }: FollowedQuery, response: FinishedResponse, subscriber: Subscriber): () => void {
      const key = queryKey(operation, query);
      const { etag } = response.body;
      const existing = channels.get(key);
      const channel = existing ?? { key, operation, query, subscribers: new Set(), etag, timer: null };
      if (channel.etag !== etag) channel.etag = '';
      if (!existing) {
        channels.set(key, channel);
        schedule(channel, delayAfter(response));
      }
      channel.subscribers.add(subscriber);
      return () => {
        channel.subscribers.delete(subscriber);
        if (channel.subscribers.size === 0) close(channel);
      };
    },
  };
}

/** Returns the subscriber with the highest priority, on whose behalf the channel sends its request. */
function requesterOf(subscribers: Iterable<Subscriber>): Subscriber {
  return [...subscribers].reduce((highest, subscriber) =>
    isHigher(subscriber.priority, highest.priority) ? subscriber : highest,
  );
}
