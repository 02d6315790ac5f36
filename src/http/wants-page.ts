import type { FastifyRequest } from 'fastify';

/** Browsers get pages and redirects, programs get JSON. */
export function wantsPage(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}
