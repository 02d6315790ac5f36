import { type Clock, systemClock } from '../clock.ts';
import type { Ask, AskAuthority, Shortage, UpstreamResponse } from '../efa/ask.ts';
import { type Deadlines, deadlinesFrom } from '../time-limit.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { createBudget } from './budget/budget.ts';
import { createProcessMeter, type Limits, type Meter } from './budget/meter.ts';
import { createCachedAsk, type ServedCounts } from './cached-ask.ts';
import { createFeedCall, type FeedCall } from './feed-call.ts';
import { type CallCounts, createGuardedCall, type Log } from './guarded-call.ts';
import { createInstanceFlight } from './instance-flight.ts';
import { createResponseCache, type ResponseCache } from './response-cache.ts';
import { noSharedStore, type SharedStore } from './shared-store.ts';
import { createSingleFlight } from './single-flight.ts';

export interface ProtectionOptions {
  /** One `ask` for each upstream key. */
  asks: readonly AskAuthority[];
  /** The limits of each key. */
  limits: Limits;
  log: Log;
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
  callForFeed: FeedCall;
  /** Counted since the process began. */
  counts: CallCounts & { answered: ServedCounts };
  state(): UpstreamState;
  /** The responses that this process keeps. */
  cache: Pick<ResponseCache, 'size' | 'shrink'>;
}

interface UpstreamState {
  isBreakerOpen: boolean;
  /** By how much freshness is stretched for plans other than Pro, 1 to 4. */
  stretch: number;
  /** By how much the time between two polls of a feed is stretched, 1 to 4. */
  pollStretch: number;
  /** 1 is full, 0 is nothing left for now. */
  reserveFill: number;
  waiting: number;
  /** Why no plan gets further calls for now. */
  shortage: Shortage | null;
  /** Calls that are left of this UTC day, for each key of upstream. */
  callsLeft: readonly number[];
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
    meters: asks.map(() => createProcessMeter(limits, clock)),
  };
  const cache = createResponseCache({ maxBytes, now, store });
  const flights = createSingleFlight<UpstreamResponse<unknown>>({ now });
  const instances = createInstanceFlight({ store, clock, maxWaitMs: deadlines.requestMs });
  const budget = createBudget({ meters, rps: limits.rps, clock, noteCall: options.noteCall });
  const { call, counts: calls } = createGuardedCall({ asks, budget, breaker, clock, deadlines, log });
  const { ask, counts: answered } = createCachedAsk({ call, cache, flights, instances, budget, clock, deadlines });

  return {
    ask,
    callForFeed: createFeedCall({ budget, counts: calls, clock, log }),
    counts: Object.assign(calls, { answered }),
    cache,
    state: () => {
      return {
        isBreakerOpen: breaker.isOpen(),
        stretch: budget.stretch('low'),
        pollStretch: budget.pollStretch(),
        ...budget.state(),
        callsLeft: meters.map((meter) => Math.max(0, Math.floor(limits.dailyBudget - meter.spent()))),
      };
    },
  };
}
