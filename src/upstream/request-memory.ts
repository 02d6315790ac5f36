import { MINUTE_MS } from '../core/clock.ts';
import { type BoundedMap, createBoundedMap, hashOf } from '../core/own-memory.ts';
import { blameOf } from '../efa/failure.ts';
import type { UpstreamRequest } from '../efa/request.ts';
import type { ApiError } from '../errors/api-error.ts';

/**
 * Pauses after failures. The breaker opens only when different requests fail, because one bad request says nothing about
 * upstream. So each failed request has its own pause. Otherwise three failing boards that are polled often would use up the five
 * calls a second.
 */

/** The first pause. It doubles with each failure, unless upstream is at fault. */
const FIRST_PAUSE_MS = 1000;
/** Longest pause while the cause is unclear; short, so that responses are fresh soon after an outage. */
const MAX_UNCLEAR_PAUSE_MS = 4000;
/** Longest pause while the request is at fault. */
const MAX_PAUSE_MS = MINUTE_MS;
/** After this long without a failure, a request starts with the first pause again. */
const FORGET_MS = 3 * MINUTE_MS;
const MAX_PAUSES = 4000;

/** A pause after a failure: until it ends, a request gets its previous error again, and a requester depends on the breaker's probes. */
interface Pause {
  at: number;
  pauseMs: number;
  error?: ApiError;
}

/** Pauses of requests and of requesters. */
export type Pauses = BoundedMap<Pause>;
export const createPauses = (): Pauses => createBoundedMap('failures', MAX_PAUSES);

export function isWithin(pause: Pause | undefined, now: number): pause is Pause {
  return pause !== undefined && pause.at <= now && now < pause.at + pause.pauseMs;
}

export class FailureMemory {
  readonly #now: () => number;
  readonly #failures: Pauses;
  readonly #lastSuccess = new Map<UpstreamRequest['kind'], number>();

  constructor(now: () => number, pauses = createPauses()) {
    this.#now = now;
    this.#failures = pauses;
  }

  /** The error to return for now; undefined if the request may be sent. */
  find(key: string): ApiError | undefined {
    const failure = this.#failures.size > 0 ? this.#failures.get(hashOf(key)) : undefined;
    return isWithin(failure, this.#now()) ? failure.error : undefined;
  }

  record(kind: UpstreamRequest['kind'], key: string, error: ApiError): void {
    const hash = hashOf(key);
    releaseStack(error);
    this.#failures.set(hash, { error, at: this.#now(), pauseMs: this.#pauseAfter(kind, hash, error) });
  }

  recordSuccess(kind: UpstreamRequest['kind'], key: string): void {
    this.#lastSuccess.set(kind, this.#now());
    if (this.#failures.size > 0) this.#failures.delete(hashOf(key));
  }

  #pauseAfter(kind: UpstreamRequest['kind'], hash: string, error: ApiError): number {
    const before = this.#failures.get(hash);
    const blame = blameOf(error);
    if (!before || this.#now() - before.at >= FORGET_MS || blame === 'upstream') return FIRST_PAUSE_MS;
    // Other requests of this kind have succeeded since the last failure, so this request is at fault.
    const isAtFault = blame === 'request' || (this.#lastSuccess.get(kind) ?? Number.NEGATIVE_INFINITY) > before.at;
    return Math.min(isAtFault ? MAX_PAUSE_MS : MAX_UNCLEAR_PAUSE_MS, 2 * before.pauseMs);
  }
}

/** Until its stack is read, an error keeps the locals of its functions alive, including the whole unreadable response. */
function releaseStack(error: unknown): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause) void cause.stack;
}
