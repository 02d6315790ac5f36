import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { Admission } from './admission.ts';
import { createAdmissionControl } from './admission-control.ts';
import { invalidKey, readKey, testKeyOnly } from './credential.ts';
import { exhausted, rateLimitHeaders } from './rate-limit.ts';
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

    app.addHook('preHandler', async (request) => {
      const key = readKey(request);
      if (key.kind === 'test' && !acceptsTestKeys) throw testKeyOnly();
      const admission = await admissions.admit(key);
      if (!admission) throw invalidKey();
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

/** Our failures, and answers that the caller has already and that cost no call. */
function isFree({ costNoUpstreamCall }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return statusCode >= 500 || (statusCode === 304 && costNoUpstreamCall);
}
