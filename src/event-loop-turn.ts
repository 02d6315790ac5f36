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
