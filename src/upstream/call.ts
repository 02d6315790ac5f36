import type { EfaAnswer, EfaClient } from '../efa/client.ts';
import { UpstreamStatusError } from '../efa/failure.ts';
import { ApiError } from '../errors.ts';
import type { Admission, Breaker } from './breaker.ts';
import type { Budget, Ticket } from './budget.ts';
import { type Clock, within } from './clock.ts';
import type { Counts } from './counts.ts';
import type { Question } from './question-key.ts';

/** What the layers tell an operator. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export type Caller = (
  asked: Question,
  ticket: Ticket,
  /** Also called when the answer comes after everybody has given up. */
  keep: (answer: EfaAnswer<unknown>) => void,
) => Promise<EfaAnswer<unknown>>;

/** A call and all that comes before it, retry included, take no longer. */
const DEADLINE_MS = 9000;
/** Less is not worth a retry. */
const MIN_CALL_MS = 1000;
/** A probe of a hanging upstream must not keep those who wait for it from asking again when it is back. */
const PROBE_PATIENCE_MS = 3000;
/** How long a key that was refused is not used while there are others. */
const REFUSED_KEY_PAUSE_MS = 60_000;

/** Makes one call within the budget: breaker, line, deadline, at most one retry. `clients` are one for each key. */
export function createCaller(options: {
  clients: readonly EfaClient[];
  budget: Budget;
  breaker: Breaker;
  clock: Clock;
  counts: Counts;
  log: Log;
}): Caller {
  const { clients, budget, breaker, clock, counts, log } = options;

  return async function call(asked, ticket, keep) {
    const deadline = clock.now() + DEADLINE_MS;
    for (let isRetry = false; ; isRetry = true) {
      const admission = breaker.admit();
      const key = await budget.take(ticket).catch((error) => {
        admission.withdrawn();
        throw error;
      });
      counts.calls++;
      if (isRetry) counts.retries++;
      try {
        const answer = attempt(
          asked,
          key,
          ticket.priority === 'background' ? ofNoWeight(admission) : admission,
          deadline,
          keep,
        );
        return await (admission.isProbe ? within(clock, PROBE_PATIENCE_MS, answer, giveUpProbe) : answer);
      } catch (error) {
        if (isRetry || admission.isProbe || !isWorthRetrying(error) || deadline - clock.now() < MIN_CALL_MS)
          throw error;
      }
    }
  };

  async function attempt(
    asked: Question,
    key: number,
    admission: Admission,
    deadline: number,
    keep: (answer: EfaAnswer<unknown>) => void,
  ): Promise<EfaAnswer<unknown>> {
    const timeout = new AbortController();
    const cancel = clock.after(deadline - clock.now(), () => timeout.abort(new DOMException('', 'TimeoutError')));
    try {
      const answer = await askClient(clients[key] as EfaClient, asked, timeout.signal);
      admission.succeeded();
      keep(answer);
      return answer;
    } catch (error) {
      tell(error, key, admission);
      throw error;
    } finally {
      cancel();
    }
  }

  function tell(error: unknown, key: number, admission: Admission): void {
    counts.failures++;
    const { status, pauseSeconds } = statusOf(error);
    if (pauseSeconds !== null) {
      admission.withdrawn();
      budget.pauseKey(key, pauseSeconds * 1000);
      counts.tapsClosed++;
      log.warn({ key, status, pauseSeconds }, 'the authority wants to be left alone');
      return;
    }
    if (status === 401) {
      counts.keysRefused++;
      log.error({ key, err: (error as Error).cause }, 'ALARM: the authority refuses our key, check UPSTREAM_API_KEY');
      if (clients.length > 1) {
        admission.withdrawn();
        budget.pauseKey(key, REFUSED_KEY_PAUSE_MS);
        return;
      }
    }
    const wasOpen = breaker.isOpen();
    admission.failed();
    if (!wasOpen && breaker.isOpen()) log.warn({ err: error }, 'upstream fails: left alone but for probes');
  }

  /** With several keys, another one may be welcome where this one was not. */
  function isWorthRetrying(error: unknown): boolean {
    const { status, pauseSeconds } = statusOf(error);
    if (pauseSeconds !== null || status === 401) return clients.length > 1;
    return status !== null ? status >= 500 : isConnectionLost(error);
  }
}

/** Checks that nobody waits for must not close upstream to those who do; what they achieve counts. */
function ofNoWeight(admission: Admission): Admission {
  return admission.isProbe ? admission : { ...admission, failed: admission.withdrawn };
}

function askClient(client: EfaClient, asked: Question, signal: AbortSignal): Promise<EfaAnswer<unknown>> {
  switch (asked.kind) {
    case 'departureMonitor':
      return client.departureMonitor(asked, { signal });
    case 'coordSearch':
      return client.coordSearch(asked, { signal });
    case 'stopFinder':
      return client.stopFinder(asked, { signal });
    case 'tripPlan':
      return client.tripPlan(asked, { signal });
  }
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
  throw new ApiError(
    'UPSTREAM_TIMEOUT',
    `The transport authority did not answer within ${PROBE_PATIENCE_MS / 1000} seconds.`,
  );
}
