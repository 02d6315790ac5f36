export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The time, and timers. Tests and simulations pass their own. */
export interface Clock {
  /** Milliseconds since 1970; for `steadyClock` since the process started. */
  now(): number;
  /**
   * Runs `task` once after the delay and returns a function that cancels it. The timer keeps the process alive unless
   * `isBackground`: a process with only background timers left exits, even if somebody waits for the task.
   */
  after(delayMs: number, task: () => void, options?: TimerOptions): () => void;
}

interface TimerOptions {
  isBackground?: boolean;
}

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, task, { isBackground = false } = {}) {
    const timer = setTimeout(task, delayMs);
    if (isBackground) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Measures durations: it starts with the process and is not affected when the system time is set. */
export const steadyClock: Clock = { ...systemClock, now: () => performance.now() };

const settled = Promise.resolve();

/** Reads a clock once, and returns that time until the current synchronous work ends. A cache hit asks for the time about ten times. */
export function withOneReading(now: () => number): () => number {
  let current: number | null = null;
  const forget = () => {
    current = null;
  };
  return () => {
    if (current !== null) return current;
    settled.then(forget);
    current = now();
    return current;
  };
}

export function sleep(clock: Clock, delayMs: number, options?: TimerOptions): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve, options));
}

/** `signal` aborts the work early. `after` is a clock's timer, by default the system's. */
interface TimeLimitOptions {
  signal?: AbortSignal | undefined;
  after?: Clock['after'];
}

/**
 * Runs work with a signal that aborts with a `TimeoutError` after `milliseconds`; `signal` aborts it earlier.
 * `AbortSignal.timeout` cannot be cleared: each request would leave a timer that wakes the process seconds later.
 */
export async function withTimeLimit<Result>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
  { signal: other, after = systemClock.after }: TimeLimitOptions = {},
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

/** Settles like the promise, or rejects with the error when the signal aborts. The work behind the promise is not stopped. */
export function untilAborted<Value>(signal: AbortSignal, promise: Promise<Value>, error: () => Error): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(error());
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  return Promise.race([aborted, promise]).finally(() => signal.removeEventListener('abort', giveUp));
}

/** Settles like the promise, or rejects with the error after the time limit. The work behind the promise is not stopped. */
export function within<Value>(
  milliseconds: number,
  promise: Promise<Value>,
  error: () => Error,
  options?: TimeLimitOptions,
): Promise<Value> {
  return withTimeLimit(milliseconds, (signal) => untilAborted(signal, promise, error), options);
}

/** Deadlines in milliseconds, all derived from the one for an upstream call with its body. */
export function deadlinesFrom(callMs = 8000): Deadlines {
  return {
    callMs,
    callWithRetryMs: callMs + 1000,
    requestMs: callMs + 1500,
    closeMs: callMs + 1800,
  };
}

/** Time limits in milliseconds (see `deadlinesFrom`). */
export interface Deadlines {
  callMs: number;
  /** A call, including its wait for the budget and its retry. */
  callWithRetryMs: number;
  /** A request to the service: the longest it waits for upstream. */
  requestMs: number;
  /** How long requests in flight may still take when the process stops. */
  closeMs: number;
}
