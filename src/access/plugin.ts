import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { ApiError } from '../errors/api-error.ts';
import { tokenExpired, tooManyUnderWay } from '../errors/messages.ts';
import type { Admission, Caller, Counted } from './account.ts';
import { invalidKey, readKey, readStreamKey, takeStreamKey, testKeyOnly } from './credential.ts';
import { utcDay } from './day.ts';
import {
  type Allowance,
  allowancesOf,
  allowsOrigin,
  eventCounter,
  findRefusal,
  type Grant,
  isExpired,
  type KeyEvent,
  visitorOf,
} from './grant.ts';
import type { ApiKey } from './keys.ts';
import { type BurstLimits, DEFAULT_BURST_LIMITS } from './limits/burst-limits.ts';
import { PLANS } from './plan.ts';
import { ProcessLimits } from './process-limits.ts';
import { Quota } from './quota.ts';
import { exhausted, keyEndHeaders, rateLimitHeaders } from './rate-limit.ts';
import type { Restrictions } from './restrictions.ts';
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
    /** Set on a response that cost no call of upstream. */
    costNoUpstreamCall: boolean;
    /** Set when the caller has shown, by the tag of the response, that it has the response already. */
    hasResponse: boolean;
    /** Set on a response that is not to be counted. */
    isFree: boolean;
    /** How many of the requests that it counts as failed; null for all where the status is 500 or more, else none. */
    failedParts: number | null;
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
    const { store, acceptsTestKeys, onCounted, signedKeys, ownOrigin, now } = options;
    const { burstLimits = DEFAULT_BURST_LIMITS, restrictions = null } = options;
    const quota = new Quota({ store, now, log: app.log });
    const limits = new ProcessLimits({ quota, burstLimits, restrictions, now });
    app.decorateRequest('admission', null);
    app.decorateRequest('granted', null);
    app.decorateRequest('keyInUse', null);
    app.decorateRequest('costNoUpstreamCall', false);
    app.decorateRequest('hasResponse', false);
    app.decorateRequest('isFree', false);
    app.decorateRequest('failedParts', null);
    app.decorateRequest('chargeMore', chargeMore);
    app.decorateRequest('chargeAgain', chargeAgain);
    app.decorateRequest('checkAgain', checkAgain);

    function keyOf(request: FastifyRequest): ApiKey {
      if (request.keyInUse) return request.keyInUse;
      const inQuery = takeStreamKey(request);
      const key =
        inQuery === null
          ? (signedKeys?.readWallLink(request) ?? readKey(request, signedKeys?.readToken))
          : readStreamKey(inQuery, signedKeys?.readToken);
      if (key.kind === 'test' && !acceptsTestKeys) throw testKeyOnly();
      request.keyInUse = key;
      return key;
    }

    /** Admits a request whose key this process does not know, or others may read. Returns why it is refused, if it is. */
    async function admitFound(request: FastifyRequest, key: ApiKey): Promise<ApiError | undefined> {
      const caller = await limits.find(key, request);
      const grant = key.grant ?? caller?.grant;
      if (!caller || (key.kind === 'pub' && !grant)) return refusedKey(key);
      if (grant) {
        request.granted = { grant, visitor: key.grant?.id ?? visitorOf(key, request.ip) };
        const refused = findRefusal(grant, request, now());
        if (refused && refused.reason !== 'expired') noteEvent(key, refused.reason);
        if (refused) return refused.error;
      }
      const refusal = throttle(request, caller);
      if (refusal) return refusal;
      const admission = await quota.admit(key, { allowances: presentAllowances(request) });
      if (admission?.refusedBy) limits.putBack(caller);
      return noteAdmission(request, admission);
    }

    function refusedKey(key: ApiKey): ApiError {
      return invalidKey(quota.isRevoked(key) ? 'revoked' : 'unknown');
    }

    /** The counts beside the day that the request has to fit into, of the present hour. */
    function presentAllowances(request: FastifyRequest): Allowance[] {
      const { granted } = request;
      return granted ? allowancesOf(keyOf(request), granted.grant, granted.visitor, now()) : [];
    }

    /** Counts so many more for a request that was admitted before. */
    async function admitMore(request: FastifyRequest, counted: Counted): Promise<Admission> {
      if (request.granted && isExpired(request.granted.grant, now())) throw tokenExpired(null);
      const admission = await quota.admit(keyOf(request), counted);
      if (!admission) throw refusedKey(keyOf(request));
      noteRefusal(request, admission);
      return admission;
    }

    function noteEvent({ accountId, hash }: ApiKey, event: KeyEvent): void {
      quota.noteEvent(accountId, eventCounter(hash, utcDay(now()), event));
    }

    /** Tells the owner of a publishable key, or of the key of a token, which limit its callers have met. */
    function noteRefusal(request: FastifyRequest, { kind, refusedBy }: Admission): void {
      if (!request.granted || kind !== 'exhausted' || refusedBy === 'token') return;
      noteEvent(keyOf(request), refusedBy === 'key' ? 'share' : (refusedBy ?? 'account'));
    }

    /** Why a limit of this process refuses the request, if it does. */
    function throttle(request: FastifyRequest, caller: Caller): ApiError | null {
      const refusal = limits.refusalOf(caller, request.granted?.visitor);
      if (refusal) request.admission = quota.throttled(caller);
      if (refusal?.code === 'VISITOR_LIMIT_EXCEEDED') noteEvent(keyOf(request), 'visitor');
      return refusal;
    }

    /** A secret key in a page of another site can be read by all who open the page: its owner and the page are told. */
    function noteBrowser(request: FastifyRequest, reply: FastifyReply, key: ApiKey): void {
      const { origin } = request.headers;
      if (key.kind !== 'live' || origin === undefined || origin === ownOrigin) return;
      reply.header('x-key-warning', SECRET_KEY_IN_BROWSER);
      if (request.admission?.kind === 'admitted') noteEvent(key, 'browser');
    }

    function counted(admission: Admission): void {
      limits.noteInFlight(admission.caller, admission.count);
      onCounted?.(admission);
    }

    function giveBack(admission: Admission): Promise<Admission> {
      limits.noteInFlight(admission.caller, -admission.count);
      return quota.giveBack(admission);
    }

    /** Why a request that counts as so many is refused, of which too few are left. Those under way may be given back. */
    function refusalOf(admission: Admission, needed = 1): ApiError {
      const { title, dailyLimit } = PLANS[admission.caller.plan];
      const inFlight = admission.refusedBy ? 0 : limits.inFlightOf(admission.caller);
      if (inFlight > 0) return tooManyUnderWay(title, dailyLimit ?? 0, inFlight);
      return exhausted(admission, needed, now());
    }

    async function chargeMore(this: FastifyRequest, count: number): Promise<void> {
      const first = this.admission;
      if (!first || count === 0) return;
      // In the hour and on the day in which the first one was counted: both are given back together.
      const more = await admitMore(this, { count, day: first.day, allowances: first.allowances });
      if (more.kind === 'exhausted') {
        const { used, refusedBy, allowances } = more;
        this.admission = await giveBack({ ...first, used });
        throw refusalOf({ ...this.admission, refusedBy, allowances }, first.count + count);
      }
      counted(more);
      this.admission = { ...more, count: first.count + count };
    }

    async function chargeAgain(this: FastifyRequest, count: number): Promise<void> {
      if (!this.admission || count === 0) return;
      refuseRestricted(this.admission);
      const admission = await admitMore(this, { count, day: utcDay(now()), allowances: presentAllowances(this) });
      if (admission.kind !== 'admitted') throw refusalOf(admission, count);
      onCounted?.(admission);
    }

    async function checkAgain(this: FastifyRequest): Promise<void> {
      if (!this.admission) return;
      refuseRestricted(this.admission);
      if (this.granted && isExpired(this.granted.grant, now())) throw tokenExpired(null);
      if (!(await quota.find(keyOf(this)))) throw refusedKey(keyOf(this));
    }

    function refuseRestricted({ caller }: Admission): void {
      const refusal = restrictions?.ofCaller(caller);
      if (refusal) throw refusal;
    }

    /** Why the request is refused; undefined when it is admitted. */
    function noteAdmission(request: FastifyRequest, admission: Admission | null): ApiError | undefined {
      if (!admission) return refusedKey(keyOf(request));
      request.admission = admission;
      noteRefusal(request, admission);
      if (admission.kind === 'exhausted') return refusalOf(admission);
      counted(admission);
      return undefined;
    }

    /** Returns how many requests are given back. Failed ones are, as long as not too many fail. */
    function countFree(request: FastifyRequest, reply: FastifyReply, { caller, count }: Admission): number {
      if (isGivenBack(request, reply)) return count;
      const failed = request.failedParts ?? (reply.statusCode >= 500 ? count : 0);
      return failed > 0 ? limits.refund(caller, Math.min(failed, count)) : 0;
    }

    app.addHook('onError', (request, _reply, error, done) => {
      if (error instanceof ApiError && error.failedParts !== undefined) request.failedParts = error.failedParts;
      done();
    });

    // Nobody without a key makes the service read a body: routes that take one read it after the key check (`readJsonBody`).
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

    // The hooks have callbacks: a request that waits for nothing is served without a promise.
    app.addHook('preHandler', function checkKey(request, _reply, done) {
      const key = keyOf(request);
      const caller = key.grant || key.kind === 'pub' ? null : quota.callerOf(key);
      if (!caller) return void admitFound(request, key).then(done, done);
      const refusal = throttle(request, caller);
      if (refusal) return done(refusal);
      const recalled = quota.recall(caller);
      if (recalled) return done(noteAdmission(request, recalled));
      quota.admit(key).then((admission) => done(noteAdmission(request, admission)), done);
    });

    app.addHook('onSend', (request, reply, _payload, done) => {
      const { admission } = request;
      if (request.granted) nameOrigin(request, reply, request.granted.grant);
      else if (request.keyInUse) noteBrowser(request, reply, request.keyInUse);
      if (!admission) return done();
      const finish = (settled: Admission) => {
        request.admission = settled;
        const { ending } = settled.caller;
        reply.headers(rateLimitHeaders(settled, now()));
        if (ending) reply.headers(keyEndHeaders(ending));
        done();
      };
      if (admission.kind !== 'admitted') return finish(admission);
      const free = countFree(request, reply, admission);
      limits.noteInFlight(admission.caller, free - admission.count);
      if (free === 0) return finish(admission);
      giveBack({ ...admission, count: free }).then((settled) => {
        const { used, allowances } = settled;
        finish(free === admission.count ? settled : { ...admission, used, allowances });
      }, done);
    });

    app.addHook('onClose', () => quota.close());
  },
  { name: 'access', dependencies: ['error-handler', 'paths'] },
);

const SECRET_KEY_IN_BROWSER =
  'This secret key was sent from a web page, where everybody can read it. Use a publishable key there: make one at /keys.';

/** Scripts of the origin that the key is for may read the response. A cache must not give it to a page of another one. */
function nameOrigin({ headers: { origin } }: FastifyRequest, reply: FastifyReply, { origins }: Grant): void {
  if (!origins) return;
  const vary = reply.getHeader('vary');
  reply.header('vary', vary ? `${vary}, Origin` : 'Origin');
  if (origin !== undefined && allowsOrigin(origins, origin)) reply.header('access-control-allow-origin', origin);
}

/** Says whether the route called the request free, or the caller has the response already and it cost no call. */
function isGivenBack(request: FastifyRequest, { statusCode }: FastifyReply): boolean {
  const { isFree, hasResponse, costNoUpstreamCall } = request;
  return isFree || (statusCode === 304 && hasResponse && costNoUpstreamCall);
}
