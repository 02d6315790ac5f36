import { type Clock, MINUTE_MS, within } from '../clock.ts';
import type { AskAuthority, ReceivedResponse } from '../efa/ask.ts';
import { blameOf, outcomeOf, UpstreamStatusError } from '../efa/failure.ts';
import { requestKey, type UpstreamRequest } from '../efa/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { upstreamTimeout } from '../errors/messages.ts';
import type { Deadlines } from '../time-limit.ts';
import type { Breaker, Permit } from './breaker.ts';
import type { Budget } from './budget/budget.ts';
import { accountsOf, type Ticket } from './budget/ticket.ts';

/** Where the upstream layers log. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Counts of calls to upstream since the process began. */
export interface CallCounts {
  /** All calls, retries included. */
  calls: number;
  retries: number;
  failures: number;
  /** Responses with status 401, and those with 403 that are no refusals for the rate or quota. */
  keysRefused: number;
  /** Refusals for the rate or quota, 403 or 429. */
  rateRefusals: number;
}

/** Is given every response, also one that arrives after all requests have given up. */
type Keep = (response: ReceivedResponse<unknown>) => void;

/** A call that may be made now, with one of our keys. */
interface Admitted {
  key: number;
  permit: Permit;
}

export type GuardedCall = (request: UpstreamRequest, ticket: Ticket, keep: Keep) => Promise<ReceivedResponse<unknown>>;

/** A retry is not made with less time left than this. */
const MIN_CALL_MS = 1000;
/** Requests do not wait longer for a probe, so that they ask again soon after a hanging authority is back. */
const PROBE_PATIENCE_MS = 3000;
/** How long a refused key is left aside when there are others. */
const REFUSED_KEY_PAUSE_MS = MINUTE_MS;

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

  async function call(request: UpstreamRequest, ticket: Ticket, keep: Keep): Promise<ReceivedResponse<unknown>> {
    const deadline = clock.now() + deadlines.callWithRetryMs;
    const first = await admit(request, ticket);
    try {
      return await make(first, request, ticket, deadline, keep);
    } catch (error) {
      if (!isWorthRetrying(error, ticket, deadline)) throw error;
      if (isKeyRefused(error)) ticket.refusedBy = first.key;
      const second = await admit(request, ticket).catch(() => null);
      if (!second) throw error;
      counts.retries++;
      const response = await make(second, request, ticket, deadline, keep);
      // It was the key that upstream refused, and not the request.
      if (isKeyRefused(error)) budget.closeKey(first.key, REFUSED_KEY_PAUSE_MS);
      return response;
    }
  }

  async function admit(request: UpstreamRequest, ticket: Ticket): Promise<Admitted> {
    const origin = {
      request: requestKey(request),
      askers: accountsOf(ticket).map((one) => `${request.kind} ${one}`),
    };
    const permit = breaker.permit(origin);
    try {
      const key = await budget.take(ticket);
      return { key, permit: ticket.priority === 'background' ? withoutFailures(permit) : permit };
    } catch (error) {
      permit.withdrawn();
      throw error;
    }
  }

  function make(admitted: Admitted, request: UpstreamRequest, ticket: Ticket, deadline: number, keep: Keep) {
    const response = attempt(request, ticket, admitted, deadline, keep);
    return admitted.permit.isProbe ? within(clock, PROBE_PATIENCE_MS, response, giveUpProbe) : response;
  }

  async function attempt(
    request: UpstreamRequest,
    ticket: Ticket,
    { key, permit }: Admitted,
    deadline: number,
    keep: Keep,
  ): Promise<ReceivedResponse<unknown>> {
    counts.calls++;
    const { priority, purpose } = ticket;
    const startedAt = clock.now();
    const timeout = new AbortController();
    const cancel = clock.after(deadline - clock.now(), () => timeout.abort(new DOMException('', 'TimeoutError')));
    try {
      const response = await (asks[key] as AskAuthority)(request, { priority, purpose, signal: timeout.signal });
      permit.succeeded();
      budget.noteSuccess(key, startedAt);
      keep(response);
      return response;
    } catch (error) {
      report(error, key, permit, ticket);
      throw error;
    } finally {
      cancel();
    }
  }

  function report(error: unknown, key: number, permit: Permit, ticket: Ticket): void {
    counts.failures++;
    const { status, pauseSeconds } = statusOf(error);
    if (pauseSeconds !== null) {
      permit.withdrawn();
      budget.closeKey(key, pauseSeconds * 1000);
      counts.rateRefusals++;
      log.warn({ key, status, pauseSeconds }, 'the authority refuses calls for its rate or quota');
      return;
    }
    if (isKeyRefused(error)) {
      counts.keysRefused++;
      log.error(
        { key, status, err: (error as Error).cause },
        'ALARM: the authority refuses our key, check UPSTREAM_API_KEY',
      );
      if (asks.length > 1 && ticket.refusedBy === undefined) {
        permit.withdrawn();
        // A 403 can be about the request: then the other key is refused too, and both stay in use.
        if (status === 401) budget.closeKey(key, REFUSED_KEY_PAUSE_MS);
        return;
      }
    }
    const wasOpen = breaker.isOpen();
    permit.failed(blameOf(error));
    if (!wasOpen && breaker.isOpen()) log.warn({ err: error }, 'the authority fails: the circuit breaker is open');
  }

  function isWorthRetrying(error: unknown, { priority }: Ticket, deadline: number): boolean {
    if (priority === 'background' || deadline - clock.now() < MIN_CALL_MS) return false;
    const { status, pauseSeconds } = statusOf(error);
    // A refusal of the key is worth a retry when there is another key, also of a probe, which has found out nothing else.
    if (isKeyRefused(error)) return asks.length > 1;
    if (breaker.isOpen()) return false;
    if (pauseSeconds !== null) return asks.length > 1;
    return status !== null ? status >= 500 : isConnectionLost(error);
  }

  return { call, counts };
}

/** The failure of a background check does not open the breaker, because it would refuse requests that wait. */
function withoutFailures(permit: Permit): Permit {
  return permit.isProbe ? permit : { ...permit, failed: permit.withdrawn };
}

function isKeyRefused(error: unknown): boolean {
  return outcomeOf(error) === 'key-refused';
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
