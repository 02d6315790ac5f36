import { type Clock, type Deadlines, MINUTE_MS, within, withTimeLimit } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { accountsOf } from '../core/turn-queue.ts';
import { blameOf, outcomeOf, UpstreamStatusError } from '../efa/failure.ts';
import type { CallUpstream, ReceivedResponse } from '../efa/query-upstream.ts';
import { requestKey, type UpstreamRequest } from '../efa/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { upstreamTimeout } from '../errors/messages.ts';
import type { CallGate, Permit } from './breaker.ts';
import type { Budget, CallTicket } from './budget/budget.ts';

/** No retry is made with less time left than this. */
const MIN_CALL_MS = 1000;
/** How long a probe waits for its response. Short, so that requests are retried soon after upstream stops hanging. */
const PROBE_PATIENCE_MS = 3000;
/** How long a refused key is avoided while there are others. */
const REFUSED_KEY_PAUSE_MS = MINUTE_MS;
/** Limits the alarms, because a key can be refused many times a second. */
const ALARM_EVERY_MS = MINUTE_MS;

interface PermittedCall {
  key: number;
  permit: Permit;
}

/** Receives every response, even one that arrives after all requests have given up. */
type KeepResponse = (response: ReceivedResponse<unknown>) => void;

/** Rejects with `BreakerOpenError` or `BudgetExhaustedError` if no call was made, else with the error of the call. */
export type GuardedCall = (
  request: UpstreamRequest,
  ticket: CallTicket,
  keep: KeepResponse,
  abandoned?: AbortSignal,
) => Promise<ReceivedResponse<unknown>>;

/**
 * Makes a call when the breaker and the budget permit it, within the deadline and with at most one retry. Background calls are
 * not retried. `callByKey` has one function for each upstream key.
 */
