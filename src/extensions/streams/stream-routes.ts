import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { VISITOR_STREAMS } from '../../access/grant.ts';
import { PLANS } from '../../access/plan.ts';
import type { ApiError } from '../../errors/api-error.ts';
import { stopping, tooManyStreams, tooManyVisitorStreams } from '../../errors/messages.ts';
import { toApiError } from '../../errors/to-api-error.ts';
import type { CreateExtension, Service } from '../../http/extension.ts';
import { listsEtag } from '../../http/freshness-headers.ts';
import { requesterOf } from '../../http/operation-routes.ts';
import { receivedBy, toRoute } from '../../http/paths.ts';
import { recordSources } from '../../http/request-log.ts';
import type { FinishedResponse } from '../../operations/finished-response.ts';
import { noticeTo, type Operation, parseQuery, withoutCursor } from '../../operations/operation.ts';
import { streamPath } from '../../routes.ts';
import { createChannels, type Subscriber } from './channels.ts';
import { boardEvent, EventStream, errorEvent } from './event-stream.ts';

/** Intervals of channels and of each stream's comments. */
export interface StreamTimes {
  minMs: number;
  commentMs: number;
  /** A stream is charged one request at its start, and again after this many comments. */
  commentsPerCharge: number;
}

/** Every 15 seconds a stream gets a comment and its key is checked; every minute it is charged a request. */
const TIMES: StreamTimes = { minMs: 5000, commentMs: 15_000, commentsPerCharge: 4 };

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'private, no-store, no-transform',
  // Without this header nginx would buffer events.
  'x-accel-buffering': 'no',
};

/**
 * Serves `GET …/stream` for operations with streams: the whole response as a server-sent event whenever it changes. Registered
 * behind the key check, which charges the first minute.
 */
async function streamRoutes(
  app: FastifyInstance,
  { operations, responses, docsUrl, now }: Service,
  times: StreamTimes,
): Promise<void> {
  const channels = createChannels({ responses, now, times });
  const streams = new Set<EventStream>();
  /** Open streams on this instance, by account and by visitor or token. */
  const openCounts = new Map<string, number>();
  let isClosing = false;

  app.addHook('preClose', async () => {
    isClosing = true;
    for (const stream of streams) stream.end(errorEvent('end', stopping('stream'), docsUrl));
  });

  // The stream's address may contain a token, which must not leak as a referrer, not even from an error page.
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('referrer-policy', 'no-referrer');
    done();
  });
  const sendHeads = new WeakMap<FastifyReply, () => void>();
  // Piping a stream through Fastify would take twice the memory of writing events directly.
  app.addHook('onSend', (_request, reply, payload, done) => {
    const continueWith = sendHeads.get(reply);
    if (!continueWith) return done(null, payload);
    reply.hijack();
    // Flushing now lets Node store the headers as one string instead of fifty parts.
    reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders).flushHeaders();
    continueWith();
  });

  /** Sends the headers after all hooks have run. Events are then written to `reply.raw`. */
  function sendHead(reply: FastifyReply): Promise<void> {
    return new Promise((resolve) => {
      sendHeads.set(reply, resolve);
      reply.headers(HEADERS).send('');
    });
  }

  for (const operation of operations.filter((operation) => operation.stream).map(withoutCursor)) {
    app.get(toRoute(streamPath(operation)), async (request, reply) => {
      if (isClosing) throw stopping('stream');
      const received = receivedBy(request);
      const query = parseQuery(operation, received, request.operationPath);
      whenClosed(reply.raw, enter(request));
      // An error of the first request becomes an ordinary response, because no event has been sent yet.
      const first = await responses.get(operation, query, requesterOf(request));
      recordSources(request, first);
      const notice = noticeTo(received, first.notices);
      if (notice) reply.header('x-notice', notice);
      if (isClosing) throw stopping('stream');
      await sendHead(reply);
      if (request.method === 'HEAD') reply.raw.end();
      else {
        const follow = (subscriber: Subscriber) => channels.follow({ operation, query }, first, subscriber);
        start(first, operation, request, reply.raw, follow);
      }
    });
  }

  /**
   * Records an open stream of the account, and of the visitor or token, until the returned function is called. Throws above the
   * limit of the plan, key or token; that request is free.
   */
  function enter(request: FastifyRequest): () => void {
    if (!request.admission) throw new Error('streams are registered behind the key check');
    const { accountId, plan } = request.admission.caller;
    const { granted } = request;
    const { title, streams: maxStreams } = PLANS[plan];
    const openOf = (name: string) => openCounts.get(name) ?? 0;
    const streamLimits: { name: string; most: number; error: () => ApiError }[] = [
      { name: accountId, most: maxStreams, error: () => tooManyStreams(title, maxStreams) },
    ];
    if (granted) {
      // When half of the account's streams are open, a visitor may have only one, so that a few visitors cannot take all.
      const maxOfVisitor = granted.grant.streams ?? (2 * openOf(accountId) < maxStreams ? VISITOR_STREAMS : 1);
      const error = () => tooManyVisitorStreams(maxOfVisitor);
      streamLimits.push({ name: `${accountId} ${granted.visitor}`, most: maxOfVisitor, error });
    }
    const full = streamLimits.find((limit) => openOf(limit.name) >= limit.most);
    request.outcome.isFree = full !== undefined;
    if (full) throw full.error();
    for (const { name } of streamLimits) openCounts.set(name, openOf(name) + 1);
    return () => {
      for (const { name } of streamLimits) {
        if (openOf(name) > 1) openCounts.set(name, openOf(name) - 1);
        else openCounts.delete(name);
      }
    };
  }

  /** Serves one stream after its headers are sent. Tracks the last ETag sent and the comments until the next charge. */
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
    let lastEtag: string | null = first.body.etag;
    let comments = 0;
    let calls = 0;
    if (!listsEtag(typeof lastEventId === 'string' ? lastEventId : undefined, lastEtag))
      stream.send(boardEvent(first, operation));

    const { signal: _signal, ...requester } = requesterOf(request);
    const unfollow = follow({
      ...requester,
      changed(etag, event) {
        if (etag === lastEtag) return;
        lastEtag = etag;
        stream.send(event);
      },
      calledUpstream() {
        calls++;
      },
      failed(error) {
        lastEtag = null;
        stream.send(errorEvent('failure', error, docsUrl));
      },
      refused: end,
    });
    const tick = () => {
      stream.comment();
      const isCharged = ++comments % times.commentsPerCharge === 0;
      // A minute costs one request, or one for each upstream call that it took. Without a response or a call it is free.
      const count = isCharged ? Math.max(calls, lastEtag === null ? 0 : 1) : 0;
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
    if (isClosing) end(stopping('stream'));
  }
}

/** Calls `run` when the response has ended or the reader has disconnected. */
function whenClosed(response: ServerResponse, run: () => void): void {
  if (response.destroyed) run();
  else response.once('close', run);
}

/** Streams of the operations that have one. `times` overrides their intervals. */
export const streams =
  (times = TIMES): CreateExtension =>
  (service) => ({
    addRoutes: async (api) => {
      await api.register((scope) => streamRoutes(scope, service, times));
    },
  });
