export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The time, for what goes on without a request. Tests and simulations pass a clock of their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `task` once after the delay and returns a function that cancels it. Does not keep the process alive. */
  after(delayMs: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}

/**
 * Does work whose signal is aborted, with a `TimeoutError`, after so many milliseconds; `signal` ends it earlier, and `after`
 * is the timer of a clock other than the system's. `AbortSignal.timeout` cannot be cleared: each request would leave a
 * timer behind that wakes the process seconds later.
 */
export async function withTimeLimit<Result>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
  { signal: other, after = systemClock.after }: { signal?: AbortSignal | undefined; after?: Clock['after'] } = {},
): Promise<Result> {
  const controller = new AbortController();
  const end = () => controller.abort(new DOMException(`not done within ${milliseconds} ms`, 'TimeoutError'));
  const follow = () => controller.abort(other?.reason);
  const cancel = after(milliseconds, end);
  if (other?.aborted) follow();
  other?.addEventListener('abort', follow, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    cancel();
    other?.removeEventListener('abort', follow);
  }
}

/** Settles as the promise does, or rejects with the error once the signal is aborted. Whatever fulfils the promise goes on. */
export function untilAborted<Value>(signal: AbortSignal, promise: Promise<Value>, error: () => Error): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(error());
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  return Promise.race([aborted, promise]).finally(() => signal.removeEventListener('abort', giveUp));
}

/** Settles as the promise does, or rejects with the error when that takes longer. Whatever fulfils the promise goes on. */
export function within<Value>(
  milliseconds: number,
  promise: Promise<Value>,
  error: () => Error,
  options?: Parameters<typeof withTimeLimit>[2],
): Promise<Value> {
  return withTimeLimit(milliseconds, (signal) => untilAborted(signal, promise, error), options);
}

/** Deadlines in milliseconds, all derived from that of one call of upstream, body included. */
export function deadlinesFrom(callMs = 8000) {
  return {
    callMs,
    /** A call, its wait for the budget and its retry. */
    callWithRetryMs: callMs + 1000,
    /** A request to the service; it waits no longer for upstream. */
    requestMs: callMs + 1500,
    /** The time that requests in flight get when the process stops. */
    closeMs: callMs + 1800,
  };
}

export type Deadlines = ReturnType<typeof deadlinesFrom>;
