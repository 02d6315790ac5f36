import type { AskAuthority, ReceivedAnswer } from '../efa/ask.ts';
import type { Deadlines } from '../efa/deadlines.ts';
import { UpstreamStatusError } from '../efa/failure.ts';
import type { Question } from '../efa/question.ts';
import { ApiError } from '../errors/api-error.ts';
import { upstreamTimeout } from '../errors/messages.ts';
import type { Breaker, Permit } from './breaker.ts';
import type { Budget } from './budget/budget.ts';
import type { Ticket } from './budget/ticket.ts';
import { type Clock, within } from './clock.ts';

/** Where the upstream layers log. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Counts of calls to the authority since the process began. */
export interface CallCounts {
  /** All calls, retries included. */
  calls: number;
  retries: number;
  failures: number;
  /** Answers with status 401. */
  keysRefused: number;
  /** Refusals for the rate or quota, 403 or 429. */
  rateRefusals: number;
}

/** Is given every answer, also one that arrives after all requests have given up. */
type Keep = (answer: ReceivedAnswer<unknown>) => void;

export type GuardedCall = (question: Question, ticket: Ticket, keep: Keep) => Promise<ReceivedAnswer<unknown>>;

/** A retry is not made with less time left than this. */
const MIN_CALL_MS = 1000;
/** Requests do not wait longer for a probe, so that they ask again soon after a hanging authority is back. */
const PROBE_PATIENCE_MS = 3000;
/** How long a refused key is left aside when there are others. */
const REFUSED_KEY_PAUSE_MS = 60_000;

/**
 * Makes a call with the permission of the breaker and the budget, within the deadline, with at most one retry. A
 * background call is not retried. `asks` has one `ask` for each upstream key.
 */
export function createGuardedCall(options: {
  asks: readonly AskAuthority[];
  budget: Budget;
  breaker: Breaker;
  clock: Clock;
  deadlines: Deadlines;
  log: Log;
}): { call: GuardedCall; counts: CallCounts } {
  const { asks, budget, breaker, clock, deadlines, log } = options;
  const counts: CallCounts = { calls: 0, retries: 0, failures: 0, keysRefused: 0, rateRefusals: 0 };

  async function call(question: Question, ticket: Ticket, keep: Keep): Promise<ReceivedAnswer<unknown>> {
    const deadline = clock.now() + deadlines.callWithRetryMs;
    for (let isRetry = false; ; isRetry = true) {
      const permit = breaker.permit();
      const key = await budget.take(ticket).catch((error) => {
        permit.withdrawn();
        throw error;
      });
      counts.calls++;
      if (isRetry) counts.retries++;
      try {
        const weighted = ticket.priority === 'background' ? withoutFailures(permit) : permit;
        const answer = attempt(question, ticket, key, weighted, deadline, keep);
        return await (permit.isProbe ? within(clock, PROBE_PATIENCE_MS, answer, giveUpProbe) : answer);
      } catch (error) {
        const isOver = isRetry || permit.isProbe || deadline - clock.now() < MIN_CALL_MS;
        if (isOver || ticket.priority === 'background' || !isWorthRetrying(error)) throw error;
      }
    }
  }

  async function attempt(
    question: Question,
    { priority, purpose }: Ticket,
    key: number,
    permit: Permit,
    deadline: number,
    keep: Keep,
  ): Promise<ReceivedAnswer<unknown>> {
    const startedAt = clock.now();
    const timeout = new AbortController();
    const cancel = clock.after(deadline - clock.now(), () => timeout.abort(new DOMException('', 'TimeoutError')));
    try {
      const answer = await (asks[key] as AskAuthority)(question, { priority, purpose, signal: timeout.signal });
      permit.succeeded();
      budget.noteSuccess(key, startedAt);
      keep(answer);
      return answer;
    } catch (error) {
      report(error, key, permit);
      throw error;
    } finally {
      cancel();
    }
  }

  function report(error: unknown, key: number, permit: Permit): void {
    counts.failures++;
    const { status, pauseSeconds } = statusOf(error);
    if (pauseSeconds !== null) {
      permit.withdrawn();
      budget.closeKey(key, pauseSeconds * 1000);
      counts.rateRefusals++;
      log.warn({ key, status, pauseSeconds }, 'the authority refuses calls for its rate or quota');
      return;
    }
    if (status === 401) {
      counts.keysRefused++;
      log.error({ key, err: (error as Error).cause }, 'ALARM: the authority refuses our key, check UPSTREAM_API_KEY');
      if (asks.length > 1) {
        permit.withdrawn();
        budget.closeKey(key, REFUSED_KEY_PAUSE_MS);
        return;
      }
    }
    const wasOpen = breaker.isOpen();
    permit.failed();
    if (!wasOpen && breaker.isOpen()) log.warn({ err: error }, 'the authority fails: the circuit breaker is open');
  }

  /** A refusal of the key is worth a retry when there is another key. */
  function isWorthRetrying(error: unknown): boolean {
    const { status, pauseSeconds } = statusOf(error);
    if (pauseSeconds !== null || status === 401) return asks.length > 1;
    return status !== null ? status >= 500 : isConnectionLost(error);
  }

  return { call, counts };
}

/** The failure of a background check does not open the breaker, because it would refuse requests that wait. */
function withoutFailures(permit: Permit): Permit {
  return permit.isProbe ? permit : { ...permit, failed: permit.withdrawn };
}

function statusOf(error: unknown): { status: number | null; pauseSeconds: number | null } {
  const cause = error instanceof ApiError ? error.cause : null;
  return cause instanceof UpstreamStatusError ? cause : { status: null, pauseSeconds: null };
}

const LOST = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

function isConnectionLost(error: unknown): boolean {
  const cause = error instanceof ApiError ? (error.cause as { code?: unknown } | undefined) : undefined;
  return LOST.includes(String(cause?.code));
}

function giveUpProbe(): never {
  throw upstreamTimeout(PROBE_PATIENCE_MS);
}
