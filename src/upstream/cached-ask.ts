import { type Clock, type Deadlines, within } from '../core/clock.ts';
import type { SingleFlight } from '../core/single-flight.ts';
import type { AskOptions, Priority, UpstreamResponse } from '../efa/ask.ts';
import { freshnessClassOf, isKeptWhole, type PayloadOf, requestKey, type UpstreamRequest } from '../efa/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { FRESHNESS_WINDOWS, type Freshness, type FreshnessWindow } from '../transit/freshness.ts';
import { BreakerOpenError } from './breaker.ts';
import { BudgetExhaustedError } from './budget/budget.ts';
import type { Ticket } from './budget/call-queue.ts';
import type { createGuardedCall } from './guarded-call.ts';
import { FailureMemory, type Pauses } from './request-memory.ts';
import { type KeptResponse, MAX_AHEAD_MS, type ResponseCache, unpack } from './response-cache.ts';

/** How long a request with a stale response waits for a fresh one. */
const STALE_PATIENCE_MS = 3000;

/** A request with its cache key and freshness window. */
interface Asked {
  request: UpstreamRequest;
  key: string;
  window: FreshnessWindow;
  priority: Priority;
}

/**
 * Adds the cache to `ask`. Returns a fresh cached response, else that of a call, else a stale cached one; else throws the
 * call's error.
 */
export function createCachedAsk(layers: {
  call: ReturnType<typeof createGuardedCall>['call'];
  cache: ResponseCache;
  flights: SingleFlight<UpstreamResponse<unknown>, Ticket>;
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

  async function ask<Kind extends UpstreamRequest>(
    request: Kind,
    options: AskOptions = {},
  ): Promise<UpstreamResponse<PayloadOf<Kind>>> {
    const window = FRESHNESS_WINDOWS[freshnessClassOf(request)];
    const asked = { request, key: requestKey(request), window, priority: options.priority ?? 'low' };
    return (await respond(asked, options)) as UpstreamResponse<PayloadOf<Kind>>;
  }

  async function respond(asked: Asked, options: AskOptions): Promise<UpstreamResponse<unknown>> {
    const { key, window, priority } = asked;
    const kept = cache.find(key, window);
    if (kept && isFresh(kept, asked)) return counted('cache', await fromCache(kept, asked, null));
    try {
      return await refresh(asked, kept !== null, options);
    } catch (error) {
      const isBusy = error instanceof BudgetExhaustedError;
      const stale = cache.find(key, window);
      if (!stale || !(error instanceof ApiError)) {
        // No caller waits for a background call, so it does not count as refused.
        counts[!isBusy ? 'failed' : priority === 'background' ? 'postponed' : 'refused']++;
        throw error;
      }
      if (isFresh(stale, asked)) return counted('cache', await fromCache(stale, asked, null));
      const response = await fromCache(stale, asked, isBusy ? 'busy' : 'failing');
      return counted(isBusy ? 'staleBusy' : 'staleFailing', response);
    }
  }

  async function refresh(asked: Asked, isStaleAtHand: boolean, { accounts, signal }: AskOptions) {
    const failure = failures.find(asked.key);
    if (failure) throw failure;
    const ticket: Ticket = { priority: asked.priority, accounts: accounts ? [accounts] : [] };
    const { result, startedAt, isOurs } = flights.join(asked.key, ticket, (shared) => fetch(asked, shared));
    const patienceMs = isStaleAtHand ? startedAt + STALE_PATIENCE_MS - now() : deadlines.requestMs;
    const { payload, retrievedAt, freshness } = await within(Math.max(0, patienceMs), result, tooLate, {
      signal,
      after: clock.after,
    });
    const source = freshness?.source === 'upstream' && !isOurs ? 'joined' : (freshness?.source ?? 'upstream');
    return counted(source, { payload, retrievedAt, ...(freshness && { freshness: { ...freshness, source } }) });
  }

  /** Makes the call for all requests waiting for the key. */
  async function fetch(asked: Asked, ticket: Ticket): Promise<UpstreamResponse<unknown>> {
    const { request, key } = asked;
    try {
      const { payload, retrievedAt } = await call(request, ticket, (arrived) => {
        if (isKeptWhole(request)) void cache.keep(key, arrived);
      });
      failures.noteSuccess(request.kind, key);
      return { payload, retrievedAt, freshness: freshnessIn(retrievedAt.getTime(), asked, 'upstream', null) };
    } catch (error) {
      if (isOfCall(error)) failures.note(request.kind, key, error);
      throw error;
    }
  }

  function isFresh({ retrievedAt }: KeptResponse, { window }: Asked): boolean {
    return retrievedAt < now() + MAX_AHEAD_MS && now() < retrievedAt + window.freshMs;
  }

  async function fromCache(
    kept: KeptResponse,
    asked: Asked,
    shortage: Freshness['shortage'],
  ): Promise<UpstreamResponse<unknown>> {
    const freshness = freshnessIn(kept.retrievedAt, asked, 'cache', shortage);
    return { payload: await unpack(asked.request, kept), retrievedAt: new Date(kept.retrievedAt), freshness };
  }

  function freshnessIn(
    retrievedAt: number,
    { window }: Asked,
    source: Freshness['source'],
    shortage: Freshness['shortage'],
  ): Freshness {
    const freshUntil = retrievedAt + window.freshMs;
    return { retrievedAt, freshUntil, staleUntil: freshUntil + window.staleMs, source, shortage };
  }

  function counted(how: keyof typeof counts, response: UpstreamResponse<unknown>): UpstreamResponse<unknown> {
    counts[how]++;
    return response;
  }

  return { ask, counts };
}

/** Whether a call was made and failed, as opposed to refused beforehand. */
function isOfCall(error: unknown): error is ApiError {
  return error instanceof ApiError && !(error instanceof BudgetExhaustedError) && !(error instanceof BreakerOpenError);
}

function tooLate(): ApiError {
  return new ApiError('UPSTREAM_TIMEOUT', 'Transport for NSW did not respond in time. Try again later.');
}
