import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { clientNetwork } from '../access/limits/client-network.ts';
import type { Rate, TokenBuckets } from '../access/limits/token-buckets.ts';
import type { Restrictions } from '../access/restrictions.ts';
import { tooManyPages } from '../errors/messages.ts';

/** The page of an error needs its styles. */
const ASSETS = '/assets/';

/** Refuses requests from suspended networks, but for health checks and assets of pages. The key check refuses suspended accounts. */
export const restricted = fp(
  async (app: FastifyInstance, { restrictions }: { restrictions: Restrictions }) => {
    app.addHook('onRequest', (request, _reply, done) => {
      if (!restrictions.hasNetworks()) return done();
      if (request.routeOptions.config.servesUnderPressure || request.url.startsWith(ASSETS)) return done();
      done(restrictions.ofNetwork(request.ip) ?? undefined);
    });
    app.addHook('onClose', async () => restrictions.close());
  },
  { name: 'restricted', dependencies: ['error-handler'] },
);

/** Throws 429 when the client's network has requested too much without a key: pages, their assets and the description. */
export function createPageLimit(networks: TokenBuckets, rate: Rate) {
  // One for all, because an error with a stack costs more than the rest of a refusal.
  const refusal = tooManyPages(rate);
  return async ({ ip }: FastifyRequest): Promise<void> => {
    if (!networks.take(clientNetwork(ip))) throw refusal;
  };
}
