/** Sets a timer that does not keep the process alive; the result cancels it. */
export function startTimer(delayMs: number, task: () => void): () => void {
  const timer = setTimeout(task, delayMs).unref();
  return () => clearTimeout(timer);
}

/** `signal` ends the work earlier; `after` is the timer of a clock other than the system's. */
type LimitOptions = { signal?: AbortSignal | undefined; after?: typeof startTimer };

/**
 * Does work whose signal is aborted, with a `TimeoutError`, after so many milliseconds. `AbortSignal.timeout` cannot be
 * cleared: each request would leave a timer behind that wakes the process seconds later.
 */
export async function withTimeLimit<Result>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
  { signal: other, after = startTimer }: LimitOptions = {},
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
  options?: LimitOptions,
): Promise<Value> {
  return withTimeLimit(milliseconds, (signal) => untilAborted(signal, promise, error), options);
}

/** Deadlines in milliseconds, all derived from that of one call of upstream. */
export interface Deadlines {
  /** One call, body included. */
  callMs: number;
  /** A call, its wait for the budget and its retry. */
  callWithRetryMs: number;
  /** A request to the service; it waits no longer for upstream. */
  requestMs: number;
  /** The time that requests in flight get when the process stops. */
  closeMs: number;
}

export function deadlinesFrom(callMs: number): Deadlines {
  return { callMs, callWithRetryMs: callMs + 1000, requestMs: callMs + 1500, closeMs: callMs + 1800 };
}
