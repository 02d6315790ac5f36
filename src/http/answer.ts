import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AskOptions, Priority } from '../efa/client.ts';
import type { Freshness } from '../transit/freshness.ts';
import { chooseEncoding, isWorthEncoding } from './encoding.ts';
import { createFinishedBodies, type FinishedAnswer } from './finished-body.ts';
import { freshnessHeaders, matchesEtag } from './freshness.ts';

/** What an operation has to say: the body, how fresh it is, and when it will read differently with the same data. */
interface Finding<Body extends object = object> {
  body: Body;
  freshness: Freshness;
  /** Milliseconds since 1970; absent when time alone changes nothing. */
  changesAt?: number;
}

export interface Answers {
  /**
   * Sends what `find` finds, or what it found a moment ago; says how fresh it is; 304 to whoever has it already.
   * What is returned is the reply; its type is what it carries, so that it is held against the route's schema.
   */
  send<Body extends object>(
    request: FastifyRequest,
    reply: FastifyReply,
    find: (options: AskOptions) => Promise<Finding<Body>>,
  ): Promise<Body>;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** No request waits longer. */
const DEADLINE_MS = 9500;

export function createAnswers(app: FastifyInstance, { now }: { now: () => Date }): Answers {
  const finished = createFinishedBodies({ maxBytes: MAX_BYTES, now: () => now().getTime() });
  const finding = new Map<string, Promise<FinishedAnswer>>();

  /** One finding for equal requests at the same time; the others share what it has cost. */
  async function findOnce(
    url: string,
    priority: Priority,
    find: (options: AskOptions) => Promise<Finding>,
  ): Promise<FinishedAnswer> {
    const key = `${priority} ${url}`;
    const underWay = finding.get(key);
    if (underWay) return joined(await underWay);
    const found = find({ priority, signal: AbortSignal.timeout(DEADLINE_MS) })
      .then(({ changesAt = Number.POSITIVE_INFINITY, ...rest }) => finished.keep(url, priority, { ...rest, changesAt }))
      .finally(() => finding.delete(key));
    finding.set(key, found);
    return found;
  }

  // What is finished needs no validation: its URL was found valid when it was made.
  app.addHook('preValidation', (request, reply, done) => {
    const answer = finished.find(request.raw.url ?? '', priorityOf(request));
    if (answer) respond(request, reply, answer);
    else done();
  });

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    find: (options: AskOptions) => Promise<Finding>,
  ): Promise<FastifyReply> {
    return respond(request, reply, await findOnce(request.raw.url ?? '', priorityOf(request), find));
  }

  function respond(request: FastifyRequest, reply: FastifyReply, { body, freshness }: FinishedAnswer): FastifyReply {
    request.costNoUpstreamCall = freshness.source !== 'upstream';
    reply.headers(freshnessHeaders(freshness, now().getTime()));
    reply.header('etag', body.etag);
    vary(reply, 'Accept-Encoding');
    if (matchesEtag(request.headers['if-none-match'], body.etag)) return reply.code(304).send();

    const encoding = isWorthEncoding(body.bytes) ? chooseEncoding(header(request, 'accept-encoding')) : 'identity';
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    reply.header('content-type', 'application/json; charset=utf-8');
    const bytes = finished.bytesOf(request.raw.url ?? '', body, encoding);
    if (Buffer.isBuffer(bytes)) return reply.send(bytes);
    bytes.then(
      (encoded) => reply.send(encoded),
      (error) => reply.send(error),
    );
    return reply;
  }

  return { send: send as unknown as Answers['send'] };
}

function priorityOf({ admission }: FastifyRequest): Priority {
  return admission?.caller.plan ?? 'free';
}

function joined(answer: FinishedAnswer): FinishedAnswer {
  const { freshness } = answer;
  return freshness.source === 'upstream' ? { ...answer, freshness: { ...freshness, source: 'joined' } } : answer;
}

/** Adds to what others have said already. */
function vary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('vary');
  reply.header('vary', present ? `${present}, ${name}` : name);
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join() : value;
}
