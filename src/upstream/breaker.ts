import { MINUTE_MS } from '../core/clock.ts';
import { hashOf } from '../core/own-memory.ts';
import type { Blame } from '../efa/failure.ts';
import { ApiError } from '../errors/api-error.ts';
import { createPauses, isWithin, type Pauses } from './request-memory.ts';

/**
 * A circuit breaker. It opens when different requests fail and none succeeds; then only probes are made until one succeeds. If it
 * opened without a sign that upstream is unreachable, callers that have not failed yet may continue, so that one caller's
 * failures do not block the others.
 */

/** This many calls without any response open it, if they are for at least two different requests. */
const SILENT_TO_OPEN = 5;
/** This many different requests that fail in a row open it, however they fail. After many recent successes, more must fail. */
const UNCLEAR_TO_OPEN = 5;
const RECENT_MS = 10_000;
const MAX_COUNTED = 50;
const FIRST_PAUSE_MS = 1000;
/** Short, so that responses are fresh within five seconds of upstream's return. */
const MAX_PAUSE_MS = 3000;
/** First pause of a requester that failed while the breaker was open; until it ends, the requester depends on probes. */
const FIRST_REQUESTER_PAUSE_MS = 10_000;
const MAX_REQUESTER_PAUSE_MS = MINUTE_MS;

/** Upstream has failed for different requests, so no call is made. */
export class BreakerOpenError extends ApiError {
  constructor(pauseMs: number) {
    super('UPSTREAM_UNAVAILABLE', 'Transport for NSW does not respond at present. Try again later.', {
      cause: new Error('the circuit breaker is open'),
      headers: { 'retry-after': String(Math.max(1, Math.ceil(pauseMs / 1000))) },
    });
  }
}

/** Permission for one call. The caller must report exactly one of the three outcomes. */
export interface Permit {
  isProbe: boolean;
  succeeded(): void;
  failed(blame: Blame): void;
  /** The call was not made, or its outcome says nothing about upstream's health. */
  withdrawn(): void;
}

/** Counts the outcomes of calls and refuses calls while open. */
export class Breaker {
  readonly #now: () => number;
  /** Hashes of the requests that failed since the last success. */
  readonly #failed = new Set<string>();
  /** Calls without a response since the last response, and hashes of their requests. */
  readonly #silent = { calls: 0, requests: new Set<string>() };
  #successes: number[] = [];
  /** Includes pauses of requesters whose calls failed while the breaker was open. */
  readonly #pauses: Pauses;
  /** Incremented to end the pauses of all requesters. */
  #round = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #nextProbeAt: number | null = null;

  constructor(now: () => number, pauses = createPauses()) {
    this.#now = now;
    this.#pauses = pauses;
  }

  /**
   * Throws `BreakerOpenError` while open. The next probe does not wait for the result of the previous one, which may hang.
   * `requesters` are the accounts that wait for the request, each with the request's kind.
   */
  permit(origin: CallOrigin): Permit {
    const isOpen = this.#nextProbeAt !== null;
    const isProbe = isOpen && (this.#isSilent() || origin.requesters.every((requester) => this.#isHeldBack(requester)));
    if (this.#nextProbeAt !== null && isProbe) {
      const waitMs = this.#nextProbeAt - this.#now();
      // A wait longer than any pause means that the clock was set back.
      if (waitMs > 0 && waitMs <= MAX_PAUSE_MS) throw new BreakerOpenError(waitMs);
      this.#nextProbeAt = this.#now() + this.#pauseMs;
    }
    return {
      isProbe,
      succeeded: () => this.#succeeded(),
      failed: (blame) => this.#fail(origin, blame, { isProbe, wasOpen: isOpen }),
      withdrawn: isProbe ? () => this.#probeAgain() : () => {},
    };
  }

  isOpen(): boolean {
    return this.#nextProbeAt !== null;
  }

  #isSilent(): boolean {
    return this.#silent.calls >= SILENT_TO_OPEN && this.#silent.requests.size > 1;
  }

  #isHeldBack(requester: string): boolean {
    return isWithin(this.#pauses.get(`${this.#round} ${requester}`), this.#now());
  }

  #succeeded(): void {
    this.#failed.clear();
    this.#endSilence();
    this.#round++;
    this.#successes = [...this.#successes.slice(1 - MAX_COUNTED), this.#now()];
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#nextProbeAt = null;
  }

  #fail({ request, requesters }: CallOrigin, blame: Blame, call: { isProbe: boolean; wasOpen: boolean }): void {
    const hash = hashOf(request);
    if (blame === 'upstream') {
      this.#silent.calls++;
      if (this.#silent.requests.size < MAX_COUNTED) this.#silent.requests.add(hash);
    } else {
      // Upstream is back, so requesters that were paused while it was silent may try again.
      if (this.#isSilent()) this.#round++;
      this.#endSilence();
    }
    if (blame === 'request') {
      if (call.isProbe) this.#probeAgain();
      return;
    }
    if (this.#failed.size < MAX_COUNTED) this.#failed.add(hash);
    if (call.wasOpen) for (const requester of requesters) if (!this.#isHeldBack(requester)) this.#holdBack(requester);
    if (call.isProbe) this.#probeFailed();
    else if (this.#nextProbeAt === null && this.#isDown()) this.#nextProbeAt = this.#now() + this.#pauseMs;
  }

  /** The more calls succeeded recently, the more requests must fail, because a busy service has more bad requests. */
  #isDown(): boolean {
    const recent = this.#successes.filter((at) => at <= this.#now() && this.#now() - at < RECENT_MS).length;
    return this.#isSilent() || this.#failed.size >= Math.max(UNCLEAR_TO_OPEN, recent);
  }

  #endSilence(): void {
    this.#silent.calls = 0;
    this.#silent.requests.clear();
  }

  #holdBack(requester: string): void {
    const name = `${this.#round} ${requester}`;
    const before = this.#pauses.get(name)?.pauseMs ?? FIRST_REQUESTER_PAUSE_MS / 2;
    this.#pauses.set(name, { at: this.#now(), pauseMs: Math.min(MAX_REQUESTER_PAUSE_MS, 2 * before) });
  }

  #probeFailed(): void {
    if (this.#nextProbeAt === null) return;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2);
    const later = this.#now() + this.#pauseMs;
    this.#nextProbeAt = this.#nextProbeAt - this.#now() <= MAX_PAUSE_MS ? Math.max(this.#nextProbeAt, later) : later;
  }

  #probeAgain(): void {
    if (this.#nextProbeAt !== null) this.#nextProbeAt = this.#now();
  }
}

/** A request, and the accounts that wait for it. */
interface CallOrigin {
  request: string;
  requesters: readonly string[];
}

/** What decides whether a call is made. */
export type CallGate = Pick<Breaker, 'permit' | 'isOpen'>;

/** For an upstream that fails on purpose: never refuses a call. */
export const alwaysClosed: CallGate = {
  permit: () => ({ isProbe: false, succeeded() {}, failed() {}, withdrawn() {} }),
  isOpen: () => false,
};
