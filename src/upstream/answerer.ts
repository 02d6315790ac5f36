import { LRUCache } from 'lru-cache';
import type { AskOptions, EfaAnswer } from '../efa/client.ts';
import { ApiError } from '../errors.ts';
import type { Freshness } from '../transit/freshness.ts';
import { type AnswerCache, type KeptAnswer, unpack } from './answer-cache.ts';
import { LeftAlone } from './breaker.ts';
import { type Budget, OutOfBudget, type Ticket } from './budget.ts';
import { type Clock, within } from './clock.ts';
import type { Counts } from './counts.ts';
import { type FreshnessClass, freshnessClassOf, freshUntil, staleUntil } from './freshness-class.ts';
import type { InstanceFlight } from './instance-flight.ts';
import { createPopularity } from './popularity.ts';
import { type Question, questionKey } from './question-key.ts';
import type { SingleFlight } from './single-flight.ts';

/** How long to wait for a fresh answer where a stale one could be served. */
const STALE_PATIENCE_MS = 3000;
/** How long anybody waits: a call's deadline and a little. */
const PATIENCE_MS = 9500;
/** After a failure the same question is not asked again for so long. */
const FAILURE_MEMORY_MS = 1000;
const MAX_FAILURES = 10_000;
/** So many requests within a few minutes make a question popular. */
const POPULAR = 3;

type Call = (ticket: Ticket, keep: (answer: EfaAnswer<unknown>) => void) => Promise<EfaAnswer<unknown>>;

/** Answers one question: fresh from what is kept, else by a call, else stale from what is kept, else not at all. */
export type Answerer = (asked: Question, call: Call, options: AskOptions) => Promise<EfaAnswer<unknown>>;

export function createAnswerer(layers: {
  cache: AnswerCache;
  flights: SingleFlight<EfaAnswer<unknown>>;
  instances: InstanceFlight;
  budget: Pick<Budget, 'stretch'>;
  counts: Counts;
  clock: Clock;
}): Answerer {
  const { cache, flights, instances, budget, counts, clock } = layers;
  const { now } = clock;
  const popularity = createPopularity({ now });
  const failures = new LRUCache<string, ApiError>({
    max: MAX_FAILURES,
    ttl: FAILURE_MEMORY_MS,
    ttlResolution: 0,
    perf: { now },
  });

  return async function answer(asked, call, options) {
    const window = freshnessClassOf(asked);
    const key = questionKey(asked);
    const requests = popularity.note(key);
    const kept = cache.find(key, window);
    if (kept && isFresh(kept, window)) return counted('cache', fromCache(kept, window, null));
    const purpose = kept ? 'refresh' : requests >= POPULAR ? 'askPopular' : 'askRare';
    try {
      return await refresh(key, window, call, purpose, options);
    } catch (error) {
      const isBusy = error instanceof OutOfBudget;
      const stale = cache.find(key, window);
      if (!stale || !(error instanceof ApiError)) {
        counts.answered[isBusy ? 'refused' : 'failed']++;
        throw error;
      }
      if (isFresh(stale, window)) return counted('cache', fromCache(stale, window, null));
      return counted(isBusy ? 'staleBusy' : 'staleFailing', fromCache(stale, window, isBusy ? 'busy' : 'failing'));
    }
  };

  async function refresh(
    key: string,
    window: FreshnessClass,
    call: Call,
    purpose: Ticket['purpose'],
    options: AskOptions,
  ) {
    const failure = failures.get(key);
    if (failure) throw failure;
    const asked: Ticket = { priority: options.priority ?? 'free', purpose };
    const { flight, isOurs } = flights.board(key, asked, (ticket) => fetch(key, window, call, ticket));
    const patienceMs = purpose === 'refresh' ? flight.startedAt + STALE_PATIENCE_MS - now() : PATIENCE_MS;
    const { payload, retrievedAt, freshness } = await waitFor(flight.result, patienceMs, options.signal);
    const source = freshness?.source === 'upstream' && !isOurs ? 'joined' : (freshness?.source ?? 'upstream');
    return counted(source, { payload, retrievedAt, ...(freshness && { freshness: { ...freshness, source } }) });
  }

  /** What all who wait for the key get: from another instance if it is quicker, else by a call of ours. */
  async function fetch(key: string, window: FreshnessClass, call: Call, ticket: Ticket): Promise<EfaAnswer<unknown>> {
    try {
      return await instances.alone(key, {
        look: async () => {
          const brought = await cache.load(key, window);
          return brought && isFresh(brought, window) ? fromCache(brought, window, null) : null;
        },
        work: async () => {
          const { payload, retrievedAt } = await call(ticket, (arrived) => cache.keep(key, window, arrived));
          return { payload, retrievedAt, freshness: freshnessOf(retrievedAt.getTime(), window, 'upstream', null) };
        },
      });
    } catch (error) {
      const wasAsked = !(error instanceof OutOfBudget) && !(error instanceof LeftAlone);
      if (error instanceof ApiError && wasAsked) failures.set(key, error);
      throw error;
    }
  }

  async function waitFor<Value>(result: Promise<Value>, patienceMs: number, signal?: AbortSignal): Promise<Value> {
    if (signal?.aborted) throw tooLate();
    const patient = within(clock, Math.max(0, patienceMs), result, () => Promise.reject(tooLate()));
    if (!signal) return patient;
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const giveUp = () => reject(tooLate());
    signal.addEventListener('abort', giveUp, { once: true });
    patient.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
    return promise;
  }

  function isFresh({ retrievedAt }: KeptAnswer, window: FreshnessClass): boolean {
    return now() < freshUntil(retrievedAt, window, budget.stretch());
  }

  function fromCache(kept: KeptAnswer, window: FreshnessClass, shortage: Freshness['shortage']): EfaAnswer<unknown> {
    const freshness = freshnessOf(kept.retrievedAt, window, 'cache', shortage);
    return { payload: unpack(kept), retrievedAt: new Date(kept.retrievedAt), freshness };
  }

  /** What is stale was fresh for as long as it would have been without any stretch. */
  function freshnessOf(
    retrievedAt: number,
    window: FreshnessClass,
    source: Freshness['source'],
    shortage: Freshness['shortage'],
  ): Freshness {
    const until = freshUntil(retrievedAt, window, shortage === null ? budget.stretch() : 1);
    return { retrievedAt, freshUntil: until, staleUntil: staleUntil(retrievedAt, window), source, shortage };
  }

  function counted(how: keyof Counts['answered'], answer: EfaAnswer<unknown>): EfaAnswer<unknown> {
    counts.answered[how]++;
    return answer;
  }
}

function tooLate(): ApiError {
  return new ApiError('UPSTREAM_TIMEOUT', 'The transport authority did not answer in time. Try again later.');
}
