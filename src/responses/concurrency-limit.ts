/** Runs work, at most so much of it at the same time. The rest waits in order. */
export type ConcurrencyLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createConcurrencyLimit(most: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The next work takes the place of this one.
      if (next) next();
      else running--;
    }
  };
}
