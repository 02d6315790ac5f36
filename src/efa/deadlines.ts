/** Deadlines in milliseconds, all derived from that of one call of the authority. */
export interface Deadlines {
  /** One call, body included. */
  callMs: number;
  /** A call, its wait for the budget and its retry. */
  callWithRetryMs: number;
  /** A request to the service; it waits no longer for the authority. */
  requestMs: number;
  /** The time that requests in flight get when the process stops. */
  closeMs: number;
}

export function deadlinesFrom(callMs: number): Deadlines {
  return { callMs, callWithRetryMs: callMs + 1000, requestMs: callMs + 1500, closeMs: callMs + 1800 };
}
