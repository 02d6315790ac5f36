import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { VISITOR_STREAMS } from '../../access/grant.ts';
import { PLANS } from '../../access/plan.ts';
import { ApiError } from '../../errors/api-error.ts';
import { serviceUnavailable, tooManyStreams, tooManyVisitorStreams } from '../../errors/messages.ts';
import { toApiError } from '../../errors/to-api-error.ts';
import type { CreateExtension } from '../../http/extension.ts';
import { listsEtag } from '../../http/freshness-headers.ts';
import { requesterOf } from '../../http/operation-routes.ts';
import { receivedBy, toRoute } from '../../http/paths.ts';
import { noteSources } from '../../http/request-log.ts';
import type { FinishedResponse } from '../../operations/finished-response.ts';
import {
  nameIgnored,
  noticeTo,
  type Operation,
  readQuery,
  streamPath,
  withoutCursor,
} from '../../operations/operation.ts';
import type { Responses } from '../../operations/serve.ts';
import { createChannels, type Subscriber } from './channels.ts';
import { boardEvent, EventStream, errorEvent } from './event-stream.ts';

/** The times of channels, and of the comments of each stream. */
export interface StreamTimes {
  minMs: number;
  retryMs: number;
  commentMs: number;
  /** A stream counts as one request at its start, and again after this many comments. */
  commentsPerCharge: number;
}

/** A stream gets a comment every 15 seconds, with which its key is checked, and is charged a request every minute. */
const TIMES: StreamTimes = { minMs: 1000, retryMs: 5000, commentMs: 15_000, commentsPerCharge: 4 };

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'private, no-store, no-transform',
  // Without this header nginx would collect events before it passes them on.
  'x-accel-buffering': 'no',
};

/**
 * Serves `GET …/stream` for the operations that can be followed: the whole response as a server-sent event whenever it
 * changes. It is registered behind the key check, which counts the first minute.
 */
