import { ApiError } from '../errors/api-error.ts';

/*
 * A circuit breaker. After some failures in a row it opens, and no calls are made but single probes. The first probe
 * that succeeds closes it.
 */

const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1000;
/** Short, so that answers are fresh again within five seconds of the authority's return. */
const MAX_PAUSE_MS = 3000;

/** The authority has failed several times in a row; no call is made. */
export class BreakerOpenError extends ApiError {
  constructor(pauseMs: number) {
    super('UPSTREAM_UNAVAILABLE', 'The transport authority does not answer at present. Try again later.', {
      cause: new Error('the circuit breaker is open'),
      headers: { 'retry-after': String(Math.max(1, Math.ceil(pauseMs / 1000))) },
    });
  }
}

/** Permission for one call. The caller has to report one of the three outcomes, once. */
export interface Permit {
  isProbe: boolean;
  succeeded(): void;
  failed(): void;
  /** The call was not made, or its outcome says nothing about the authority's health. */
  withdrawn(): void;
}

export interface Breaker {
  /**
   * Throws `BreakerOpenError` while open. The next probe does not wait for the outcome of the one before, which may
   * hang.
   */
  permit(): Permit;
  isOpen(): boolean;
}

/** For an authority whose failures are made on purpose: a call is always made. */
export const alwaysClosed: Breaker = {
  permit: () => ({ isProbe: false, succeeded() {}, failed() {}, withdrawn() {} }),
  isOpen: () => false,
};

export function createBreaker({ now }: { now: () => number }): Breaker {
  let failuresInARow = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let nextProbeAt: number | null = null;

  function permit(): Permit {
    const isProbe = nextProbeAt !== null;
    if (nextProbeAt !== null) {
      const waitMs = nextProbeAt - now();
      // A longer wait than any pause comes of a clock that was set back.
      if (waitMs > 0 && waitMs <= MAX_PAUSE_MS) throw new BreakerOpenError(waitMs);
      nextProbeAt = now() + pauseMs;
    }
    return { isProbe, succeeded, failed: isProbe ? probeFailed : failed, withdrawn: isProbe ? probeAgain : () => {} };
  }

  function succeeded(): void {
    failuresInARow = 0;
    pauseMs = FIRST_PAUSE_MS;
    nextProbeAt = null;
  }

  function failed(): void {
    failuresInARow++;
    if (failuresInARow >= FAILURES_TO_OPEN && nextProbeAt === null) nextProbeAt = now() + pauseMs;
  }

  function probeFailed(): void {
    if (nextProbeAt === null) return;
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
    const later = now() + pauseMs;
    nextProbeAt = nextProbeAt - now() <= MAX_PAUSE_MS ? Math.max(nextProbeAt, later) : later;
  }

  function probeAgain(): void {
    if (nextProbeAt !== null) nextProbeAt = now();
  }

  return { permit, isOpen: () => nextProbeAt !== null };
}
