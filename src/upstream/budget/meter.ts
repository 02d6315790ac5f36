import { type Clock, MINUTE_MS } from '../../clock.ts';
import { type Claim, dayOf, presumedSpent, reserveFill, spendLimit, waitForCall } from './pace.ts';

/** A call taken from the budget, or why there is none (rate a second, budget a day, pause) and for how long. */
export type Taking = { isTaken: true } | { isTaken: false; why: 'rate' | 'day' | 'paused'; waitMs: number };

/** The budget of one upstream key: calls a second and calls a day. */
export interface Meter {
  /** Takes a call if the claim allows one more. */
  take(claim: Claim): Taking | Promise<Taking>;
  /** No call can be taken for so long. */
  pause(ms: number): void;
  reserveFill(): number;
  /** How many calls of this UTC day have been made, as far as this process knows. */
  spent(): number;
}

export interface Limits {
  /** Calls a second; infinite for no limit. */
  rps: number;
  dailyBudget: number;
}

/** A second, and 50 ms because the network may deliver two calls closer together than they were sent. */
export const RATE_WINDOW_MS = 1050;

/** Backward steps of the clock under a minute are ignored. */
const CLOCK_STEP_MS = MINUTE_MS;

export interface ProcessMeter extends Meter {
  /** Takes over the count of a shared meter, and whether that meter has just granted a call. */
  follow(spent: number, hasStarted: boolean): void;
}

/** A meter in the memory of this process. `share` is the part of the limits that this process may use, 1 when alone. */
export function createProcessMeter(
  { rps, dailyBudget }: Limits,
  { now }: Pick<Clock, 'now'>,
  share: () => number = () => 1,
): ProcessMeter {
  let day = dayOf(now());
  let spent = presumedSpent(now(), dailyBudget);
  /** False until the day changes: the process before this one may have made calls in advance. */
  let knowsWholeDay = false;
  let latest = now();
  let starts: number[] = [];
  let pause = { from: 0, until: 0 };

  function today(): number {
    const moment = now();
    if (dayOf(moment) !== day) {
      day = dayOf(moment);
      spent = 0;
      knowsWholeDay = true;
    } else if (moment < latest - CLOCK_STEP_MS) {
      // The clock was set back: by the new time less of the day has been handed out.
      spent = Math.min(spent, presumedSpent(moment, dailyBudget));
    }
    latest = moment;
    return spent;
  }

  return {
    take({ floor, advance }) {
      const moment = now();
      // A pause from ahead is from before the clock was set back.
      if (pause.from <= moment && moment < pause.until) {
        return { isTaken: false, why: 'paused', waitMs: pause.until - moment };
      }
      const before = today();
      const claim = { floor, advance: knowsWholeDay ? advance : 0 };
      if (before + 1 > spendLimit(moment, dailyBudget, claim)) {
        return { isTaken: false, why: 'day', waitMs: waitForCall(moment, dailyBudget, before, claim) };
      }
      const mine = Math.max(1, Math.floor(rps * share()));
      const windowMs = RATE_WINDOW_MS * Math.max(1, mine / (rps * share()));
      starts = starts.filter((start) => moment - start < windowMs && start <= moment);
      if (starts.length >= mine) {
        return { isTaken: false, why: 'rate', waitMs: (starts.at(-mine) ?? moment) + windowMs - moment };
      }
      if (Number.isFinite(rps)) starts.push(moment);
      spent += 1 / share();
      return { isTaken: true };
    },
    pause(ms) {
      const until = now() + ms;
      pause = { from: now(), until: pause.from <= now() ? Math.max(pause.until, until) : until };
    },
    reserveFill: () => reserveFill(now(), dailyBudget, today()),
    spent: today,
    follow(known, hasStarted) {
      today();
      spent = known;
      knowsWholeDay = true;
      if (hasStarted) starts = [...starts, now()].slice(-rps);
    },
  };
}
