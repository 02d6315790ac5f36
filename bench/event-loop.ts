/**
 * Measures how long single turns of the event loop take. Uses wall time, because Linux updates the processor time of a thread
 * only every few milliseconds: measure on a quiet machine.
 */
export interface LoopWatch {
  /** The longest time between two turns of the event loop since the last call, in milliseconds. */
  takeLongestMs(): number;
  stop(): void;
}

export function watchLoop(): LoopWatch {
  let longest = 0;
  let last = performance.now();
  let isOver = false;

  function note(): void {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }

  function turn(): void {
    note();
    if (!isOver) setImmediate(turn);
  }

  setImmediate(turn);
  return {
    takeLongestMs() {
      note();
      const taken = longest;
      longest = 0;
      return taken;
    },
    stop() {
      isOver = true;
    },
  };
}

/** The longest time between two turns of the event loop during the work, in milliseconds. */
export async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  const watch = watchLoop();
  await work();
  watch.stop();
  return watch.takeLongestMs();
}

/** Milliseconds of this thread's processor time that the work takes, the mean of `times` runs. */
export async function cpuMsOf(times: number, work: () => unknown): Promise<number> {
  const before = threadCpuMs();
  for (let done = 0; done < times; done++) await work();
  return (threadCpuMs() - before) / times;
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
