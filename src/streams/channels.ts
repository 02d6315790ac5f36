import { isHigher } from '../efa/ask.ts';
import type { ApiError } from '../errors/api-error.ts';
import { toApiError } from '../errors/handler.ts';
import type { Operation } from '../operation.ts';
import type { FinishedResponse } from '../responses/finished-response.ts';
import { queryKey, type Requester, type Responses } from '../responses/responses.ts';
import { boardEvent } from './event-stream.ts';

/** What is followed. */
export interface Topic {
  operation: Operation;
  query: Readonly<Record<string, unknown>>;
}

/** One stream that follows a topic. */
export interface Subscriber extends Requester {
  changed(etag: string, event: Buffer): void;
  /** No answer for now; the topic is tried again. */
  failed(error: ApiError): void;
  /** There will be no answer any more. */
  refused(error: ApiError): void;
}

/** Follows topics for any number of streams: each topic is looked up once for all of its streams. */
export interface Channels {
  /** Until the returned function is called. `answer` is what the subscriber has. */
  follow(topic: Topic, response: FinishedResponse, subscriber: Subscriber): () => void;
}

interface Channel {
  key: string;
  topic: Topic;
  subscribers: Set<Subscriber>;
  /** Null after a failure: then the next answer is news, whatever it says. */
  etag: string | null;
  timer: NodeJS.Timeout | null;
}

export interface RecheckTimes {
  /** Not looked up again sooner than after so long. */
  minMs: number;
  /** After a failure, and while answers are stale. */
  retryMs: number;
}

export function createChannels(options: { responses: Responses; now: () => Date; times: RecheckTimes }): Channels {
  const { responses, now, times } = options;
  const channels = new Map<string, Channel>();

  function open(topic: Topic, response: FinishedResponse): Channel {
    const key = queryKey(topic.operation, topic.query);
    const channel: Channel = { key, topic, subscribers: new Set(), etag: response.body.etag, timer: null };
    channels.set(key, channel);
    schedule(channel, delayAfter(response));
    return channel;
  }

  function schedule(channel: Channel, delayMs: number): void {
    if (channels.get(channel.key) === channel) channel.timer = setTimeout(check, delayMs, channel).unref();
  }

  function close(channel: Channel): void {
    if (channel.timer) clearTimeout(channel.timer);
    if (channels.get(channel.key) === channel) channels.delete(channel.key);
  }

  function delayAfter({ validUntil, freshness }: FinishedResponse): number {
    const least = freshness.shortage === null ? times.minMs : times.retryMs;
    return Math.max(least, validUntil - now().getTime());
  }

  async function check(channel: Channel): Promise<void> {
    const { operation, query } = channel.topic;
    try {
      const response = await responses.find(operation, query, requesterOf(channel.subscribers));
      announce(channel, response);
      schedule(channel, delayAfter(response));
    } catch (thrown) {
      const error = toApiError(thrown);
      fail(channel, error);
    }
  }

  function announce(channel: Channel, response: FinishedResponse): void {
    const { etag } = response.body;
    if (channel.etag === etag) return;
    channel.etag = etag;
    const event = boardEvent(response);
    for (const subscriber of channel.subscribers) subscriber.changed(etag, event);
  }

  function fail(channel: Channel, error: ApiError): void {
    const mayPass = error.statusCode >= 500;
    const isNews = channel.etag !== null;
    channel.etag = null;
    if (mayPass) schedule(channel, times.retryMs);
    else close(channel);
    for (const subscriber of [...channel.subscribers]) {
      if (!mayPass) subscriber.refused(error);
      else if (isNews) subscriber.failed(error);
    }
  }

  return {
    follow(topic, response, subscriber) {
      const channel = channels.get(queryKey(topic.operation, topic.query)) ?? open(topic, response);
      channel.subscribers.add(subscriber);
      return () => {
        channel.subscribers.delete(subscriber);
        if (channel.subscribers.size === 0) close(channel);
      };
    },
  };
}

/** The most urgent reader of a topic, for whom it is looked up. */
function requesterOf(subscribers: Iterable<Subscriber>): Requester {
  let most: Requester = { priority: 'background' };
  for (const { priority, account } of subscribers) {
    if (isHigher(priority, most.priority)) most = { priority, ...(account !== undefined && { account }) };
  }
  return most;
}
