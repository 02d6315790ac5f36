import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

const OWN = fileURLToPath(new URL('assets', import.meta.url));
const LEAFLET = dirname(fileURLToPath(import.meta.resolve('leaflet/dist/leaflet.js')));
const SWAGGER_UI = dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css')));
const MAX_AGE_MS = 300_000;

/** Styles, pictures and scripts of the pages, and the map library and Swagger UI from their packages. */
export async function assets(app: FastifyInstance): Promise<void> {
  const common = { decorateReply: false, index: false as const, maxAge: MAX_AGE_MS };
  await app.register(fastifyStatic, { ...common, root: OWN, prefix: '/assets/' });
  await app.register(fastifyStatic, { ...common, root: LEAFLET, prefix: '/assets/leaflet/' });
  await app.register(fastifyStatic, { ...common, root: SWAGGER_UI, prefix: '/assets/swagger-ui/' });
}
