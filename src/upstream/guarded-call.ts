import { type Clock, type Deadlines, MINUTE_MS, within, withTimeLimit } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { AskAuthority, ReceivedResponse } from '../efa/ask.ts';
import { blameOf, outcomeOf, UpstreamStatusError } from '../efa/failure.ts';
import { requestKey, type UpstreamRequest } from '../efa/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { upstreamTimeout } from '../errors/messages.ts';
import type { Breaker, Permit } from './breaker.ts';
import type { Budget } from './budget/budget.ts';
import { accountsOf, type Ticket } from './budget/call-queue.ts';

/** A retry is not made with less time left than this. */
const MIN_CALL_MS = 1000;
/** Requests do not wait longer for a probe, so that they ask again soon after a hanging authority is back. */
const PROBE_PATIENCE_MS = 3000;
/** How long a refused key is left aside when there are others. */
const REFUSED_KEY_PAUSE_MS = MINUTE_MS;
/** A key can be refused many times a second. */
const ALARM_EVERY_MS = MINUTE_MS;

/**
 * Makes a call with the permission of the breaker and the budget, within the deadline, with at most one retry. A
 * background call is not retried. `asks` has one `ask` for each upstream key.
 */
export function createGuardedCall(options: {
  asks: readonly AskAuthority[];
  budget: Budget;
  breaker: Pick<Breaker, 'permit' | 'isOpen'>;
  clock: Clock;
  deadlines: Deadlines;
  log: Log<'info' | 'warn' | 'error'>;
}) {
  const { asks, budget, breaker, clock, deadlines, log } = options;
  /** Since the process began. */
  const counts = {
    /** All calls, retries included. */
    calls: 0,
    retries: 0,
    failures: 0,
    /** Responses with status 401, and those with 403 that are no refusals for the rate or quota. */
    keysRefused: 0,
    /** Refusals for the rate or quota, 403 or 429. */
    rateRefusals: 0,
  };

  /** When the refusal of each key was last logged. */
  const alarmedAt = new Map<number, number>();

  /** `keep` is given every response, also one that arrives after all requests have given up. */
  async function call(
    request: UpstreamRequest,
    ticket: Ticket,
    keep: (response: ReceivedResponse<unknown>) => void,
  ): Promise<ReceivedResponse<unknown>> {
    const deadline = clock.now() + deadlines.callWithRetryMs;
    const first = await admit(request, ticket);
    try {
      return await make(first, deadline, request, ticket, keep);
    } catch (error) {
      if (!isWorthRetrying(error, ticket, deadline)) throw error;
      if (isKeyRefused(error)) ticket.refusedBy = first.key;
      const second = await admit(request, ticket).catch(() => null);
      if (!second) throw error;
      counts.retries++;
      const response = await make(second, deadline, request, ticket, keep);
      // It was the key that upstream refused, and not the request.
      if (isKeyRefused(error)) budget.closeKey(first.key, REFUSED_KEY_PAUSE_MS);
      return response;
    }
  }

  /**
   * Makes a call for the poll of a feed, with one of our keys. It takes from the budget of all calls and counts among them.
   * The circuit breaker neither refuses it nor learns from it, because feeds and trip planner fail separately. It is not
   * retried: the next poll is soon enough. Throws `BudgetExhaustedError`, else what the call throws.
   */
  async function callForFeed<Result>(
    poll: (key: number) => Promise<Result>,
    priority: 'feed' | 'background' = 'feed',
  ): Promise<Result> {
    const key = await budget.take({ priority, accounts: [] });
    const startedAt = clock.now();
    counts.calls++;
    try {
      const result = await poll(key);
      budget.noteSuccess(key, startedAt);
      return result;
    } catch (error) {
      counts.failures++;
      closeIfOverRate(error, key, 'the authority refuses polls of feeds for their rate or quota');
      throw error;
    }
  }

  /** Waits until the call may be made, with one of our keys. */
  async function admit(request: UpstreamRequest, ticket: Ticket) {
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

  function make(
    { key, permit }: Awaited<ReturnType<typeof admit>>,
    deadline: number,
    ...[request, ticket, keep]: Parameters<typeof call>
  ): Promise<ReceivedResponse<unknown>> {
    const response = attempt();
    if (!permit.isProbe) return response;
    return within(PROBE_PATIENCE_MS, response, () => upstreamTimeout(PROBE_PATIENCE_MS), { after: clock.after });

    async function attempt(): Promise<ReceivedResponse<unknown>> {
      counts.calls++;
      const { priority } = ticket;
      const startedAt = clock.now();
      const ask = asks[key] as AskAuthority;
      try {
        const response = await withTimeLimit(deadline - startedAt, (signal) => ask(request, { priority, signal }), {
          after: clock.after,
        });
        const wasOpen = breaker.isOpen();
        permit.succeeded();
        if (wasOpen && !breaker.isOpen()) log.info({}, 'the authority answers again: the circuit breaker is closed');
        budget.noteSuccess(key, startedAt);
        keep(response);
        return response;
      } catch (error) {
        report(error, key, permit, ticket);
        throw error;
      }
    }
  }

  function report(error: unknown, key: number, permit: Permit, ticket: Ticket): void {
    counts.failures++;
    if (closeIfOverRate(error, key, 'the authority refuses calls for its rate or quota')) {
      permit.withdrawn();
      return;
    }
    if (isKeyRefused(error)) {
      const { status } = statusOf(error);
      counts.keysRefused++;
      alarm(key, status, error);
      if (asks.length > 1 && ticket.refusedBy === undefined) {
        permit.withdrawn();
        // A 403 can be about the request: then the other key is refused too, and both stay in use.
        if (status === 401) budget.closeKey(key, REFUSED_KEY_PAUSE_MS);
        return;
      }
    }
    const wasOpen = breaker.isOpen();
    permit.failed(blameOf(error));
    if (!wasOpen && breaker.isOpen()) {
      log.warn({ reason: (error as Error).message }, 'the authority fails: the circuit breaker is open');
    }
  }

  function alarm(key: number, status: number | null, error: unknown): void {
    const lastAt = alarmedAt.get(key) ?? Number.NEGATIVE_INFINITY;
    const sinceMs = clock.now() - lastAt;
    // The clock may be set back.
    if (sinceMs >= 0 && sinceMs < ALARM_EVERY_MS) return;
    alarmedAt.set(key, clock.now());
    const { message: reason } = (error as { cause: Error }).cause;
    log.error({ key, status, reason }, 'ALARM: the authority refuses our key, check UPSTREAM_API_KEY');
  }

  /** Leaves the key aside for as long as upstream wants no calls with it. */
  function closeIfOverRate(error: unknown, key: number, message: string): boolean {
    const { status, pauseSeconds } = statusOf(error);
    if (pauseSeconds === null) return false;
    counts.rateRefusals++;
    budget.closeKey(key, pauseSeconds * 1000);
    log.warn({ key, status, pauseSeconds }, message);
    return true;
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

  return { call, callForFeed, counts };
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
