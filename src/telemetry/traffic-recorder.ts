import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Traffic } from './traffic.ts';

/** Counts every answer of the routes that are registered beside it in `traffic`, by path. */
export const trafficRecorder = fp(
  async (app: FastifyInstance, { traffic }: { traffic: Traffic }) => {
    app.addHook('onResponse', async ({ routeOptions }, reply) => {
      if (routeOptions.url) traffic.answered(routeOptions.url, reply.statusCode, reply.elapsedTime);
    });
  },
  { name: 'traffic-recorder' },
);
