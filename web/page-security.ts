import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/**
 * For routes in the same scope: pages load scripts, styles and data from this server only, and images also from the map's tile
 * server, if there is one.
 */
export const pageSecurity = fp(
  async (app: FastifyInstance, { publicUrl, tileUrl }: { publicUrl: string; tileUrl: string | null }) => {
    const isHttps = publicUrl.startsWith('https:');
    await app.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'self'"],
          // Small images inside stylesheets are data: URLs.
          imgSrc: ["'self'", 'data:', ...(tileUrl ? [originOf(tileUrl)] : [])],
          objectSrc: ["'none'"],
          baseUri: ["'none'"],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
        },
      },
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      // "no-referrer" would make browsers hide the origin, which our forms check.
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
