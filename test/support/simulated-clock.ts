import type { Clock } from '#src/core/clock.ts';

/** A clock that stands still until it is advanced, and then runs what is due in order. */
export interface SimulatedClock extends Clock {
  advance(ms: number): Promise<void>;
  advanceTo(moment: number): Promise<void>;
  /** Sets the clock without firing timers. */
  set(moment: number): void;
}

interface Timer {
  at: number;
  order: number;
  task(): void;
}

export function createSimulatedClock(start: string | number): SimulatedClock {
  let moment = new Date(start).getTime();
  let order = 0;
  const timers: Timer[] = [];

  async function advanceTo(target: number): Promise<void> {
    await settled();
    for (let next = timers[0]; next && next.at <= target; next = timers[0]) {
      timers.shift();
      moment = Math.max(moment, next.at);
      next.task();
      await settled();
    }
    moment = Math.max(moment, target);
  }

  return {
    now: () => moment,
    after(delayMs, task) {
      const timer = { at: moment + Math.max(0, delayMs), order: order++, task };
      timers.splice(placeOf(timer, timers), 0, timer);
      return () => {
        const index = timers.indexOf(timer);
        if (index >= 0) timers.splice(index, 1);
      };
    },
    advance: (ms) => advanceTo(moment + ms),
    advanceTo,
    set(target) {
      for (const timer of timers) timer.at += target - moment;
      moment = target;
    },
  };
}

/** Waits until everything that waits only for promises has gone as far as it can. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Earlier first; at the same time, in order of arrival. */
function placeOf(timer: Timer, timers: readonly Timer[]): number {
  let low = 0;
  let high = timers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = timers[middle] as Timer;
    if (other.at < timer.at || (other.at === timer.at && other.order < timer.order)) low = middle + 1;
    else high = middle;
  }
  return low;
}
