import { MINUTE_MS } from '../../core/clock.ts';
import type { Priority } from '../../core/turn-queue.ts';
import { dayOf, type Limits, presumedSpent, spendLimit, waitForCall } from './pace.ts';

/** A call taken from the budget, or why none is available (rate per second, daily budget, pause) and for how long. */
export type TakeResult = { isTaken: true } | { isTaken: false; why: 'rate' | 'day' | 'paused'; waitMs: number };

/** The budget of one upstream key: calls per second and per day. */
export interface Meter {
  /** Takes a call if the rate and the day allow one more. */
  spend(priority: Priority): TakeResult | Promise<TakeResult>;
  /** Refuses calls for `ms` milliseconds. */
  pause(ms: number): void;
  /** Calls made this UTC day, as far as this process knows. */
  spent(): number;
}

/** A second plus 50 ms, because the network may deliver two calls closer together than they were sent. */
export const RATE_WINDOW_MS = 1050;

/** Smaller backward steps of the clock are ignored. */
const CLOCK_STEP_MS = MINUTE_MS;
/** Calls are granted no further ahead than this; a later grant dates from before the clock was set back. */
const MAX_GRANTED_AHEAD_MS = 4 * RATE_WINDOW_MS;

/** A meter in this process's memory. `share` is the fraction of the limits that this process may use; 1 when alone. */
export class ProcessMeter implements Meter {
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #share: () => number;
  #day: number;
  #spent: number;
  /** When the clock was last read. */
  #readAt: number;
  /** The times of recent calls, and of granted calls that have not started. */
  #starts: number[] = [];
  #pause = { from: 0, until: 0 };

  constructor(limits: Limits, now: () => number, share: () => number = () => 1) {
    this.#limits = limits;
    this.#now = now;
    this.#share = share;
    this.#day = dayOf(now());
    this.#spent = presumedSpent(now(), limits);
    this.#readAt = now();
  }

  spend(priority: Priority): TakeResult {
    const moment = this.#now();
    const { rps } = this.#limits;
    // A pause that starts in the future dates from before the clock was set back.
    if (this.#pause.from <= moment && moment < this.#pause.until) {
      return { isTaken: false, why: 'paused', waitMs: this.#pause.until - moment };
    }
    const before = this.spent();
    if (before + 1 > spendLimit(moment, this.#limits, priority)) {
      return { isTaken: false, why: 'day', waitMs: waitForCall(moment, this.#limits, before, priority) };
    }
    const share = this.#share();
    const ownRps = Math.max(1, Math.floor(rps * share));
    const windowMs = RATE_WINDOW_MS * Math.max(1, ownRps / (rps * share));
    this.#forgetStarts(windowMs);
    if (this.#starts.length >= ownRps) {
      return { isTaken: false, why: 'rate', waitMs: (this.#starts.at(-ownRps) ?? moment) + windowMs - moment };
    }
    if (Number.isFinite(rps)) this.#starts.push(moment);
    this.#spent += 1 / share;
    return { isTaken: true };
  }

  pause(ms: number): void {
    const { from, until } = this.#pause;
    const end = this.#now() + ms;
    this.#pause = { from: this.#now(), until: from <= this.#now() ? Math.max(until, end) : end };
  }

  spent(): number {
    const moment = this.#now();
    if (dayOf(moment) !== this.#day) {
      this.#day = dayOf(moment);
      this.#spent = 0;
    } else if (moment < this.#readAt - CLOCK_STEP_MS) {
      // The clock was set back: by the new time, less of the day's budget is available.
      this.#spent = Math.min(this.#spent, presumedSpent(moment, this.#limits));
    }
    this.#readAt = moment;
    return this.#spent;
  }

  /** Adopts the count of a shared meter. */
  follow(count: number): void {
    this.spent();
    this.#spent = count;
  }

  /**
   * Records a call that a shared meter granted for `waitMs` from now, and returns the delay after which it may be made. Delayed
   * replies arrive together, but their calls must be spaced out.
   */
  startGranted(waitMs: number): number {
    this.#forgetStarts(RATE_WINDOW_MS);
    const beforeWindow = this.#starts.at(-this.#limits.rps) ?? Number.NEGATIVE_INFINITY;
    const start = Math.max(this.#now() + waitMs, beforeWindow + RATE_WINDOW_MS, this.#starts.at(-1) ?? 0);
    this.#starts.push(start);
    return start - this.#now();
  }

  /** Blocks calls for one window: others may have used all of it. */
  fillWindow(): void {
    this.#starts = new Array(this.#limits.rps).fill(this.#now());
  }

  #forgetStarts(windowMs: number): void {
    const moment = this.#now();
    this.#starts = this.#starts.filter((start) => moment - start < windowMs && start - moment < MAX_GRANTED_AHEAD_MS);
  }
}
