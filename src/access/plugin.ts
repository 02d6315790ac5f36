import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { ApiError } from '../errors/api-error.ts';
import type { Admission, Caller } from './account.ts';
import { createCharges, type Outcome, refusedKey } from './charges.ts';
import { createKeyReader } from './credential.ts';
import type { Grant } from './grant.ts';
import type { ApiKey } from './keys.ts';
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
  /** Whether `tis_test_` keys are taken: only where the sandbox answers. */
  acceptsTestKeys: boolean;
  /** The suspended accounts; none unless given. */
  restrictions?: Restrictions | null;
  /** How many requests an account may make in a short time; by default as its plan says. */
  burstLimits?: BurstLimits;
  /** Reads what stands in for a key; without it neither wall links nor tokens are taken. */
  signedKeys?: SignedKeys;
  /** The origin of the service's own pages, which may use secret keys. */
  ownOrigin?: string;
  /** Is told of every request that was counted. */
  onCounted?: (admission: Admission) => void;
  /** The clock by which days are counted, which is the same for all instances; that of the service unless given. */
  now?: () => Date;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** How the request was admitted; null where no key is needed, and before the key was checked. */
    admission: Admission | null;
    /** The uses of the request's publishable key or token, and by whom; null for other keys. */
    granted: { grant: Grant; visitor: string } | null;
    /** The key that was sent, or that stands behind a wall link or token; null before it was read. */
    keyInUse: ApiKey | null;
    /** What the response says about its price. */
    outcome: Outcome;
    /**
     * Counts the request as so many more, all of them or none. Throws `DAILY_LIMIT_EXCEEDED` when fewer are left; the
     * request is then not counted at all.
     */
    chargeMore(count: number): Promise<void>;
    /** Counts so many more of today for a stream. Throws as the key check does. */
    chargeAgain(count: number): Promise<void>;
    /** Throws when the key, the time of the token or the account's leave has ended since. Counts nothing. */
    checkAgain(): Promise<void>;
  }
}

/**
 * Checks the key and counts the request in one `preHandler`, for every route that is registered beside it: both happen before the
 * route reads a body and validates the query, so that a request without a valid key learns nothing, and a wrong query counts like any other.
 */
export const access = fp(
  async (app: FastifyInstance, options: AccessOptions & { now: () => Date }) => {
    const { store, now, onCounted, restrictions = null, burstLimits = DEFAULT_BURST_LIMITS } = options;
    const quota = new Quota({ store, now, log: app.log });
    const limits = createProcessLimits({ burstLimits, now });
    const sharedKeys = createSharedKeys({ ...options, quota });
    const charges = createCharges({ quota, limits, sharedKeys, onCounted, now });
    const readKey = createKeyReader(options);
    app.decorateRequest('admission', null);
    app.decorateRequest('granted', null);
    app.decorateRequest('keyInUse', null);
    app.decorateRequest('outcome', null as never);
    app.decorateRequest('chargeMore', function chargeMore(this: FastifyRequest, count) {
      return charges.more(this, count);
    });
    app.decorateRequest('chargeAgain', async function chargeAgain(this: FastifyRequest, count) {
      refuseRestricted(this.admission);
      await charges.again(this, count);
    });
    app.decorateRequest('checkAgain', async function checkAgain(this: FastifyRequest) {
      refuseRestricted(this.admission);
      sharedKeys.expectUnexpired(this);
      const key = this.keyInUse as ApiKey;
      if (!(await quota.find(key))) throw refusedKey(quota, key);
    });

    // The hooks have callbacks: a request that waits for nothing is served without a promise.
    app.addHook('onRequest', (request, _reply, done) => {
      request.outcome = { isFree: false, failedParts: null };
      done();
    });

    app.addHook('preHandler', function checkKey(request, _reply, done) {
      const key = readKey(request);
      request.keyInUse = key;
      const caller = key.grant || key.kind === 'pub' ? null : quota.callerOf(key);
      if (!caller) return void admitFound(request, key).then(done, done);
      const refusal = throttle(request, caller);
      if (refusal) return done(refusal);
      const recalled = quota.recall(caller);
      if (recalled) return done(charges.note(request, recalled));
      quota.admit(key).then((admission) => done(charges.note(request, admission)), done);
    });

    /** Admits a request whose key this process does not know, or others may read. Returns why it is refused, if it is. */
    async function admitFound(request: FastifyRequest, key: ApiKey): Promise<ApiError | undefined> {
      const caller = await quota.find(key);
      const grant = key.grant ?? caller?.grant;
      if (!caller || (key.kind === 'pub' && !grant)) return refusedKey(quota, key);
      const refusal = (grant && sharedKeys.enter(request, key, grant)) ?? throttle(request, caller);
      if (refusal) return refusal;
      const admission = await quota.admit(key, { allowances: sharedKeys.allowancesOf(request) });
      return charges.note(request, admission);
    }

    /** Why a limit of this process refuses the request, if it does. */
    function throttle(request: FastifyRequest, caller: Caller): ApiError | null {
      const refusal = restrictions?.ofCaller(caller) ?? limits.refusalOf(caller, request.granted?.visitor);
      if (refusal) request.admission = quota.throttled(caller);
      if (refusal) sharedKeys.noteThrottled(request, refusal);
      return refusal;
    }

    function refuseRestricted(admission: Admission | null): void {
      const refusal = admission && restrictions?.ofCaller(admission.caller);
      if (refusal) throw refusal;
    }

    // Nobody without a key makes the service read a body: routes that take one read it after the key check (`readJsonBody`).
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

    app.addHook('onError', (request, _reply, error, done) => {
      if (error instanceof ApiError && error.failedParts !== undefined) request.outcome.failedParts = error.failedParts;
      done();
    });

    app.addHook('onSend', (request, reply, _payload, done) => {
      const { admission } = request;
      sharedKeys.writeHeaders(request, reply);
      if (!admission) return done();
      const finish = (settled: Admission) => {
        request.admission = settled;
        const { ending } = settled.caller;
        reply.headers(rateLimitHeaders(settled, now()));
        if (ending) reply.headers(keyEndHeaders(ending));
        done();
      };
      if (admission.kind === 'admitted') charges.settle(request, reply, admission, finish);
      else finish(admission);
    });

    app.addHook('onClose', () => quota.close());
  },
  { name: 'access', dependencies: ['error-handler', 'paths'] },
);
