import type { FastifyInstance } from 'fastify';

/** `GET /healthz`: the process is up and takes requests. Says nothing of the authority. */
export async function healthRoute(app: FastifyInstance): Promise<void> {
  app.get('/healthz', async () => ({ status: 'ok' }));
}
