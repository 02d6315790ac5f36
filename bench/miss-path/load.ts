import { setTimeout as sleep } from 'node:timers/promises';

/** Sends requests for `forMs` and returns the duration of each, in milliseconds. */
export type Load = (sendOnce: () => Promise<unknown>, forMs: number) => Promise<number[]>;

/** Keeps this many requests in flight. Their starts are spread over the time of one response. */
export function keepInFlight(inFlight: number, answerMs: number): Load {
  return async (sendOnce, forMs) => {
    const latencies: number[] = [];
    const until = performance.now() + forMs;
    const keepSending = async (_: unknown, index: number) => {
      await sleep((index * answerMs) / inFlight);
      while (performance.now() < until) {
        const sentAt = performance.now();
        await sendOnce();
        latencies.push(performance.now() - sentAt);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, keepSending));
    return latencies;
  };
}

/** Sends each request when it is due, whether or not earlier ones were answered. */
export function sendAtRate(perSecond: number): Load {
  return (sendOnce, forMs) => {
    const startedAt = performance.now();
    const sendWhenDue = async (_: unknown, index: number) => {
      const dueMs = (index * 1000) / perSecond;
      await sleep(dueMs);
      await sendOnce();
      return performance.now() - startedAt - dueMs;
    };
    return Promise.all(Array.from({ length: (forMs / 1000) * perSecond }, sendWhenDue));
  };
}
