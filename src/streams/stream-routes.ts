import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/admission.ts';
import { PLANS } from '../access/plan.ts';
import { ApiError } from '../errors/api-error.ts';
import { toApiError } from '../errors/handler.ts';
import { serviceUnavailable, tooManyStreams } from '../errors/messages.ts';
import { listsEtag } from '../http/freshness-headers.ts';
import { noteBoards } from '../http/log/request-log.ts';
import { requesterOf } from '../http/operation-routes.ts';
import { type Operation, readQuery, streamPath } from '../operation.ts';
import type { FinishedResponse } from '../responses/finished-response.ts';
import type { Responses } from '../responses/responses.ts';
import { createChannels, type RecheckTimes, type Subscriber, type Topic } from './channels.ts';
import { boardEvent, createEventStream, type EventStream, errorEvent } from './event-stream.ts';

export interface StreamTimes extends RecheckTimes {
  commentMs: number;
  /** A stream counts as one request at its start, and again after each so many comments. */
  commentsPerCharge: number;
}

/** A comment every 15 seconds, a request every minute. */
const TIMES: StreamTimes = { minMs: 1000, retryMs: 5000, commentMs: 15_000, commentsPerCharge: 4 };

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'private, no-store, no-transform',
  // Else nginx would collect events before it passes them on.
  'x-accel-buffering': 'no',
};

interface StreamOptions {
  operations: readonly Operation[];
  responses: Responses;
  docsUrl: string;
  now: () => Date;
  times?: StreamTimes | undefined;
}

/**
 * `GET …/stream` for the operations that can be followed: their answer as server-sent events, whole, whenever it changes.
 * It is registered behind the key check, which counts the first minute.
 */
export async function streamRoutes(app: FastifyInstance, options: StreamOptions): Promise<void> {
  const { operations, responses, docsUrl, now, times = TIMES } = options;
  const channels = createChannels({ responses, now, times });
  const openStreams = createOpenStreams();
  const streams = new Set<EventStream>();
  let isClosing = false;

  app.addHook('preClose', async () => {
    isClosing = true;
    for (const stream of streams) stream.end(errorEvent('end', stopping(), docsUrl));
  });

  const heads = new WeakMap<FastifyReply, () => void>();
  // Fastify would pipe a stream into the response, which takes twice the memory of writing the events to it.
  app.addHook('onSend', (_request, reply, payload, done) => {
    const continueWith = heads.get(reply);
    if (!continueWith) return done(null, payload);
    reply.hijack();
    // Sent by themselves, the headers are kept as one text, and not as the fifty parts that it was made from.
    reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders).flushHeaders();
    continueWith();
  });

  /** Sends the headers, completed by the hooks of all other rooms. What follows is written to `reply.raw`. */
  function sendHead(reply: FastifyReply): Promise<void> {
    return new Promise((resolve) => {
      heads.set(reply, resolve);
      reply.headers(HEADERS).send('');
    });
  }

  for (const operation of operations.filter((one) => one.stream)) {
    app.get(streamPath(operation), async (request, reply) => {
      if (isClosing) throw stopping();
      const query = readQuery(operation, request.query as Record<string, unknown>);
      whenClosed(reply.raw, enter(request));
      // Before the stream begins, an error is answered as it is elsewhere.
      const answer = await responses.find(operation, query, requesterOf(request));
      noteBoards(request, answer);
      if (isClosing) throw stopping();
      await sendHead(reply);
      if (request.method === 'HEAD') reply.raw.end();
      else start({ operation, query }, answer, request, reply.raw);
    });
  }

  function enter(request: FastifyRequest): () => void {
    if (!request.admission) throw new Error('streams are registered behind the key check');
    try {
      return openStreams.enter(request.admission.caller);
    } catch (error) {
      request.isFree = true;
      throw error;
    }
  }

  function start(topic: Topic, answer: FinishedResponse, request: FastifyRequest, response: ServerResponse): void {
    const stream = createEventStream(response);
    const end = (error: ApiError) => stream.end(errorEvent('end', error, docsUrl));
    const reader = createReader(stream, request, { response: answer, end, docsUrl });
    const unfollow = channels.follow(topic, answer, reader.subscriber);
    const timer = setInterval(reader.tick, times.commentMs, times.commentsPerCharge).unref();
    streams.add(stream);
    whenClosed(response, () => {
      clearInterval(timer);
      unfollow();
      streams.delete(stream);
    });
    if (isClosing) end(stopping());
  }
}

/** Runs when the response has ended or its reader has gone. */
function whenClosed(response: ServerResponse, run: () => void): void {
  if (response.destroyed) run();
  else response.once('close', run);
}

/** What one stream has sent, is charged, and does with the news of its topic. */
function createReader(
  stream: EventStream,
  request: FastifyRequest,
  { response: answer, end, docsUrl }: { response: FinishedResponse; end: (error: ApiError) => void; docsUrl: string },
): { subscriber: Subscriber; tick: (commentsPerCharge: number) => void } {
  const lastEventId = request.headers['last-event-id'];
  const { etag } = answer.body;
  let sent: string | null = etag;
  let comments = 0;
  if (!listsEtag(typeof lastEventId === 'string' ? lastEventId : undefined, etag)) stream.send(boardEvent(answer));

  const subscriber: Subscriber = {
    ...requesterOf(request),
    changed(changedTo, event) {
      if (changedTo === sent) return;
      sent = changedTo;
      stream.send(event);
    },
    failed(error) {
      sent = null;
      stream.send(errorEvent('failure', error, docsUrl));
    },
    refused: end,
  };

  function tick(commentsPerCharge: number): void {
    stream.comment();
    comments += 1;
    // A minute in which there is no answer is not charged.
    if (comments % commentsPerCharge !== 0 || sent === null) return;
    request.chargeAgain().catch((error) => end(toApiError(error)));
  }
  return { subscriber, tick };
}

function stopping(): ApiError {
  const { code, headers } = serviceUnavailable();
  return new ApiError(code, 'This server is stopping. Connect again.', { headers });
}

/** How many streams each account has open on this instance. */
interface OpenStreams {
  /** Counts one more until the returned function is called. Throws `TOO_MANY_REQUESTS` beyond what the plan allows. */
  enter(caller: Caller): () => void;
}

function createOpenStreams(): OpenStreams {
  const counts = new Map<string, number>();

  function leave(accountId: string): void {
    const left = (counts.get(accountId) ?? 0) - 1;
    if (left > 0) counts.set(accountId, left);
    else counts.delete(accountId);
  }

  return {
    enter({ accountId, plan }) {
      const open = counts.get(accountId) ?? 0;
      const { title, streams } = PLANS[plan];
      if (open >= streams) throw tooManyStreams(title, streams);
      counts.set(accountId, open + 1);
      return () => leave(accountId);
    },
  };
}
