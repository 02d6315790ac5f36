import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { within } from '../core/clock.ts';
import { MAX_PATIENCE_MS, type StoreState } from '../core/redis/presence.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Build } from './build.ts';
import type { PressureWatch } from './pressure.ts';

/**
 * `GET /healthz`: the process runs, and which build it is. `GET /readyz`: the process can take requests of keys that it knows; when it cannot,
 * the error says what is missing. Neither of them asks upstream, whose failures no restart of ours would mend.
 */
export const readiness = fp(
  async (
    app: FastifyInstance,
    options: {
      isStoreReachable: () => Promise<boolean>;
      pressure?: PressureWatch | undefined;
      build?: Build | undefined;
    },
  ) => {
    const { isStoreReachable, pressure, build } = options;
    let isClosing = false;
    // A restart would only move the load to the other instances.
    const config = { servesUnderPressure: true };

    app.addHook('preClose', async () => {
      isClosing = true;
    });
    app.get('/healthz', { config }, async () => ({ ...build, status: 'ok' }));
    app.get('/readyz', { config }, async (_request, reply) => {
      const missing = [
        ...(isClosing ? ['this process is closing'] : []),
        ...(pressure && pressure.exceeded() !== null ? ['this process is under pressure'] : []),
        ...((await isStoreReachable()) ? [] : ['the account store does not answer']),
      ];
      if (missing.length > 0) throw notReady(missing);
      return reply.header('cache-control', 'no-store').send({ status: 'ready' });
    });
  },
  { name: 'readiness', dependencies: ['error-handler'] },
);

function notReady(missing: readonly string[]): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', `Not ready: ${missing.join('; ')}.`, {
    headers: { 'retry-after': '1' },
  });
}

/**
 * Asks the store whether it takes writes; `graceMs` is for how long known keys work without it. However often it is
 * asked, at most one probe is under way.
 */
export function createStoreProbe(
  check: () => Promise<StoreState>,
  { graceMs, now = Date.now }: { graceMs: number; now?: () => number },
) {
  let probing: Promise<StoreState> | null = null;
  let heardAt = Number.NEGATIVE_INFINITY;

  /** Notes that the store has replied. */
  function heard(): void {
    heardAt = now();
  }

  async function probe(): Promise<StoreState> {
    // The same patience as for the requests themselves: a store at a distance that they bear is not away.
    const inTime = within(MAX_PATIENCE_MS, check(), () => new Error('the store is silent'));
    const state = await inTime.catch((): StoreState => 'away');
    if (state !== 'away') heard();
    return state;
  }

  /** The state that a write just now has shown. */
  function state(): Promise<StoreState> {
    probing ??= probe().finally(() => {
      probing = null;
    });
    return probing;
  }

  /** Whether keys still work that this process has seen: the store replies, or has replied in the last ten minutes. */
  const servesKnownKeys = async () => (await state()) !== 'away' || now() - heardAt < graceMs;

  return { state, servesKnownKeys, heard };
}
