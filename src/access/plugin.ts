import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { withOneReading } from '../core/clock.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Admission, Caller } from './account.ts';
import { createCharges, type Outcome, refusedKey } from './charges.ts';
import { createKeyReader } from './credential.ts';
import type { Grant } from './grant.ts';
import type { ApiKey } from './keys.ts';
import type { KnownCaller } from './known-keys.ts';
import { type BurstLimits, DEFAULT_BURST_LIMITS } from './limits/burst-limits.ts';
import { createProcessLimits } from './process-limits.ts';
import { Quota } from './quota.ts';
import { keyEndHeaders, rateLimitHeaders } from './rate-limit.ts';
import type { Restrictions } from './restrictions.ts';
import { createSharedKeys } from './shared-keys.ts';
import type { SignedKeys } from './signed-keys.ts';
import type { QuotaStore } from './store.ts';

export interface AccessOptions {
  store: QuotaStore;
  /** Whether `tis_test_` keys are accepted: only in the sandbox. */
  acceptsTestKeys: boolean;
  /** The suspensions; default none. */
  restrictions?: Restrictions | null;
  /** Short-term limits of accounts; defaults to the plans' limits. */
  burstLimits?: BurstLimits;
  /** Reads wall links and tokens; without it, neither is accepted. */
  signedKeys?: SignedKeys;
  /** The origin of the service's own pages, which may use secret keys. */
  ownOrigin?: string;
  /** Every listener is called for each charged request. */
  onCounted?: readonly ((admission: Admission) => void)[];
  /** The clock for quota days, the same for all instances; defaults to the system clock. */
  now?: () => number;
}

/** Why a request is refused; undefined if it is admitted. */
type Refusal = ApiError | undefined;

/** Holds the request's `outcome`, which is created on first use. */
const OUTCOME = Symbol('outcome');

// Values that a request gets later are not decorated: Fastify would set each of them on every request.
declare module 'fastify' {
  interface FastifyRequest {
    /** How the request was admitted; missing if no key is needed, or before it is checked. */
    admission?: Admission;
    /** The grant of the request's publishable key or token, and the visitor; missing for other keys. */
    granted?: { grant: Grant; visitor: string };
    /** The key that was sent, or that is behind a wall link or token; missing before it is read. */
    keyInUse?: ApiKey;
    /** How the response affects its price. */
    outcome: Outcome;
    [OUTCOME]?: Outcome;
    /**
     * Charges `count` more requests, all or none. If fewer are left, throws `DAILY_LIMIT_EXCEEDED` and the request is
     * not charged at all.
     */
    chargeMore(count: number): Promise<void>;
    /** Charges `count` more requests of today for a stream. Throws the same errors as the key check. */
    chargeAgain(count: number): Promise<void>;
    /** Throws if the key or token has ended or the account was suspended. Charges nothing. */
    checkAgain(): Promise<void>;
  }
}

/**
 * Checks the key and charges the request in one `preHandler` for every route in the same scope. This runs before a body
 * is read and the query is validated, so a request without a valid key learns nothing, and an invalid query is charged
 * like any other.
 */
export const access = fp(
  async (app: FastifyInstance, options: AccessOptions & { now: () => number }) => {
    const { store, onCounted = [], restrictions = null, burstLimits = DEFAULT_BURST_LIMITS } = options;
    const now = withOneReading(options.now);
    const quota = new Quota({ store, now, log: app.log });
    const limits = createProcessLimits({ burstLimits, now });
    const sharedKeys = createSharedKeys({ ...options, quota, now });
    const charges = createCharges({ quota, limits, sharedKeys, onCounted, now });
    const parseKey = createKeyReader(options);
    app.decorateRequest('outcome', {
      getter() {
        this[OUTCOME] ??= { isFree: false, failedParts: null, unbegunParts: 0 };
        return this[OUTCOME];
      },
    });
    app.decorateRequest('chargeMore', function chargeMore(this: FastifyRequest, count) {
      return charges.chargeMore(this, count);
    });
    app.decorateRequest('chargeAgain', async function chargeAgain(this: FastifyRequest, count) {
      refuseRestricted(this.admission);
      await charges.chargeAgain(this, count);
    });
    app.decorateRequest('checkAgain', async function checkAgain(this: FastifyRequest) {
      refuseRestricted(this.admission);
      sharedKeys.expectUnexpired(this);
      const key = this.keyInUse as ApiKey;
      if (!(await quota.get(key))) throw refusedKey(quota, key);
    });

    // Hooks use callbacks, so that requests that need no waiting are served without promises.
    app.addHook('preHandler', function checkKey(request, _reply, done) {
      const key = parseKey(request);
      request.keyInUse = key;
      const caller = quota.callerOf(key);
      const refusal = canUse(key, caller)
        ? admit(request, key, caller)
        : quota.get(key).then((loaded) => (canUse(key, loaded) ? admit(request, key, loaded) : refusedKey(quota, key)));
      if (refusal instanceof Promise) refusal.then(done, done);
      else done(refusal);
    });

    /** Charges the request if its grant and the limits allow it. Returns the reason for a refusal, if any. */
    function admit(request: FastifyRequest, key: ApiKey, caller: KnownCaller): Refusal | Promise<Refusal> {
      const refusal = sharedKeys.enter(request, key, caller) ?? throttle(request, caller);
      if (refusal) return refusal;
      const admission = quota.admit(key, { allowances: sharedKeys.allowancesOf(request) }, caller);
      if (!(admission instanceof Promise)) return charges.record(request, admission);
      return admission.then((admitted) => charges.record(request, admitted));
    }

    /** Returns the error of a process limit that refuses the request; null if none does. */
    function throttle(request: FastifyRequest, caller: Caller): ApiError | null {
      const refusal = restrictions?.ofCaller(caller) ?? limits.refusalOf(caller, request.granted?.visitor);
      if (refusal) request.admission = quota.throttled(caller);
      if (refusal) sharedKeys.recordThrottled(request, refusal);
      return refusal;
    }

    function refuseRestricted(admission: Admission | undefined): void {
      const refusal = admission && restrictions?.ofCaller(admission.caller);
      if (refusal) throw refusal;
    }

    // Without a key, no body is read: routes that need one read it after the key check (`parseJsonBody`).
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

    app.addHook('onError', (request, _reply, error, done) => {
      const { outcome, admission } = request;
      if (error instanceof ApiError) {
        if (error.failedParts !== undefined) outcome.failedParts = error.failedParts;
        if (error.isUnbegun && admission?.kind === 'admitted') outcome.unbegunParts = admission.count - 1;
      }
      done();
    });

    app.addHook('onSend', (request, reply, _payload, done) => {
      const { admission } = request;
      sharedKeys.writeHeaders(request, reply);
      if (!admission) return done();
      const finish = (final: Admission) => {
        request.admission = final;
        const { ending } = final.caller;
        reply.headers(rateLimitHeaders(final, now()));
        if (ending) reply.headers(keyEndHeaders(ending));
        done();
      };
      if (admission.kind === 'admitted') charges.refundByOutcome(request, reply, admission, finish);
      else finish(admission);
    });

    app.addHook('onClose', () => quota.close());
  },
  { name: 'access', dependencies: ['error-handler', 'paths'] },
);

/** Whether the key's account is known, and for a publishable key also its grant, without which it would be a secret key. */
function canUse(key: ApiKey, caller: KnownCaller | null): caller is KnownCaller {
  return caller !== null && (key.kind !== 'pub' || caller.grant !== undefined);
}
