import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Traffic } from './traffic.ts';

/** Tells `traffic` of every answer of an operation, whoever gave it. */
export const trafficRecorder = fp(
  async (app: FastifyInstance, { traffic }: { traffic: Traffic }) => {
    app.addHook('onResponse', async ({ routeOptions }, reply) => {
      const { url } = routeOptions;
      if (url?.startsWith('/v1/')) traffic.answered(url, reply.statusCode, reply.elapsedTime);
    });
  },
  { name: 'traffic-recorder' },
);
