import type { Caller } from '../access/admission.ts';
import { PLANS } from '../access/plan.ts';
import { tooManyStreams } from '../errors/messages.ts';

/** How many streams each account has open on this instance. */
export interface OpenStreams {
  /** Counts one more until the returned function is called. Throws `TOO_MANY_REQUESTS` beyond what the plan allows. */
  enter(caller: Caller): () => void;
}

export function createOpenStreams(): OpenStreams {
  const counts = new Map<string, number>();

  function leave(accountId: string): void {
    const left = (counts.get(accountId) ?? 0) - 1;
    if (left > 0) counts.set(accountId, left);
    else counts.delete(accountId);
  }

  return {
    enter({ accountId, plan }) {
      const open = counts.get(accountId) ?? 0;
      const { title, streams } = PLANS[plan];
      if (open >= streams) throw tooManyStreams(title, streams);
      counts.set(accountId, open + 1);
      return () => leave(accountId);
    },
  };
}
