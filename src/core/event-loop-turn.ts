/** Pieces of work that wait for their turn. */
const waiting: (() => void)[] = [];

/**
 * Waits for a turn of the event loop in which no other piece of work goes on; the order is first come, first served.
 * With a bare `setImmediate` all of them would go on in the same turn, and requests would wait for all of them.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(letRequestsPass);
  });
}

/** A request that arrived during the last piece may wait for a `setImmediate` too, for instance until it is counted. */
function letRequestsPass(): void {
  setImmediate(goOn);
}

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(letRequestsPass);
}

/** Returns a function that runs work, at most `most` at the same time. Further work waits in order. */
export function createConcurrencyLimit(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // Work that waits takes over the place of the work that ended.
      if (next) next();
      else running--;
    }
  };
}
