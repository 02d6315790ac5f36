import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { Admission } from './admission.ts';
import { createAdmissionControl } from './admission-control.ts';
import { invalidKey, readKey, testKeyOnly } from './credential.ts';
import { dailyLimitExceeded, rateLimitHeaders } from './rate-limit.ts';
import type { Counter } from './store.ts';

export interface AccessOptions {
  store: Counter;
  /** Whether `tis_test_` keys are taken: only where the sandbox answers. */
  acceptsTestKeys: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What let the request in; null where no key is needed, or before. */
    admission: Admission | null;
    /** Set by whoever answers without having called upstream: a 304 is then free. */
    costNoUpstreamCall: boolean;
  }
}

/**
 * Every operation needs a key, and every admitted request counts. Both happen before anything else of the request is
 * looked at, so who may not come in learns nothing, and a question that is wrong counts like any other.
 */
export const access = fp(
  async (app: FastifyInstance, { store, acceptsTestKeys, now }: AccessOptions & { now: () => Date }) => {
    const admissions = createAdmissionControl({ store, now, log: app.log });
    app.decorateRequest('admission', null);
    app.decorateRequest('costNoUpstreamCall', false);

    app.addHook('onRequest', async (request) => {
      if (!needsKey(request)) return;
      const key = readKey(request);
      if (key.kind === 'test' && !acceptsTestKeys) throw testKeyOnly();
      const admission = await admissions.admit(key);
      if (!admission) throw invalidKey();
      request.admission = admission;
      if (admission.kind === 'exhausted') throw dailyLimitExceeded(admission, now());
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

/** By the route, not by the text of the URL: whatever is found under /v1 is an operation. */
function needsKey({ method, routeOptions }: FastifyRequest): boolean {
  return method !== 'OPTIONS' && /^\/v1(\/|$)/.test(routeOptions.url ?? '');
}

/** Our failures, and what cost nothing. */
function isFree({ costNoUpstreamCall }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return statusCode >= 500 || (statusCode === 304 && costNoUpstreamCall);
}