export function createGuardedCall(options: {
  callByKey: readonly CallUpstream[];
  budget: Budget;
  breaker: CallGate;
  clock: Clock;
  deadlines: Deadlines;
  log: Log<'info' | 'warn' | 'error'>;
}) {
  const { callByKey, budget, breaker, clock, deadlines, log } = options;
  /** Totals since the process began. */
  const counts = {
    /** All calls, retries included. */
    calls: 0,
    retries: 0,
    failures: 0,
    /** Responses with status 401, and with 403 if it is not a rate or quota refusal. */
    keysRefused: 0,
    /** Rate or quota refusals, 403 or 429. */
    rateRefusals: 0,
  };

  /** When each key's refusal was last logged. */
  const alarmedAt = new Map<number, number>();

  const call: GuardedCall = async (request, ticket, keep, abandoned) => {
    const deadline = clock.now() + deadlines.callWithRetryMs;
    const firstAdmission = await admit(request, ticket, abandoned);
    try {
      return await make(firstAdmission, deadline, request, ticket, keep);
    } catch (error) {
      if (!isWorthRetrying(error, ticket, deadline)) throw error;
      if (isKeyRefused(error)) ticket.refusedBy = firstAdmission.key;
      const secondAdmission = await admit(request, ticket, abandoned).catch(() => null);
      if (!secondAdmission) throw error;
      counts.retries++;
      const response = await make(secondAdmission, deadline, request, ticket, keep);
      // Upstream refused the key, not the request.
      if (isKeyRefused(error)) budget.closeKey(firstAdmission.key, REFUSED_KEY_PAUSE_MS);
      return response;
    }
  };

  /**
   * Makes a call to poll a feed, within the budget of all calls. The circuit breaker neither refuses it nor learns from it,
   * because feeds and trip planner fail independently. It is not retried: the next poll is soon enough. Throws
   * `BudgetExhaustedError` or the call's own error.
   */
  async function callForFeed<Result>(
    poll: (key: number) => Promise<Result>,
    priority: 'feed' | 'background' = 'feed',
  ): Promise<Result> {
    const key = await budget.spend({ priority, accounts: [] });
    const startedAt = clock.now();
    counts.calls++;
    try {
      const result = await poll(key);
      budget.recordSuccess(key, startedAt);
      return result;
    } catch (error) {
      counts.failures++;
      closeIfOverRate(error, key, 'upstream refuses feed polls: rate or quota exceeded');
      throw error;
    }
  }

  /** Waits until the call may be made, and selects the key. */
  async function admit(
    request: UpstreamRequest,
    ticket: CallTicket,
    abandoned: AbortSignal | undefined,
  ): Promise<PermittedCall> {
    const origin = {
      request: requestKey(request),
      requesters: accountsOf(ticket).map((account) => `${request.kind} ${account}`),
    };
    const permit = breaker.permit(origin);
    try {
      const key = await budget.spend(ticket, abandoned);
      return { key, permit: ticket.priority === 'background' ? withoutFailures(permit) : permit };
    } catch (error) {
      permit.withdrawn();
      throw error;
    }
  }

  function make(
    { key, permit }: PermittedCall,
    deadline: number,
    request: UpstreamRequest,
    ticket: CallTicket,
    keep: KeepResponse,
  ): Promise<ReceivedResponse<unknown>> {
    const response = attempt();
    if (!permit.isProbe) return response;
    return within(PROBE_PATIENCE_MS, response, () => upstreamTimeout(PROBE_PATIENCE_MS), clock);

    async function attempt(): Promise<ReceivedResponse<unknown>> {
      counts.calls++;
      const startedAt = clock.now();
      const callUpstream = callByKey[key] as CallUpstream;
      try {
        const response = await withTimeLimit(
          deadline - startedAt,
          (signal) => callUpstream(request, { priority: ticket.priority, signal }),
          clock,
        );
        const wasOpen = breaker.isOpen();
        permit.succeeded();
        if (wasOpen && !breaker.isOpen()) log.info({}, 'upstream responds again: circuit breaker closed');
        budget.recordSuccess(key, startedAt);
        keep(response);
        return response;
      } catch (error) {
        report(error, key, permit, ticket);
        throw error;
      }
    }
  }

  function report(error: unknown, key: number, permit: Permit, ticket: CallTicket): void {
    counts.failures++;
    if (closeIfOverRate(error, key, 'upstream refuses calls: rate or quota exceeded')) {
      permit.withdrawn();
      return;
    }
    if (isKeyRefused(error)) {
      const { status } = statusOf(error);
      counts.keysRefused++;
      alarm(key, status, error);
      if (callByKey.length > 1 && ticket.refusedBy === undefined) {
        permit.withdrawn();
        // A 403 may concern the request: then the other key is refused too, and both stay in use.
        if (status === 401) budget.closeKey(key, REFUSED_KEY_PAUSE_MS);
        return;
      }
    }
    const wasOpen = breaker.isOpen();
    permit.failed(blameOf(error));
    if (!wasOpen && breaker.isOpen()) {
      log.warn({ reason: (error as Error).message }, 'upstream fails: circuit breaker opened');
    }
  }

  function alarm(key: number, status: number | null, error: unknown): void {
    const lastAt = alarmedAt.get(key) ?? Number.NEGATIVE_INFINITY;
    const sinceMs = clock.now() - lastAt;
    // The clock may have been set back.
    if (sinceMs >= 0 && sinceMs < ALARM_EVERY_MS) return;
    alarmedAt.set(key, clock.now());
    const { message: reason } = (error as { cause: Error }).cause;
    log.error({ key, status, reason }, 'ALARM: upstream refuses our key, check UPSTREAM_API_KEY');
  }

  /** Closes the key for as long as upstream refuses calls with it. */
  function closeIfOverRate(error: unknown, key: number, message: string): boolean {
    const { status, pauseSeconds } = statusOf(error);
    if (pauseSeconds === null) return false;
    counts.rateRefusals++;
    budget.closeKey(key, pauseSeconds * 1000);
    log.warn({ key, status, pauseSeconds }, message);
    return true;
  }

  function isWorthRetrying(error: unknown, { priority }: CallTicket, deadline: number): boolean {
    if (priority === 'background' || deadline - clock.now() < MIN_CALL_MS) return false;
    const { status, pauseSeconds } = statusOf(error);
    // If the key was refused, another key may work. A probe is retried too: a refused key says nothing about upstream's health.
    if (isKeyRefused(error)) return callByKey.length > 1;
    if (breaker.isOpen()) return false;
    if (pauseSeconds !== null) return callByKey.length > 1;
    return status !== null ? status >= 500 : isConnectionLost(error);
  }

  return { call, callForFeed, counts };
}

/** A failed background check must not open the breaker, which would refuse requests that wait. */
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
