import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { ApiError } from '../errors/api-error.ts';
import type { PressureWatch } from './pressure.ts';

/**
 * `GET /healthz`: the process runs. `GET /readyz`: the process can take requests of keys that it knows; when it cannot,
 * the error says what is missing. Neither of them asks upstream, whose failures no restart of ours would mend.
 */
export const readiness = fp(
  async (
    app: FastifyInstance,
    { isStoreReachable, pressure }: { isStoreReachable: () => Promise<boolean>; pressure?: PressureWatch | undefined },
  ) => {
    let isClosing = false;
    // A restart would only move the load to the other instances.
    const config = { servesUnderPressure: true };

    app.addHook('preClose', async () => {
      isClosing = true;
    });
    app.get('/healthz', { config }, async () => ({ status: 'ok' }));
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
