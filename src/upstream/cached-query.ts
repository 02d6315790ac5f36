import { type Clock, type Deadlines, within } from '../core/clock.ts';
import type { SingleFlight } from '../core/single-flight.ts';
import type { Priority } from '../core/turn-queue.ts';
import type { QueryOptions, ReceivedResponse, UpstreamResponse } from '../efa/query-upstream.ts';
import { freshnessClassOf, isKeptWhole, type PayloadOf, requestKey, type UpstreamRequest } from '../efa/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { FRESHNESS_WINDOWS, type Freshness, type FreshnessWindow } from '../transit/freshness.ts';
import { BreakerOpenError } from './breaker.ts';
import { BudgetExhaustedError, type CallTicket } from './budget/budget.ts';
import type { GuardedCall } from './guarded-call.ts';
import { FailureMemory, type Pauses } from './request-memory.ts';
import { type KeptResponse, MAX_AHEAD_MS, type ResponseCache, unpack } from './response-cache.ts';

/** How long a request with a stale response waits for a fresh one. */
const STALE_PATIENCE_MS = 3000;

interface Lookup {
  request: UpstreamRequest;
  key: string;
  window: FreshnessWindow;
  priority: Priority;
}

/**
 * Adds the cache to `call`. A request gets a fresh cached response or makes a call. If the call fails or takes too long, the
 * request gets a stale cached response; if there is none, an error.
 */
export function createCachedQuery(layers: {
  call: GuardedCall;
  cache: ResponseCache;
  flights: SingleFlight<UpstreamResponse<unknown>, CallTicket>;
  pauses: Pauses;
  clock: Clock;
  deadlines: Deadlines;
}) {
  const { call, cache, flights, pauses, clock, deadlines } = layers;
  const { now } = clock;
  /** Number of requests by how they were answered, since the process began. */
  const counts = {
    upstream: 0,
    joined: 0,
    cache: 0,
    staleBusy: 0,
    staleFailing: 0,
    refused: 0,
    postponed: 0,
    failed: 0,
  };
  const failures = new FailureMemory(now, pauses);

  async function queryUpstream<Kind extends UpstreamRequest>(
    request: Kind,
    options: QueryOptions = {},
  ): Promise<UpstreamResponse<PayloadOf<Kind>>> {
    const window = FRESHNESS_WINDOWS[freshnessClassOf(request)];
    const lookup = { request, key: requestKey(request), window, priority: options.priority ?? 'low' };
    return (await respond(lookup, options)) as UpstreamResponse<PayloadOf<Kind>>;
  }

  async function respond(lookup: Lookup, options: QueryOptions): Promise<UpstreamResponse<unknown>> {
    const { key, window, priority } = lookup;
    const cached = cache.find(key, window);
    if (cached && isFresh(cached, lookup)) return countAnswer('cache', await fromCache(cached, lookup, null));
    try {
      return await refresh(lookup, cached !== null, options);
    } catch (error) {
      const isBusy = error instanceof BudgetExhaustedError;
      const stale = cache.find(key, window);
      if (!stale || !(error instanceof ApiError)) {
        // No caller waits for a background call, so it does not count as refused.
        counts[!isBusy ? 'failed' : priority === 'background' ? 'postponed' : 'refused']++;
        throw error;
      }
      if (isFresh(stale, lookup)) return countAnswer('cache', await fromCache(stale, lookup, null));
      const response = await fromCache(stale, lookup, isBusy ? 'busy' : 'failing');
      return countAnswer(isBusy ? 'staleBusy' : 'staleFailing', response);
    }
  }

  async function refresh(lookup: Lookup, isStaleAtHand: boolean, { accounts, signal }: QueryOptions) {
    const failure = failures.find(lookup.key);
    if (failure) throw failure;
    const ticket: CallTicket = { priority: lookup.priority, accounts: accounts ? [accounts] : [] };
    const { result, startedAt, isOurs, waiting } = flights.join(
      lookup.key,
      ticket,
      (shared, abandoned) => fetch(lookup, shared, abandoned),
      signal,
    );
    const givenUp = () => (signal?.aborted && !waiting.hasCall ? new BudgetExhaustedError('rate', 0) : tooLate());
    const patienceMs = isStaleAtHand ? startedAt + STALE_PATIENCE_MS - now() : deadlines.requestMs;
    const { payload, retrievedAt, freshness } = await within(Math.max(0, patienceMs), result, givenUp, {
      signal,
      after: clock.after,
    });
    const source = freshness?.source === 'upstream' && !isOurs ? 'joined' : (freshness?.source ?? 'upstream');
    return countAnswer(source, { payload, retrievedAt, ...(freshness && { freshness: { ...freshness, source } }) });
  }

  /** Makes the call for all requests waiting for the key. */
  async function fetch(lookup: Lookup, ticket: CallTicket, abandoned: AbortSignal): Promise<UpstreamResponse<unknown>> {
    const { request, key } = lookup;
    try {
      const store = (arrived: ReceivedResponse<unknown>) => {
        if (isKeptWhole(request)) void cache.store(key, arrived);
      };
      const { payload, retrievedAt } = await call(request, ticket, store, abandoned);
      failures.recordSuccess(request.kind, key);
      return { payload, retrievedAt, freshness: freshnessIn(retrievedAt, lookup, 'upstream', null) };
    } catch (error) {
      if (isOfCall(error)) failures.record(request.kind, key, error);
      throw error;
    }
  }

  function isFresh({ retrievedAt }: KeptResponse, { window }: Lookup): boolean {
    return retrievedAt < now() + MAX_AHEAD_MS && now() < retrievedAt + window.freshMs;
  }

  async function fromCache(
    cached: KeptResponse,
    lookup: Lookup,
    shortage: Freshness['shortage'],
  ): Promise<UpstreamResponse<unknown>> {
    const { retrievedAt } = cached;
    const freshness = freshnessIn(retrievedAt, lookup, 'cache', shortage);
    return { payload: await unpack(lookup.request, cached), retrievedAt, freshness };
  }

  function freshnessIn(
    retrievedAt: number,
    { window }: Lookup,
    source: Freshness['source'],
    shortage: Freshness['shortage'],
  ): Freshness {
    const freshUntil = retrievedAt + window.freshMs;
    return { retrievedAt, freshUntil, staleUntil: freshUntil + window.staleMs, source, shortage };
  }

  function countAnswer(
    answeredBy: keyof typeof counts,
    response: UpstreamResponse<unknown>,
  ): UpstreamResponse<unknown> {
    counts[answeredBy]++;
    return response;
  }

  return { queryUpstream, counts };
}

/** Whether a call was made and failed, as opposed to refused beforehand. */
function isOfCall(error: unknown): error is ApiError {
  return error instanceof ApiError && !(error instanceof BudgetExhaustedError) && !(error instanceof BreakerOpenError);
}

function tooLate(): ApiError {
  return new ApiError('UPSTREAM_TIMEOUT', 'Transport for NSW did not respond in time. Try again later.');
}
