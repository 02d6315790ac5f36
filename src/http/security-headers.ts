import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/** What JSON needs: nobody is to take it for a page. The rest is for pages, and would double what a hit costs. */
export const noSniffing = fp(
  async (app: FastifyInstance) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('x-content-type-options', 'nosniff');
    });
  },
  { name: 'no-sniffing' },
);

/**
 * For the routes that are registered beside it: pages take scripts, styles and data from this server only; pictures also
 * from the map's tile server, if there is one.
 */
export const pageSecurity = fp(
  async (app: FastifyInstance, { publicUrl, tileUrl }: { publicUrl: string; tileUrl: string | null }) => {
    const isHttps = publicUrl.startsWith('https:');
    await app.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'self'"],
          // Small pictures inside style sheets are data: URLs.
          imgSrc: ["'self'", 'data:', ...(tileUrl ? [originOf(tileUrl)] : [])],
          objectSrc: ["'none'"],
          baseUri: ["'none'"],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
        },
      },
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      // With "no-referrer" a browser would hide the origin of our own forms, which they are checked by.
      referrerPolicy: { policy: 'same-origin' },
      strictTransportSecurity: isHttps && { maxAge: 31_536_000 },
    });
  },
  { name: 'page-security' },
);

/** "https://{s}.tile.example/{z}/{x}/{y}.png" → "https://*.tile.example" */
function originOf(tileUrl: string): string {
  return new URL(tileUrl.replace('{s}', 'x')).origin.replace('//x.', tileUrl.includes('{s}') ? '//*.' : '//x.');
}
