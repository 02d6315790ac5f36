import type { FastifyInstance } from 'fastify';
import { prepare } from '../http/prepared.ts';

/** `GET /robots.txt` and the icons that crawlers and browsers request of every site without being told of them. */
export async function robotsTxt(app: FastifyInstance): Promise<void> {
  const text = 'User-agent: *\nDisallow: /keys\nDisallow: /v1/\n';
  app.get('/robots.txt', prepare(text, { type: 'text/plain; charset=utf-8', maxAgeSeconds: 86_400 }));
  app.get('/favicon.ico', async (_request, reply) => reply.redirect('/assets/icon-32.png', 302));
  for (const path of ['/apple-touch-icon.png', '/apple-touch-icon-precomposed.png'])
    app.get(path, async (_request, reply) => reply.redirect('/assets/apple-touch-icon.png', 302));
}
