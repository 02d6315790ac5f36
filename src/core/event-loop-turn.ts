/** Pieces of work waiting for their turn. */
const waiting: (() => void)[] = [];

/**
 * Waits for an event-loop turn of its own, first come, first served. With a bare `setImmediate`, all waiting work would run in
 * the same turn and block requests.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(letRequestsPass);
  });
}

/** Skips a turn, because a request that arrived meanwhile may need a `setImmediate` of its own, for instance for its charge. */
function letRequestsPass(): void {
  setImmediate(runNext);
}

function runNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(letRequestsPass);
}

/** Returns a function that runs at most `maxConcurrent` pieces of work at the same time and queues the rest in order. */
export function createConcurrencyLimit(
  maxConcurrent: number,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (work) => {
    if (running >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The next queued work takes the free slot.
      if (next) next();
      else running--;
    }
  };
}
