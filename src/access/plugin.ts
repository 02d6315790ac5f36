import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { Admission } from './admission.ts';
import { createAdmissionControl } from './admission-control.ts';
import { invalidKey, readKey, testKeyOnly } from './credential.ts';
import type { UtcDay } from './day.ts';
import { exhausted, rateLimitHeaders, tooMany } from './rate-limit.ts';
import type { Counter } from './store.ts';

export interface AccessOptions {
  store: Counter;
  /** Whether `tis_test_` keys are taken: only where the sandbox answers. */
  acceptsTestKeys: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** How the request was admitted; null where no key is needed, and before the key was checked. */
    admission: Admission | null;
    /** Set on an answer that cost no call of the authority: a 304 is then free. */
    costNoUpstreamCall: boolean;
    /** Set on an answer that is not to be counted. */
    isFree: boolean;
    /**
     * Counts the request as so many more, all of them or none. Throws `DAILY_LIMIT_EXCEEDED` when fewer are left; the
     * request is then not counted at all.
     */
    chargeMore(count: number): Promise<void>;
    /** Counts the request once more, today. Throws as the key check does. */
    chargeAgain(): Promise<void>;
  }
}

/**
 * Checks the key and counts the request, for every route that is registered beside it: both happen before the route
 * validates the query, so that a request without a valid key learns nothing, and a wrong query counts like any other.
 */
export const access = fp(
  async (app: FastifyInstance, { store, acceptsTestKeys, now }: AccessOptions & { now: () => Date }) => {
    const admissions = createAdmissionControl({ store, now, log: app.log });
    app.decorateRequest('admission', null);
    app.decorateRequest('costNoUpstreamCall', false);
    app.decorateRequest('isFree', false);
    app.decorateRequest('chargeMore', chargeMore);
    app.decorateRequest('chargeAgain', chargeAgain);

    async function admit(request: FastifyRequest, options?: { count: number; day: UtcDay }): Promise<Admission> {
      const key = readKey(request);
      if (key.kind === 'test' && !acceptsTestKeys) throw testKeyOnly();
      const admission = await admissions.admit(key, options);
      if (!admission) throw invalidKey();
      return admission;
    }

    async function chargeMore(this: FastifyRequest, count: number): Promise<void> {
      const first = this.admission;
      if (!first || count === 0) return;
      const more = await admit(this, { count, day: first.day });
      if (more.kind === 'exhausted') {
        this.admission = await admissions.giveBack({ ...first, used: more.used });
        throw tooMany(this.admission, first.count + count, now());
      }
      this.admission = { ...more, count: first.count + count };
    }

    async function chargeAgain(this: FastifyRequest): Promise<void> {
      const admission = await admit(this);
      if (admission.kind === 'exhausted') throw exhausted(admission, now());
    }

    app.addHook('preHandler', async (request) => {
      const admission = await admit(request);
      request.admission = admission;
      if (admission.kind === 'exhausted') throw exhausted(admission, now());
    });

    app.addHook('onSend', async (request, reply) => {
      const { admission } = request;
      if (!admission) return;
      if (admission.kind === 'admitted' && isFree(request, reply))
        request.admission = await admissions.giveBack(admission);
      reply.headers(rateLimitHeaders(request.admission ?? admission, now()));
    });

    app.addHook('onClose', () => admissions.close());
  },
  { name: 'access', dependencies: ['error-handler', 'paths'] },
);

/** Our failures, answers that the caller has already and that cost no call, and what its route says is free. */
function isFree({ isFree, costNoUpstreamCall }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return isFree || statusCode >= 500 || (statusCode === 304 && costNoUpstreamCall);
}
