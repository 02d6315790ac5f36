import fastifyCors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/** Headers of ours that a script of another origin may read. */
const EXPOSED = [
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
  'WWW-Authenticate',
  'Allow',
  'Age',
  'Cache-Status',
  'ETag',
  'Date',
  'Link',
].join(', ');

/** `*` would not cover Authorization. */
const ACCEPTED = ['Authorization', 'Content-Type', 'If-None-Match', 'Cache-Control'];
const PREFLIGHT_LIFETIME_SECONDS = 86_400;

/** For the answers that leave before there is a request: broken HTTP and broken URLs. */
export const CROSS_ORIGIN_HEADERS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };

/**
 * Every answer can be read from every origin, errors included: there are no cookies, a key is sent on purpose.
 * A preflight is answered before a key is asked for, and costs nothing.
 */
export const cors = fp(
  async (app: FastifyInstance) => {
    await app.register(fastifyCors, {
      origin: '*',
      methods: ['GET', 'HEAD', 'POST'],
      allowedHeaders: ACCEPTED,
      exposedHeaders: EXPOSED,
      maxAge: PREFLIGHT_LIFETIME_SECONDS,
      strictPreflight: false,
    });
  },
  { name: 'cors' },
);
