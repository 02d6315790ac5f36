import type { AskOptions, EfaAnswer, EfaClient } from '../efa/client.ts';
import { createAnswerCache } from './answer-cache.ts';
import { createAnswerer } from './answerer.ts';
import { createBreaker } from './breaker.ts';
import { createBudget } from './budget.ts';
import { createCaller, type Log } from './call.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Counts, createCounts } from './counts.ts';
import { createInstanceFlight } from './instance-flight.ts';
import { createProcessMeter, type Limits, type Meter } from './meter.ts';
import { normaliseQuestion, type Question, type QuestionKind } from './question-key.ts';
import { noSharedStore, type SharedStore } from './shared-store.ts';
import { createSingleFlight } from './single-flight.ts';

export interface ProtectedClientOptions {
  /** One for each upstream key. */
  clients: readonly EfaClient[];
  /** Of each key. */
  limits: Limits;
  log: Log;
  maxCacheBytes?: number;
  clock?: Clock;
  /** Shared with other instances; without, this process is by itself. */
  shared?: { store: SharedStore; meters: readonly Meter[] } | undefined;
}

export interface ProtectedClient extends EfaClient {
  counts: Counts;
  state(): UpstreamState;
}

/** For metrics and for the log. */
interface UpstreamState {
  isLeftAlone: boolean;
  /** 1 to 4. */
  stretch: number;
  /** 1 is full, 0 is nothing left for now. */
  reserveFill: number;
  waiting: number;
  cachedAnswers: number;
  cachedBytes: number;
}

const MAX_CACHE_BYTES = 64 * 1024 * 1024;

/**
 * The client of the authority with all that protects it, and us when it fails. From outside to inside: the answers
 * kept in the process, one flight for equal questions, the answers and flights of other instances, the breaker, the
 * line for the budget, the call. The same interface; answers tell how fresh they are.
 */
export function createProtectedClient(options: ProtectedClientOptions): ProtectedClient {
  const { clients, limits, log, clock = systemClock, maxCacheBytes: maxBytes = MAX_CACHE_BYTES } = options;
  const { now } = clock;
  const { store, meters } = options.shared ?? {
    store: noSharedStore,
    meters: clients.map(() => createProcessMeter(limits, clock)),
  };
  const counts = createCounts();
  const cache = createAnswerCache({ maxBytes, now, store });
  const flights = createSingleFlight<EfaAnswer<unknown>>({ now });
  const instances = createInstanceFlight({ store, clock });
  const breaker = createBreaker({ now });
  const budget = createBudget({ meters, rps: limits.rps, clock });
  const call = createCaller({ clients, budget, breaker, clock, counts, log });
  const answer = createAnswerer({ cache, flights, instances, budget, counts, clock });

  function method<Kind extends QuestionKind>(kind: Kind): EfaClient[Kind] {
    const ask = (question: object, options: AskOptions = {}) => {
      const asked = normaliseQuestion({ kind, ...question } as Question);
      return answer(asked, (ticket, keep) => call(asked, ticket, keep), options);
    };
    return ask as EfaClient[Kind];
  }

  return {
    departureMonitor: method('departureMonitor'),
    coordSearch: method('coordSearch'),
    stopFinder: method('stopFinder'),
    tripPlan: method('tripPlan'),
    counts,
    state: () => {
      const { entries, bytes } = cache.size();
      return {
        isLeftAlone: breaker.isOpen(),
        stretch: budget.stretch(),
        ...budget.state(),
        cachedAnswers: entries,
        cachedBytes: bytes,
      };
    },
  };
}
