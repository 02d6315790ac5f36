/** A limit for work that may take too long. */
export interface TimeLimit {
  /** Aborted with a `TimeoutError` when the time is over. */
  signal: AbortSignal;
  /** To be called when the work is done. */
  clear(): void;
}

/**
 * Ends after so many milliseconds, or when the other signal is aborted. `AbortSignal.timeout` has no `clear`: each request
 * would leave a timer behind that wakes the process seconds later.
 */
export function startTimeLimit(milliseconds: number, other?: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const end = () => controller.abort(new DOMException(`not done within ${milliseconds} ms`, 'TimeoutError'));
  const follow = () => controller.abort(other?.reason);
  const timer = setTimeout(end, milliseconds).unref();
  if (other?.aborted) follow();
  other?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      other?.removeEventListener('abort', follow);
    },
  };
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
