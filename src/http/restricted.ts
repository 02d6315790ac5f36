import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Restrictions } from '../access/restrictions.ts';

/** Suspended networks still get page assets, because error pages need their styles. */
const ASSETS = '/assets/';

/** Refuses requests from suspended networks, except health checks and page assets. The key check refuses suspended accounts. */
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
