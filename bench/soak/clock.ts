import type { Clock } from '#src/core/clock.ts';

export interface SoakClock extends Clock {
  /** Moves the clock on and does what is due, in order. */
  move(ms: number): void;
}

/**
 * A clock for time that passes while requests are being answered: it is moved by small steps and does not wait for
 * what a task begins. A clock that waits for it needs a turn of the event loop for each task, and falls behind the requests.
 */
export function createSoakClock(start: string): SoakClock {
  let moment = Date.parse(start);
  /** Earliest last. */
  const timers: { at: number; task: () => void }[] = [];

  return {
    now: () => moment,
    after(delayMs, task) {
      const timer = { at: moment + Math.max(0, delayMs), task };
      let place = timers.length;
      while (place > 0 && (timers[place - 1]?.at ?? 0) <= timer.at) place--;
      timers.splice(place, 0, timer);
      return () => {
        const index = timers.indexOf(timer);
        if (index >= 0) timers.splice(index, 1);
      };
    },
    move(ms) {
      const target = moment + ms;
      for (let next = timers.at(-1); next && next.at <= target; next = timers.at(-1)) {
        timers.pop();
        moment = Math.max(moment, next.at);
        next.task();
      }
      moment = Math.max(moment, target);
    },
  };
}
