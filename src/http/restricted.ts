import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Restrictions } from '../access/restrictions.ts';

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
