import type { z } from 'zod';
import { untilAborted, withTimeLimit } from '../core/clock.ts';
import { createConcurrencyLimit } from '../core/event-loop-turn.ts';
import type { Log } from '../core/log.ts';
import { cacheBytes } from '../core/memory-limit.ts';
import { ownText } from '../core/own-memory.ts';
import type { IdSigner } from '../core/signer.ts';
import { SingleFlight } from '../core/single-flight.ts';
import { MAX_WAITING, type Priority, type Turn } from '../core/turn-queue.ts';
import type { QueryOptions, QueryUpstream } from '../efa/query-upstream.ts';
import { ApiError, asCharged } from '../errors/api-error.ts';
import { serviceUnavailable, upstreamTimeout } from '../errors/messages.ts';
import { isEveryday, type LeftOutCounts } from '../transit/left-out.ts';
import { MODES } from '../transit/mode.ts';
import { createFinishedResponses, type Encoding, type FinishedResponse } from './finished-response.ts';
import type { FindContext, Operation, OperationResult, Pages } from './operation.ts';
import type { Sources } from './sources.ts';

type Query = Readonly<Record<string, unknown>>;

export interface Requester {
  priority: Priority;
  /** Name of the account; absent for the service's own pages. */
  account?: string;
  /** Aborts when the caller has hung up. */
  signal?: AbortSignal;
}

/** The callers waiting for a response. */
interface Callers {
  priority: Turn['priority'];
  accounts: Turn['accounts'];
  signal?: AbortSignal;
}

/** Runs operations and caches their responses. */
export interface Responses {
  /** Returns a promise only while the body is being encoded. */
  bytesOf(response: FinishedResponse, encoding: Encoding): Buffer | Promise<Buffer>;
  /** Returns the cached response; null on a miss. `key` comes from `queryKey`. */
  find(key: string): FinishedResponse | null;
  /** Returns the cached response or, on a miss, a new one. */
  get<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
    requester: Requester,
  ): Promise<FinishedResponse<Body>>;
  /** Calls `listener` with the numbers of upstream records that an operation left out, by reason. */
  onLeftOut(listener: LeftOutListener): void;
}

type LeftOutListener = (path: string, leftOut: LeftOutCounts) => void;

/** More accounts waiting for the same response are ignored, because they would hardly change its position in the queue. */
const MAX_ACCOUNTS = 32;

/** Equal requests have equal keys, however their queries are written. */
export function queryKey({ path }: Operation, query: Query): string {
  return ownText(`${path}?${JSON.stringify(query)}`);
}

/**
 * Equal requests at the same time run their operation once. A request waits at most `deadlineMs`. A request that all callers
 * have abandoned is dropped from the queues.
 */
