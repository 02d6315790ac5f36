import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Restrictions } from '../access/restrictions.ts';

/** The page of an error needs its styles. */
const ASSETS = '/assets/';

/**
 * Refuses requests from suspended networks, and all requests during maintenance, but for health checks and assets of
 * pages. Suspended accounts are refused with the key check.
 */
export const restricted = fp(
  async (app: FastifyInstance, { restrictions }: { restrictions: Restrictions }) => {
    app.addHook('onRequest', (request, _reply, done) => {
      const maintenance = restrictions.maintenance();
      if (!maintenance && !restrictions.hasNetworks()) return done();
      if (request.routeOptions.config.servesUnderPressure || request.url.startsWith(ASSETS)) return done();
      done(maintenance ?? restrictions.ofNetwork(request.ip) ?? undefined);
    });
    app.addHook('onClose', async () => restrictions.close());
  },
  { name: 'restricted', dependencies: ['error-handler'] },
);
