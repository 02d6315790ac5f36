import type { FastifyInstance } from 'fastify';

/** `GET /robots.txt` and the icons that crawlers and browsers request of every site without being told of them. */
export async function robotsTxt(app: FastifyInstance): Promise<void> {
  app.get('/robots.txt', async (_request, reply) => {
    reply.type('text/plain; charset=utf-8').header('cache-control', 'public, max-age=86400');
    return 'User-agent: *\nDisallow: /keys\nDisallow: /v1/\n';
  });
  app.get('/favicon.ico', async (_request, reply) => reply.redirect('/assets/icon-32.png', 302));
  for (const path of ['/apple-touch-icon.png', '/apple-touch-icon-precomposed.png'])
    app.get(path, async (_request, reply) => reply.redirect('/assets/apple-touch-icon.png', 302));
}
