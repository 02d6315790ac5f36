import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

const LINK = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</docs>; rel="service-doc"; type="text/html"',
  '</status>; rel="status"',
  '<https://creativecommons.org/licenses/by/4.0/>; rel="license"',
].join(', ');

/** On every answer: where the description, the documentation and the status are, and the licence of the data. */
export const links = fp(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('link', LINK);
    });
  },
  { name: 'links' },
);
