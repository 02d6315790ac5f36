import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.ts';
import { tooManyUnderWay } from '../errors/messages.ts';
import type { Admission, Charge } from './account.ts';
import { invalidKey } from './credential.ts';
import { quotaDay } from './day.ts';
import type { ApiKey } from './keys.ts';
import { PLANS } from './plan.ts';
import type { ProcessLimits } from './process-limits.ts';
import type { Quota } from './quota.ts';
import { limitExceeded } from './rate-limit.ts';
import type { SharedKeys } from './shared-keys.ts';

/** How a response affects its own price. */
export interface Outcome {
  /** Nothing is charged: the route is free, or the caller already has the response and it came from the cache. */
  isFree: boolean;
  /** How many of the charged parts failed; null means all for statuses from 500, else none. */
  failedParts: number | null;
  /** Charged parts whose work never began, because the request was refused first. */
  unbegunParts: number;
}

export function refusedKey(quota: Quota, key: ApiKey): ApiError {
  return invalidKey(quota.isRevoked(key) ? 'revoked' : 'unknown');
}

/** Charges requests: one at first, more for a higher cost, again for a stream, with a refund for what failed. */
export function createCharges(options: {
  quota: Quota;
  limits: ProcessLimits;
  sharedKeys: SharedKeys;
  onCounted: readonly ((admission: Admission) => void)[];
  now: () => number;
}) {
  const { quota, limits, sharedKeys, onCounted, now } = options;

  function refund(admission: Admission): Promise<Admission> {
    limits.countInFlight(admission.caller, -admission.count);
    return quota.refund(admission);
  }

  /** Builds the 429 for a request costing `needed` when fewer remain; retryable while others are in flight. */
  function refusalOf(admission: Admission, needed: number): ApiError {
    const { title, dailyLimit } = PLANS[admission.caller.plan];
    const inFlight = admission.refusedBy ? 0 : limits.inFlightOf(admission.caller);
    if (inFlight > 0) return tooManyUnderWay(title, dailyLimit ?? 0, inFlight);
    return limitExceeded(admission, needed, now());
  }

  /** Charges more for a request that was already admitted. */
  async function admitMore(request: FastifyRequest, charge: Charge): Promise<Admission> {
    const key = request.keyInUse as ApiKey;
    sharedKeys.expectUnexpired(request);
    const admission = await quota.admit(key, charge);
    if (!admission) throw refusedKey(quota, key);
    sharedKeys.recordRefusal(request, admission);
    return admission;
  }

  return {
    /** Records the first admission. Returns the reason for a refusal, or undefined. */
    record(request: FastifyRequest, admission: Admission | null): ApiError | undefined {
      if (!admission) return refusedKey(quota, request.keyInUse as ApiKey);
      request.admission = admission;
      sharedKeys.recordRefusal(request, admission);
      if (admission.kind === 'exhausted') return refusalOf(admission, 1);
      limits.countInFlight(admission.caller, admission.count);
      for (const notify of onCounted) notify(admission);
      return undefined;
    },

    async chargeMore(request: FastifyRequest, count: number): Promise<void> {
      const first = request.admission;
      if (!first || count === 0) return;
      // Uses the hour and day of the first charge: both are refunded together.
      const furtherAdmission = await admitMore(request, { count, day: first.day, allowances: first.allowances });
      if (furtherAdmission.kind === 'exhausted') {
        const { used, refusedBy, allowances } = furtherAdmission;
        request.admission = await refund({ ...first, used });
        throw refusalOf({ ...request.admission, refusedBy, allowances }, first.count + count);
      }
      limits.countInFlight(furtherAdmission.caller, furtherAdmission.count);
      for (const notify of onCounted) notify(furtherAdmission);
      request.admission = { ...furtherAdmission, count: first.count + count };
    },

    async chargeAgain(request: FastifyRequest, count: number): Promise<void> {
      const charge = { count, day: quotaDay(now()), allowances: sharedKeys.allowancesOf(request) };
      const admission = await admitMore(request, charge);
      if (admission.kind !== 'admitted') throw refusalOf(admission, count);
      for (const notify of onCounted) notify(admission);
    },

    /** Refunds the parts of the charge that the response marks as free. Calls `done` with the resulting admission. */
    refundByOutcome(
      { outcome: { isFree, failedParts, unbegunParts }, raw: { socket } }: FastifyRequest,
      { statusCode }: FastifyReply,
      admission: Admission,
      done: (admission: Admission) => void,
    ): void {
      const { caller, count } = admission;
      const failed = Math.min(count, failedParts ?? (statusCode >= 500 ? count : 0));
      // A 503 is always refunded. Other failures are not refunded to a caller who has hung up.
      const refundable = () => (socket.destroyed ? 0 : limits.refund(caller, failed));
      const free = isFree ? count : statusCode === 503 ? failed : unbegunParts || refundable();
      limits.countInFlight(caller, free - count);
      const finish = ({ kind, used, allowances }: Admission) =>
        done({ ...admission, kind: free === count ? kind : admission.kind, used, allowances });
      if (free === 0) done(admission);
      else refund({ ...admission, count: free }).then(finish, () => finish(admission));
    },
  };
}
