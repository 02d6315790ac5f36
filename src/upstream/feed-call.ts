import type { Clock } from '../clock.ts';
import { UpstreamStatusError } from '../efa/failure.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Budget } from './budget/budget.ts';
import { createTicket } from './budget/ticket.ts';
import type { CallCounts, Log } from './guarded-call.ts';

/**
 * Makes a call that asks no request: the poll of a feed. It takes from the budget of all calls and counts among them.
 * The circuit breaker neither refuses it nor learns from it, because feeds and trip planner fail separately. It is not
 * retried: the next poll is soon enough. Throws `BudgetExhaustedError`, else what the call throws.
 */
export type FeedCall = <Result>(call: (key: number) => Promise<Result>) => Promise<Result>;

export function createFeedCall(options: {
  budget: Pick<Budget, 'take' | 'closeKey' | 'noteSuccess'>;
  counts: CallCounts;
  clock: Clock;
  log: Log;
}): FeedCall {
  const { budget, counts, clock, log } = options;
  return async (call) => {
    const key = await budget.take(createTicket('high', 'feed'));
    const startedAt = clock.now();
    counts.calls++;
    try {
      const result = await call(key);
      budget.noteSuccess(key, startedAt);
      return result;
    } catch (error) {
      counts.failures++;
      const cause = error instanceof ApiError ? error.cause : null;
      if (cause instanceof UpstreamStatusError && cause.pauseSeconds !== null) {
        const { status, pauseSeconds } = cause;
        counts.rateRefusals++;
        budget.closeKey(key, pauseSeconds * 1000);
        log.warn({ key, status, pauseSeconds }, 'the authority refuses polls of feeds for their rate or quota');
      }
      throw error;
    }
  };
}
