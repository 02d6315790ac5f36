import { ApiError } from '../errors.ts';

/*
 * A circuit breaker: after some failures in a row upstream is left alone, but for single probes, until one succeeds.
 */

const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1000;
/** Answers must be fresh again within five seconds of upstream's return. */
const MAX_PAUSE_MS = 3000;

/** No call is made: upstream has failed too often of late. */
export class LeftAlone extends ApiError {
  constructor(pauseMs: number) {
    super('UPSTREAM_UNAVAILABLE', 'The transport authority does not answer at present. Try again later.', {
      cause: new Error('the circuit breaker is open'),
      headers: { 'retry-after': String(Math.max(1, Math.ceil(pauseMs / 1000))) },
    });
  }
}

/** Leave to make one call. Exactly one of the three has to be told, once. */
export interface Admission {
  isProbe: boolean;
  succeeded(): void;
  failed(): void;
  /** The call was not made, or its outcome says nothing about upstream's health. */
  withdrawn(): void;
}

export interface Breaker {
  /** Throws `UPSTREAM_UNAVAILABLE` while open. Probes do not wait for each other: one that hangs holds nothing up. */
  admit(): Admission;
  isOpen(): boolean;
}

export function createBreaker({ now }: { now: () => number }): Breaker {
  let failuresInARow = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let nextProbeAt: number | null = null;

  function admit(): Admission {
    const isProbe = nextProbeAt !== null;
    if (nextProbeAt !== null) {
      if (now() < nextProbeAt) throw new LeftAlone(nextProbeAt - now());
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
    nextProbeAt = Math.max(nextProbeAt, now() + pauseMs);
  }

  function probeAgain(): void {
    if (nextProbeAt !== null) nextProbeAt = now();
  }

  return { admit, isOpen: () => nextProbeAt !== null };
}
