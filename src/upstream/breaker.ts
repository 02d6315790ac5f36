import { MINUTE_MS } from '../clock.ts';
import type { Blame } from '../efa/failure.ts';
import { ApiError } from '../errors/api-error.ts';
import { createBoundedMap, hashOf } from '../own-memory.ts';

/*
 * A circuit breaker. It opens when different requests fail and none succeeds; then only probes are made until a call
 * succeeds. When it opened without a sign that upstream is away, askers that have not failed yet go on: what one
 * asker provokes closes the way for nobody else.
 */

/** So many calls without any response open it. They have to be of two requests at least. */
const SILENT_TO_OPEN = 5;
/** So many different requests in a row that fail in another way open it, unless more succeeded a moment before. */
const UNCLEAR_TO_OPEN = 5;
const RECENT_MS = 10_000;
const MAX_COUNTED = 50;
const FIRST_PAUSE_MS = 1000;
/** Short, so that responses are fresh again within five seconds of upstream's return. */
const MAX_PAUSE_MS = 3000;
/** An asker that has failed while the breaker is open depends on probes, this long at first. */
const FIRST_ASKER_PAUSE_MS = 10_000;
const MAX_ASKER_PAUSE_MS = MINUTE_MS;
const MAX_ASKERS = 10_000;

/** Upstream has failed for different requests; no call is made. */
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
  failed(blame: Blame): void;
  /** The call was not made, or its outcome says nothing about upstream's health. */
  withdrawn(): void;
}

export interface Breaker {
  /**
   * Throws `BreakerOpenError` while open. The next probe does not wait for the outcome of the one before, which may
   * hang. `askers` are the accounts that wait for the request, each with its kind.
   */
  permit(origin: { request: string; askers: readonly string[] }): Permit;
  isOpen(): boolean;
}

/** For an authority whose failures are made on purpose: a call is always made. */
export const alwaysClosed: Breaker = {
  permit: () => ({ isProbe: false, succeeded() {}, failed() {}, withdrawn() {} }),
  isOpen: () => false,
};

export function createBreaker({ now }: { now: () => number }): Breaker {
  /** Hashes of the requests that failed since the last success. */
  const failed = new Set<string>();
  /** Calls without any response since the last response, and hashes of their requests. */
  const silent = { calls: 0, requests: new Set<string>() };
  let successes: number[] = [];
  /** Askers whose calls failed while the breaker was open. */
  const heldBack = createBoundedMap<{ since: number; pauseMs: number }>('held back by the breaker', MAX_ASKERS);
  let pauseMs = FIRST_PAUSE_MS;
  let nextProbeAt: number | null = null;

  function permit(origin: Parameters<Breaker['permit']>[0]): Permit {
    const isOpen = nextProbeAt !== null;
    const isProbe = isOpen && (isSilent() || origin.askers.every(isHeldBack));
    if (nextProbeAt !== null && isProbe) {
      const waitMs = nextProbeAt - now();
      // A longer wait than any pause comes of a clock that was set back.
      if (waitMs > 0 && waitMs <= MAX_PAUSE_MS) throw new BreakerOpenError(waitMs);
      nextProbeAt = now() + pauseMs;
    }
    return {
      isProbe,
      succeeded,
      failed: (blame) => fail(origin, blame, { isProbe, wasOpen: isOpen }),
      withdrawn: isProbe ? probeAgain : () => {},
    };
  }

  function isSilent(): boolean {
    return silent.calls >= SILENT_TO_OPEN && silent.requests.size > 1;
  }

  function isHeldBack(asker: string): boolean {
    const hold = heldBack.get(asker);
    return hold !== undefined && hold.since <= now() && now() < hold.since + hold.pauseMs;
  }

  function succeeded(): void {
    failed.clear();
    endSilence();
    heldBack.clear();
    successes = [...successes.slice(1 - MAX_COUNTED), now()];
    pauseMs = FIRST_PAUSE_MS;
    nextProbeAt = null;
  }

  function fail(
    { request, askers }: Parameters<Breaker['permit']>[0],
    blame: Blame,
    call: { isProbe: boolean; wasOpen: boolean },
  ): void {
    const hash = hashOf(request);
    if (blame === 'authority') {
      silent.calls++;
      if (silent.requests.size < MAX_COUNTED) silent.requests.add(hash);
    } else {
      // Upstream is there again: the askers that met its silence may try for themselves.
      if (isSilent()) heldBack.clear();
      endSilence();
    }
    if (blame === 'request') {
      if (call.isProbe) probeAgain();
      return;
    }
    if (failed.size < MAX_COUNTED) failed.add(hash);
    if (call.wasOpen) for (const asker of askers) if (!isHeldBack(asker)) holdBack(asker);
    if (call.isProbe) probeFailed();
    else if (nextProbeAt === null && isDown()) nextProbeAt = now() + pauseMs;
  }

  /** The more calls succeeded a moment ago, the more requests have to fail: a busy service has more bad requests. */
  function isDown(): boolean {
    const recent = successes.filter((at) => at <= now() && now() - at < RECENT_MS).length;
    return isSilent() || failed.size >= Math.max(UNCLEAR_TO_OPEN, recent);
  }

  function endSilence(): void {
    silent.calls = 0;
    silent.requests.clear();
  }

  function holdBack(asker: string): void {
    const before = heldBack.get(asker)?.pauseMs ?? FIRST_ASKER_PAUSE_MS / 2;
    heldBack.set(asker, { since: now(), pauseMs: Math.min(MAX_ASKER_PAUSE_MS, 2 * before) });
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
