import type { Ask, EfaAnswer } from '../efa/ask.ts';
import type { Deadlines } from '../efa/deadlines.ts';
import { UpstreamStatusError } from '../efa/failure.ts';
import type { Question } from '../efa/question.ts';
import { upstreamTimeout } from '../error-messages.ts';
import { ApiError } from '../errors.ts';
import type { Breaker, Permit } from './breaker.ts';
import type { Budget, Ticket } from './budget.ts';
import { type Clock, within } from './clock.ts';

/** The log of the layers. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Calls of the authority since the process began. */
export interface CallCounts {
  /** Retries among them. */
  calls: number;
  retries: number;
  failures: number;
  /** Answers with status 401. */
  keysRefused: number;
  /** Refusals for the rate or quota, 403 or 429. */
  rateRefusals: number;
}

/** Takes an answer also when it arrives after every request has given up. */
type Keep = (answer: EfaAnswer<unknown>) => void;

export type GuardedCall = (question: Question, ticket: Ticket, keep: Keep) => Promise<EfaAnswer<unknown>>;

/** With less time left a retry is not worth it. */
const MIN_CALL_MS = 1000;
/** Short, so that requests waiting for a probe of a hanging authority ask again soon after it is back. */
const PROBE_PATIENCE_MS = 3000;
/** How long a key that was refused is not used while there are others. */
const REFUSED_KEY_PAUSE_MS = 60_000;

/** Makes one call within the budget: breaker, line, deadline, at most one retry. `asks` are one for each key. */
export function createGuardedCall(options: {
  asks: readonly Ask[];
  budget: Budget;
  breaker: Breaker;
  clock: Clock;
  deadlines: Deadlines;
  log: Log;
}): { call: GuardedCall; counts: CallCounts } {
  const { asks, budget, breaker, clock, deadlines, log } = options;
  const counts: CallCounts = { calls: 0, retries: 0, failures: 0, keysRefused: 0, rateRefusals: 0 };

  async function call(question: Question, ticket: Ticket, keep: Keep): Promise<EfaAnswer<unknown>> {
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
        if (isOver || !isWorthRetrying(error)) throw error;
      }
    }
  }

  async function attempt(
    question: Question,
    ticket: Ticket,
    key: number,
    permit: Permit,
    deadline: number,
    keep: Keep,
  ): Promise<EfaAnswer<unknown>> {
    const timeout = new AbortController();
    const cancel = clock.after(deadline - clock.now(), () => timeout.abort(new DOMException('', 'TimeoutError')));
    try {
      const answer = await (asks[key] as Ask)(question, { ...ticket, signal: timeout.signal });
      permit.succeeded();
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
      budget.pauseKey(key, pauseSeconds * 1000);
      counts.rateRefusals++;
      log.warn({ key, status, pauseSeconds }, 'the authority refuses calls for its rate or quota');
      return;
    }
    if (status === 401) {
      counts.keysRefused++;
      log.error({ key, err: (error as Error).cause }, 'ALARM: the authority refuses our key, check UPSTREAM_API_KEY');
      if (asks.length > 1) {
        permit.withdrawn();
        budget.pauseKey(key, REFUSED_KEY_PAUSE_MS);
        return;
      }
    }
    const wasOpen = breaker.isOpen();
    permit.failed();
    if (!wasOpen && breaker.isOpen()) log.warn({ err: error }, 'the authority fails: the circuit breaker is open');
  }

  /** With several keys, another key may be accepted where this one was refused. */
  function isWorthRetrying(error: unknown): boolean {
    const { status, pauseSeconds } = statusOf(error);
    if (pauseSeconds !== null || status === 401) return asks.length > 1;
    return status !== null ? status >= 500 : isConnectionLost(error);
  }

  return { call, counts };
}

/** A failed background check must not open the breaker for requests that wait; a success closes it all the same. */
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