export function createResponses(options: {
  sources: Sources;
  now: () => number;
  ids: IdSigner;
  deadlineMs: number;
  log: Log<'warn' | 'debug'>;
}): Responses {
  const { ids, deadlineMs, log, now } = options;
  const { queryUpstream, callsPerSecond, boards, runs, lines, punctuality } = options.sources;
  const leftOutListeners: LeftOutListener[] = [];
  const finished = createFinishedResponses({ maxBytes: cacheBytes(), now });
  /** Equal requests of the same priority share one run of the operation and its upstream calls. */
  const flights = new SingleFlight<FinishedResponse, Set<string>>((accounts, newcomers) => {
    for (const account of newcomers) if (accounts.size < MAX_ACCOUNTS) accounts.add(account);
  }, Date.now);

  async function getAndStore(operation: Operation, query: Query, key: string, waiting: Callers) {
    // The queue refuses calls beyond the limit of an account, and calls that wait longer than three seconds. One second's worth
    // of calls at once also leaves room for other requests.
    const limited = createConcurrencyLimit(Math.max(1, Math.min(MAX_WAITING[waiting.priority], callsPerSecond)));
    let isCharged = false;
    const begin = () => {
      isCharged = true;
    };
    const contextUntil = (deadline: AbortSignal): FindContext => ({
      queryUpstream: queryFor(waiting, deadline),
      turn: { ...waiting, signal: deadline, begin },
      boards,
      runs,
      lines,
      punctuality,
      now,
      ids,
      run: (other, otherQuery) => {
        const result = limited(async () => {
          if (deadline.aborted) throw upstreamTimeout(deadlineMs);
          return toResult(await get(other, otherQuery, { ...waiting, signal: deadline }));
        });
        // The other operation continues after the deadline, because other requests may wait for it.
        return untilAborted(deadline, result, () => upstreamTimeout(deadlineMs));
      },
    });
    const { leftOut, ...result } = await withTimeLimit(
      deadlineMs,
      (deadline) => operation.handle(query, contextUntil(deadline)),
      { signal: waiting.signal },
    ).catch((error) => {
      throw isCharged && error instanceof ApiError ? asCharged(error) : error;
    });
    if (leftOut) reportLeftOut(operation.path, leftOut);
    const link = result.pages && linkHeader(operation, query, result.pages);
    return finished.store(key, result, link);
  }

  function queryFor({ priority, accounts }: Callers, deadline: AbortSignal): QueryUpstream {
    return (request, { signal, ...more }: QueryOptions = {}) =>
      queryUpstream(request, {
        priority,
        accounts,
        ...more,
        signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      });
  }

  function reportLeftOut(path: string, leftOut: LeftOutCounts): void {
    for (const listener of leftOutListeners) listener(path, leftOut);
    if (Object.keys(leftOut).length === 0) return;
    log[isEveryday(leftOut) ? 'debug' : 'warn']({ leftOut }, 'upstream records left out');
  }

  async function get<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
    waiting: Callers,
  ): Promise<FinishedResponse<Body>> {
    const key = queryKey(operation as Operation, query);
    const { priority, accounts, signal } = waiting;
    const cached = finished.find(key);
    if (cached) return cached as FinishedResponse<Body>;
    if (signal?.aborted) throw serviceUnavailable('the client hung up');
    const { result, isOurs } = flights.join(
      `${priority} ${key}`,
      new Set(accounts),
      (all, abandoned) =>
        getAndStore(operation as Operation, query, key, { priority, accounts: all, signal: abandoned }),
      signal,
    );
    return (isOurs ? await result : asJoined(await result)) as FinishedResponse<Body>;
  }

  return {
    find: finished.find,
    get(operation, query, { priority, account, signal }) {
      const accounts = new Set(account === undefined ? [] : [account]);
      return get(operation, query, { priority, accounts, ...(signal && { signal }) });
    },
    bytesOf: finished.bytesOf,
    onLeftOut: (listener) => void leftOutListeners.push(listener),
  };
}

/** Uses a response as a part of another one. */
function toResult<Body extends object>(response: FinishedResponse<Body>): OperationResult<Body> {
  const { body, freshness, validUntil, boards = [], notices = [] } = response;
  return { body: body.content(), freshness, changesAt: validUntil, boards, notices };
}

function asJoined(response: FinishedResponse): FinishedResponse {
  const { freshness } = response;
  return freshness.source === 'upstream' ? { ...response, freshness: { ...freshness, source: 'joined' } } : response;
}

/** Builds the `Link` header of a response with further pages. */
function linkHeader({ path, query: schema }: Operation, query: Query, { prev, next }: Pages): string | undefined {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const defaultValue = JSON.stringify(schema.shape[name]?.safeParse(undefined).data);
    if (name === 'cursor' || JSON.stringify(value) === defaultValue) continue;
    for (const [part, text] of asWritten(name, value)) parameters.set(part, text);
  }
  const links = Object.entries({ prev, next }).flatMap(([rel, cursor]) =>
    cursor ? `<${path}?${parameters}&cursor=${cursor}>; rel="${rel}"` : [],
  );
  return links.length > 0 ? links.join(', ') : undefined;
}

/** Writes a value as a caller would. */
function asWritten(name: string, value: unknown): [name: string, text: string][] {
  // A date and time in one parameter are only accepted in ISO 8601.
  const [date, time] = name === 'time' ? String(value).split('T') : [];
  if (date && time)
    return [
      ['date', date],
      ['time', time],
    ];
  if (name === 'via') {
    const stops = value as { stopId: string; stayMinutes: number }[];
    return [[name, stops.map(({ stopId, stayMinutes }) => `${stopId}@${stayMinutes}`).join()]];
  }
  const isAll = name === 'modes' && Array.isArray(value) && value.length === MODES.length;
  return [[name, isAll ? 'all' : String(value)]];
}