async function streamRoutes(
  app: FastifyInstance,
  options: {
    operations: readonly Operation[];
    responses: Responses;
    docsUrl: string;
    now: () => Date;
    times?: StreamTimes | undefined;
  },
): Promise<void> {
  const { operations, responses, docsUrl, now, times = TIMES } = options;
  const channels = createChannels({ responses, now, times });
  const streams = new Set<EventStream>();
  /** How many streams each account, and each visitor or token of it, has open on this instance. */
  const openCounts = new Map<string, number>();
  let isClosing = false;

  app.addHook('preClose', async () => {
    isClosing = true;
    for (const stream of streams) stream.end(errorEvent('end', stopping(), docsUrl));
  });

  // A token may be in the address of a stream, which a browser would send on from the page of a refusal too.
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('referrer-policy', 'no-referrer');
    done();
  });
  const heads = new WeakMap<FastifyReply, () => void>();
  // Fastify would pipe a stream into the response, which takes twice the memory of writing the events to it.
  app.addHook('onSend', (_request, reply, payload, done) => {
    const continueWith = heads.get(reply);
    if (!continueWith) return done(null, payload);
    reply.hijack();
    // Flushed before the body, the headers are kept as one text and not as the fifty parts that it was made from.
    reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders).flushHeaders();
    continueWith();
  });

  /** Sends the headers, completed by the hooks of all other rooms. The events are then written to `reply.raw`. */
  function sendHead(reply: FastifyReply): Promise<void> {
    return new Promise((resolve) => {
      heads.set(reply, resolve);
      reply.headers(HEADERS).send('');
    });
  }

  for (const operation of operations.filter((one) => one.stream).map(withoutCursor)) {
    app.get(toRoute(streamPath(operation)), async (request, reply) => {
      if (isClosing) throw stopping();
      const received = receivedBy(request);
      const query = readQuery(operation, received, request.operationPath);
      const ignored = nameIgnored(operation, received);
      if (ignored) reply.header('x-ignored-parameters', ignored);
      whenClosed(reply.raw, enter(request));
      // An error of the first request is sent as an ordinary response, because no event has been sent yet.
      const first = await responses.find(operation, query, requesterOf(request));
      noteSources(request, first);
      const notice = noticeTo(received, first.notices);
      if (notice) reply.header('x-notice', notice);
      if (isClosing) throw stopping();
      await sendHead(reply);
      if (request.method === 'HEAD') reply.raw.end();
      else {
        const follow = (subscriber: Subscriber) => channels.follow({ operation, query }, first, subscriber);
        start(first, operation, request, reply.raw, follow);
      }
    });
  }

  /**
   * Counts one more open stream of the account, and of the visitor or token, until the returned function is called. Throws
   * beyond what the plan, or the key or token, allows; that request is free.
   */
  function enter(request: FastifyRequest): () => void {
    if (!request.admission) throw new Error('streams are registered behind the key check');
    const { accountId, plan } = request.admission.caller;
    const { granted } = request;
    const { title, streams: most } = PLANS[plan];
    const openOf = (name: string) => openCounts.get(name) ?? 0;
    const counted: { name: string; most: number; error: () => ApiError }[] = [
      { name: accountId, most, error: () => tooManyStreams(title, most) },
    ];
    if (granted) {
      // From half of the account's streams on, a visitor has one, so that a few visitors do not hold them all.
      const mostOfVisitor = granted.grant.streams ?? (2 * openOf(accountId) < most ? VISITOR_STREAMS : 1);
      const error = () => tooManyVisitorStreams(mostOfVisitor);
      counted.push({ name: `${accountId} ${granted.visitor}`, most: mostOfVisitor, error });
    }
    const full = counted.find((one) => openOf(one.name) >= one.most);
    request.outcome.isFree = full !== undefined;
    if (full) throw full.error();
    for (const { name } of counted) openCounts.set(name, openOf(name) + 1);
    return () => {
      for (const { name } of counted) {
        if (openOf(name) > 1) openCounts.set(name, openOf(name) - 1);
        else openCounts.delete(name);
      }
    };
  }

  /** Serves one stream that has got its headers: keeps the last ETag sent and counts comments until the next charge. */
  function start(
    first: FinishedResponse,
    operation: Operation,
    request: FastifyRequest,
    response: ServerResponse,
    follow: (subscriber: Subscriber) => () => void,
  ): void {
    const stream = new EventStream(response);
    const end = (error: ApiError) => stream.end(errorEvent('end', error, docsUrl));
    const lastEventId = request.headers['last-event-id'];
    let sent: string | null = first.body.etag;
    let comments = 0;
    let calls = 0;
    if (!listsEtag(typeof lastEventId === 'string' ? lastEventId : undefined, sent))
      stream.send(boardEvent(first, operation));

    const unfollow = follow({
      ...requesterOf(request),
      changed(etag, event) {
        if (etag === sent) return;
        sent = etag;
        stream.send(event);
      },
      calledUpstream() {
        calls++;
      },
      failed(error) {
        sent = null;
        stream.send(errorEvent('failure', error, docsUrl));
      },
      refused: end,
    });
    const tick = () => {
      stream.comment();
      const isCharged = ++comments % times.commentsPerCharge === 0;
      // One request a minute, or one for each call. A minute without a response and without a call is free.
      const count = isCharged ? Math.max(calls, sent === null ? 0 : 1) : 0;
      if (isCharged) calls = 0;
      const checked = count > 0 ? request.chargeAgain(count) : request.checkAgain();
      checked.catch((error) => end(toApiError(error)));
    };
    const timer = setInterval(tick, times.commentMs).unref();
    streams.add(stream);
    whenClosed(response, () => {
      clearInterval(timer);
      unfollow();
      streams.delete(stream);
    });
    if (isClosing) end(stopping());
  }
}

/** Calls `run` when the response has ended or its reader has gone. */
function whenClosed(response: ServerResponse, run: () => void): void {
  if (response.destroyed) run();
  else response.once('close', run);
}

function stopping(): ApiError {
  const { code, headers } = serviceUnavailable();
  return new ApiError(code, 'This server is stopping. Connect again.', { headers });
}

/** Streams of departures, journeys, runs and vehicles. `times` replaces how often they do what they do. */
export const streams =
  (times?: StreamTimes): CreateExtension =>
  (service) => ({
    addRoutes: async (api) => {
      await api.register(streamRoutes, { ...service, times });
    },
  });
