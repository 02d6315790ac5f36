import type { FastifyInstance } from 'fastify';

/** `GET /robots.txt` and `GET /favicon.ico`, which crawlers and browsers request of every site. */
export async function robotsTxt(app: FastifyInstance): Promise<void> {
  app.get('/robots.txt', async (_request, reply) => {
    reply.type('text/plain; charset=utf-8').header('cache-control', 'public, max-age=86400');
    return 'User-agent: *\nDisallow: /keys\nDisallow: /v1/\n';
  });
  app.get('/favicon.ico', async (_request, reply) => reply.redirect('/assets/icon.svg', 302));
}
