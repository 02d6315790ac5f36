/** How long things may take, in milliseconds; all of them follow from the deadline of one call of the authority. */
export interface Deadlines {
  /** One call, body included. */
  callMs: number;
  /** A call with its wait for the budget and its retry. */
  callWithRetryMs: number;
  /** A request of ours: nothing waits for the authority longer. */
  requestMs: number;
  /** A clean stop: time for the requests in flight to be answered. */
  closeMs: number;
}

export function deadlinesFrom(callMs: number): Deadlines {
  return { callMs, callWithRetryMs: callMs + 1000, requestMs: callMs + 1500, closeMs: callMs + 1800 };
}
