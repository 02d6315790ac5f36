import type { Clock } from '../clock.ts';
import { dayOf, presumedSpent, reserveFill, spendLimit, waitForFloor } from './pace.ts';

/** One call taken from a budget, or how long it will be until one can be taken: soon (rate) or not so soon (day). */
export type Taking = { isTaken: true } | { isTaken: false; why: 'rate' | 'day' | 'paused'; waitMs: number };

/** The budget of one upstream key: calls a second and calls a day. */
export interface Meter {
  /** Takes a call if that leaves `floor` of the day's reserve untouched. */
  take(floor: number): Taking | Promise<Taking>;
  /** Takes nothing until then. */
  pause(ms: number): void;
  reserveFill(): number;
}

export interface Limits {
  /** Calls a second; infinite for none. */
  rps: number;
  dailyBudget: number;
}

/** A second, and what the network may squeeze two calls together by. */
export const RATE_WINDOW_MS = 1050;

export interface ProcessMeter extends Meter {
  spent(): number;
  /** What another meter has counted, and whether a call was made just now by its leave. */
  follow(spent: number, hasStarted: boolean): void;
}

/** A meter of this process. `share` says which part of the limits is this process's, 1 when it is alone. */
export function createProcessMeter(
  { rps, dailyBudget }: Limits,
  { now }: Pick<Clock, 'now'>,
  share: () => number = () => 1,
): ProcessMeter {
  let day = dayOf(now());
  let spent = presumedSpent(now(), dailyBudget);
  let starts: number[] = [];
  let pausedUntil = 0;

  function today(): number {
    if (dayOf(now()) !== day) {
      day = dayOf(now());
      spent = 0;
    }
    return spent;
  }

  return {
    take(floor) {
      const moment = now();
      if (moment < pausedUntil) return { isTaken: false, why: 'paused', waitMs: pausedUntil - moment };
      if (today() + 1 > spendLimit(moment, dailyBudget, floor)) {
        return { isTaken: false, why: 'day', waitMs: waitForFloor(moment, dailyBudget, spent, floor) };
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
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
    reserveFill: () => reserveFill(now(), dailyBudget, today()),
    spent: today,
    follow(known, hasStarted) {
      today();
      spent = known;
      if (hasStarted) starts = [...starts, now()].slice(-rps);
    },
  };
}
