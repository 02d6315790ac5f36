import type { FastifyBaseLogger, FastifyInstance, LightMyRequestResponse as Response } from 'fastify';
import type { AccountStore } from '#src/access/store.ts';
import { buildApp } from '#src/app.ts';
import type { EfaClient } from '#src/efa/client.ts';
import { ApiError } from '#src/errors.ts';

export interface ProbeApp extends FastifyInstance {
  clock: { now: Date };
  /** What happens while an operation is at work. */
  meanwhile: () => void;
  ask(key: string, url?: string): Promise<Response>;
}

const NO_UPSTREAM: EfaClient = {
  departureMonitor: () => Promise.reject(new ApiError('UPSTREAM_ERROR', 'There is no upstream in this test.')),
  coordSearch: () => Promise.reject(new ApiError('UPSTREAM_ERROR', 'There is no upstream in this test.')),
  stopFinder: () => Promise.reject(new ApiError('UPSTREAM_ERROR', 'There is no upstream in this test.')),
  tripPlan: () => Promise.reject(new ApiError('UPSTREAM_ERROR', 'There is no upstream in this test.')),
};

/** The service without an upstream, and with operations of its own whose outcome is known. */
export async function buildProbeApp(options: {
  store: AccountStore;
  now?: string;
  acceptsTestKeys?: boolean;
  logger?: FastifyBaseLogger;
}): Promise<ProbeApp> {
  const { store, acceptsTestKeys = false, logger } = options;
  const clock = { now: new Date(options.now ?? Date.now()) };
  const app = await buildApp({
    config: { publicUrl: 'https://example.test', docsUrl: 'https://example.test/docs', trustProxy: false },
    efa: NO_UPSTREAM,
    access: { store, acceptsTestKeys },
    now: options.now ? () => clock.now : () => new Date(),
    ...(logger && { logger }),
  });
  app.get('/v1/probe', async () => ({ ok: true }));
  app.get('/v1/probe/failing', async () => {
    probe.meanwhile();
    throw new ApiError('UPSTREAM_TIMEOUT', 'Too late.');
  });
  let failures = 0;
  const onSend = async () => {
    if (failures++ % 2 === 0)
      throw new Error('This hook fails for every answer, and not for the error that comes of it.');
  };
  app.get('/v1/probe/unsendable', { onSend }, async ({ url }) => {
    if (url.endsWith('?failing')) throw new ApiError('UPSTREAM_TIMEOUT', 'Too late.');
    return { ok: true };
  });
  app.get('/v1/probe/buggy', async () => {
    throw new TypeError('a bug');
  });
  app.get('/v1/probe/unchanged', async (_request, reply) => reply.code(304).send());
  app.get('/v1/probe/unchanged-from-cache', async (request, reply) => {
    request.costNoUpstreamCall = true;
    return reply.code(304).send();
  });
  const probe: ProbeApp = Object.assign(app, {
    clock,
    meanwhile: () => {},
    ask: async (key: string, url = '/v1/probe') => app.inject({ url, headers: { authorization: `Bearer ${key}` } }),
  });
  return probe;
}
