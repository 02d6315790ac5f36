import type { FastifyInstance } from 'fastify';
import { DAY_MS } from '../clock.ts';

const VALID_DAYS = 180;

/** `GET /.well-known/security.txt` (RFC 9116): where to report a vulnerability. */
export async function securityTxt(
  app: FastifyInstance,
  { contact, publicUrl, now }: { contact: string; publicUrl: string; now: () => Date },
): Promise<void> {
  app.get('/.well-known/security.txt', async (_request, reply) => {
    const today = Math.floor(now().getTime() / DAY_MS) * DAY_MS;
    const expires = new Date(today + VALID_DAYS * DAY_MS).toISOString();
    reply.type('text/plain; charset=utf-8').header('cache-control', 'public, max-age=86400');
    return [
      `Contact: ${contact}`,
      `Expires: ${expires}`,
      'Preferred-Languages: en',
      `Canonical: ${publicUrl}/.well-known/security.txt`,
      '',
    ].join('\n');
  });
}
