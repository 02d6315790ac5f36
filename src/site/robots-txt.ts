import type { FastifyInstance } from 'fastify';

/** What browsers and crawlers ask of every site: a picture, and where not to go. */
export async function robotsTxt(app: FastifyInstance): Promise<void> {
  app.get('/robots.txt', async (_request, reply) => {
    reply.type('text/plain; charset=utf-8').header('cache-control', 'public, max-age=86400');
    return 'User-agent: *\nDisallow: /keys\nDisallow: /v1/\n';
  });
  app.get('/favicon.ico', async (_request, reply) => reply.redirect('/assets/icon.svg', 302));
}
