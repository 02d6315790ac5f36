import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { ApiError } from '../errors.ts';

/** Longer than the slowest healthy answer of the store, shorter than the time-out of any health check. */
const PROBE_TIMEOUT_MS = 500;

/** Rejects when the account store does not answer. */
export type ProbeStore = () => Promise<unknown>;

/**
 * `GET /healthz`: the process runs. `GET /readyz`: the process can take requests of any key; when it cannot, the error
 * says what is missing. Neither of them asks the authority, whose failures no restart of ours would mend.
 */
export const readiness = fp(
  async (app: FastifyInstance, { probeStore }: { probeStore?: ProbeStore | undefined }) => {
    let isClosing = false;
    let probing: Promise<boolean> | null = null;
    const config = { pressureHandler: answerUnderPressure };

    /** One probe at a time, so that health checks do not queue up before a store that is away. */
    async function isStoreReachable(): Promise<boolean> {
      if (!probeStore) return true;
      probing ??= answersInTime(probeStore).finally(() => {
        probing = null;
      });
      return probing;
    }

    app.addHook('preClose', async () => {
      isClosing = true;
    });
    app.get('/healthz', { config }, async () => ({ status: 'ok' }));
    app.get('/readyz', { config }, async (_request, reply) => {
      const missing = [
        ...(isClosing ? ['this process is closing'] : []),
        ...((await isStoreReachable()) ? [] : ['the account store does not answer']),
      ];
      if (missing.length > 0) throw notReady(missing);
      return reply.header('cache-control', 'no-store').send({ status: 'ready' });
    });
  },
  { name: 'readiness', dependencies: ['error-handler'] },
);

/** Health checks are answered under pressure too: a restart would only move the load to the other instances. */
function answerUnderPressure(): void {}

function notReady(missing: readonly string[]): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', `Not ready: ${missing.join('; ')}.`, {
    headers: { 'retry-after': '1' },
  });
}

async function answersInTime(probeStore: ProbeStore): Promise<boolean> {
  const answered = probeStore().then(
    () => true,
    () => false,
  );
  return Promise.race([answered, sleep(PROBE_TIMEOUT_MS, false, { ref: false })]);
}
