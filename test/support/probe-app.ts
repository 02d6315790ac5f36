import sensible from '@fastify/sensible';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  LogController,
  type LightMyRequestResponse as Response,
} from 'fastify';
import { type BurstLimits, NO_BURST_LIMITS } from '#src/access/limits/burst-limits.ts';
import { access } from '#src/access/plugin.ts';
import { Restrictions } from '#src/access/restrictions.ts';
import type { SignedKeys } from '#src/access/signed-keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { ApiError, asCharged } from '#src/errors/api-error.ts';
import { paths } from '#src/http/paths.ts';
import { requestLog } from '#src/http/request-log.ts';
import { restricted } from '#src/http/restricted.ts';
import { errorHandler } from '#src/http/send-error.ts';

export interface ProbeApp extends FastifyInstance {
  clock: { now: Date };
  /** Read from the store only when a test asks for it. */
  restrictions: Restrictions;
  /** Runs during each operation. */
  meanwhile: () => void;
  send(key: string, url?: string): Promise<Response>;
}

/** The key check in front of routes with known outcomes. */
export async function buildProbeApp(options: {
  store: AccountStore;
  now?: string;
  acceptsTestKeys?: boolean;
  /** None by default. */
  burstLimits?: BurstLimits;
  logger?: FastifyBaseLogger;
  signedKeys?: SignedKeys;
}): Promise<ProbeApp> {
  const { store, acceptsTestKeys = false, burstLimits = NO_BURST_LIMITS, logger, signedKeys } = options;
  const clock = { now: new Date(options.now ?? Date.now()) };
  const now = options.now ? () => clock.now : () => new Date();
  const logController = new LogController({ disableRequestLogging: true });
  const app = Fastify({ logController, ...(logger && { loggerInstance: logger }) });
  await app.register(sensible);
  await app.register(errorHandler, { docsUrl: 'https://example.test/docs' });
  const restrictions = new Restrictions({ store, log: app.log });
  await app.register(requestLog, { perSecond: Number.POSITIVE_INFINITY, now: () => now().getTime() });
  await app.register(paths);
  await app.register(restricted, { restrictions });
  await app.register(async (api) => {
    await api.register(access, {
      store,
      acceptsTestKeys,
      restrictions,
      burstLimits,
      now: () => now().getTime(),
      ...(signedKeys && { signedKeys }),
    });
    await api.register(probeRoutes, { meanwhile: () => probe.meanwhile() });
  });
  const probe: ProbeApp = Object.assign(app, {
    clock,
    restrictions,
    meanwhile: () => {},
    send: async (key: string, url = '/v1/probe') => app.inject({ url, headers: { authorization: `Bearer ${key}` } }),
  });
  return probe;
}

async function probeRoutes(app: FastifyInstance, { meanwhile }: { meanwhile: () => void }): Promise<void> {
  app.get('/v1/probe', async () => ({ ok: true }));
  app.get('/v1/probe/failing', async () => {
    meanwhile();
    throw new ApiError('UPSTREAM_TIMEOUT', 'Too late.');
  });
  app.get('/v1/probe/unavailable', async () => {
    throw new ApiError('SERVICE_UNAVAILABLE', 'Not now.');
  });
  let failures = 0;
  const onSend = async () => {
    if (failures++ % 2 === 0)
      throw new Error('This hook fails for every response, and not for the error that comes of it.');
  };
  app.get('/v1/probe/unsendable', { onSend }, async ({ url }) => {
    if (url.endsWith('?failing')) throw new ApiError('UPSTREAM_TIMEOUT', 'Too late.');
    return { ok: true };
  });
  app.get('/v1/probe/five', async (request, reply) => {
    await request.chargeMore(4);
    meanwhile();
    if (request.url.endsWith('?failing')) throw new ApiError('UPSTREAM_TIMEOUT', 'Too late.');
    const unknown = new ApiError('STOP_NOT_FOUND', 'No such stop.');
    if (request.url.endsWith('?unknown')) throw unknown;
    if (request.url.endsWith('?searched')) throw asCharged(unknown);
    if (!request.url.endsWith('?unchanged')) return { ok: true };
    request.outcome.isFree = true;
    return reply.code(304).send();
  });
  app.get('/v1/probe/buggy', async () => {
    throw new TypeError('a bug');
  });
  app.get('/v1/probe/unchanged', async (_request, reply) => reply.code(304).send());
  app.get('/v1/probe/unchanged-from-cache', async (request, reply) => {
    request.outcome.isFree = true;
    return reply.code(304).send();
  });
}
