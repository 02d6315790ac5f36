import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { within } from '../core/clock.ts';
import { MAX_PATIENCE_MS, type StoreState } from '../core/redis/presence.ts';
import { ApiError } from '../errors/api-error.ts';
import { OTHER_ROUTES } from '../routes.ts';
import type { Build } from './build.ts';
import type { CreateExtension, Extension } from './extension.ts';

/**
 * `GET /healthz`: the process runs, and its build. `GET /readyz`: the process can serve requests with keys it knows; if not,
 * the error says what is missing. Neither checks upstream, whose failures a restart would not fix.
 */
export const readiness = fp(
  async (
    app: FastifyInstance,
    options: {
      extensions: readonly Extension[];
      build?: Build | undefined;
      /** How long the process is not ready before it closes, so that load balancers notice. */
      drainMs: number;
      sleep: (ms: number) => Promise<unknown>;
    },
  ) => {
    const { extensions, build, drainMs, sleep } = options;
    let isClosing = false;
    // A restart would only shift the load to other instances.
    const config = { servesUnderPressure: true };

    app.addHook('preClose', async () => {
      isClosing = true;
      if (app.server.listening && drainMs > 0) await sleep(drainMs);
    });
    app.get(OTHER_ROUTES.health, { config }, async () => ({ ...build, status: 'ok' }));
    app.get(OTHER_ROUTES.readiness, { config }, async (_request, reply) => {
      const closing = isClosing ? 'this process is shutting down' : null;
      const checks = await Promise.all(extensions.map((extension) => extension.missing?.()));
      const missing = [closing, ...checks].filter((one) => one != null);
      if (missing.length > 0) throw notReady(missing);
      return reply.header('cache-control', 'no-store').send({ status: 'ready' });
    });
  },
  { name: 'readiness', dependencies: ['error-handler'] },
);

/** Reports the process as not ready while requests with known keys would fail. */
export const requireStore =
  (isReachable: () => Promise<boolean>): CreateExtension =>
  () => ({ missing: async () => ((await isReachable()) ? null : 'the account store does not answer') });

function notReady(missing: readonly string[]): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', `Not ready: ${missing.join('; ')}.`, {
    headers: { 'retry-after': '1' },
  });
}

/**
 * Checks whether the store accepts writes; `graceMs` is how long known keys work without it. At most one probe is in flight.
 */
export function createStoreProbe(
  check: () => Promise<StoreState>,
  { graceMs, now = Date.now }: { graceMs: number; now?: () => number },
) {
  let probing: Promise<StoreState> | null = null;
  let heardAt = Number.NEGATIVE_INFINITY;

  /** Records that the store has replied. */
  function recordReply(): void {
    heardAt = now();
  }

  async function probe(): Promise<StoreState> {
    // Waits as long as requests do: a distant store that serves them is not unreachable.
    const inTime = within(MAX_PATIENCE_MS, check(), () => new Error('the store is silent'));
    const state = await inTime.catch((): StoreState => 'unreachable');
    if (state !== 'unreachable') recordReply();
    return state;
  }

  /** The state of the store according to a new probe. */
  function state(): Promise<StoreState> {
    probing ??= probe().finally(() => {
      probing = null;
    });
    return probing;
  }

  /** Whether keys known to this process still work: the store replies, or did so within `graceMs`. */
  const servesKnownKeys = async () => (await state()) !== 'unreachable' || now() - heardAt < graceMs;

  return { state, servesKnownKeys, heard: recordReply };
}
