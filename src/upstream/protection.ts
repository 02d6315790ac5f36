import { type Clock, systemClock } from '../clock.ts';
import type { Ask, AskAuthority, UpstreamResponse } from '../efa/ask.ts';
import type { Log } from '../log.ts';
import { SingleFlight } from '../single-flight.ts';
import { type Deadlines, deadlinesFrom } from '../time-limit.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { Budget } from './budget/budget.ts';
import { type Limits, type Meter, ProcessMeter } from './budget/meter.ts';
import { joinTicket, type Ticket } from './budget/ticket.ts';
import { createCachedAsk, type ServedCounts } from './cached-ask.ts';
import { type CallCounts, createFeedCall, createGuardedCall } from './guarded-call.ts';
import { InstanceFlight } from './instance-flight.ts';
import { createResponseCache, type ResponseCache } from './response-cache.ts';
import { noSharedStore, type SharedStore } from './shared-store.ts';

export interface ProtectionOptions {
  /** One `ask` for each upstream key. */
  asks: readonly AskAuthority[];
  /** The limits of each key. */
  limits: Limits;
  log: Log<'warn' | 'error'>;
  deadlines?: Deadlines;
  breaker?: Breaker;
  maxCacheBytes?: number;
  clock?: Clock;
  /** Is told of each call, by the account for which it is made. */
  noteCall?: (account: string) => void;
  /** The store and the meters that instances share; without them this process works alone. */
  shared?: { store: SharedStore; meters: readonly Meter[] } | undefined;
}

export interface Protection {
  ask: Ask;
  /** Makes a call for a feed, within the same budget. */
  callForFeed: ReturnType<typeof createFeedCall>;
  /** Counted since the process began. */
  counts: CallCounts & { answered: ServedCounts };
  state(): ReturnType<Budget['state']> & {
    isBreakerOpen: boolean;
    /** Calls that are left of this UTC day, for each key of upstream. */
    callsLeft: readonly number[];
  };
  /** The responses that this process keeps. */
  cache: Pick<ResponseCache, 'size' | 'shrink'>;
}

const MAX_CACHE_BYTES = 64 * 1024 * 1024;
const DEFAULT_DEADLINES = deadlinesFrom(8000);

/**
 * `ask` with the layers that protect upstream from too many calls, and the service when upstream fails. From
 * outside to inside: cache of the process, single flight, cache and single flight of all instances, circuit breaker,
 * budget, call. Responses tell how fresh they are.
 */
export function protectUpstream(options: ProtectionOptions): Protection {
  const { asks, limits, log, clock = systemClock, maxCacheBytes: maxBytes = MAX_CACHE_BYTES } = options;
  const { now } = clock;
  const { deadlines = DEFAULT_DEADLINES, breaker = createBreaker({ now }) } = options;
  const { store, meters } = options.shared ?? {
    store: noSharedStore,
    meters: asks.map(() => new ProcessMeter(limits, now)),
  };
  const cache = createResponseCache({ maxBytes, now, store });
  const flights = new SingleFlight<UpstreamResponse<unknown>, Ticket>(joinTicket, now);
  const instances = new InstanceFlight({ store, clock, maxWaitMs: deadlines.requestMs });
  const budget = new Budget({ meters, rps: limits.rps, clock, noteCall: options.noteCall });
  const { call, counts: calls } = createGuardedCall({ asks, budget, breaker, clock, deadlines, log });
  const { ask, counts: answered } = createCachedAsk({ call, cache, flights, instances, budget, clock, deadlines });

  return {
    ask,
    callForFeed: createFeedCall({ budget, counts: calls, clock, log }),
    counts: Object.assign(calls, { answered }),
    cache,
    state: () => ({
      isBreakerOpen: breaker.isOpen(),
      ...budget.state(),
      callsLeft: meters.map((meter) => Math.max(0, Math.floor(limits.dailyBudget - meter.spent()))),
    }),
  };
}
