import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { prepare } from '../http/send-response.ts';
import { drawLineStyles } from '../transit/line-colour.ts';

const OWN = fileURLToPath(new URL('assets', import.meta.url));
const LEAFLET = dirname(fileURLToPath(import.meta.resolve('leaflet/dist/leaflet.js')));
/** The files of packages that pages load. */
const FROM_PACKAGES = {
  leaflet: [
    LEAFLET,
    ['leaflet.js', 'leaflet.css', ...filesIn(join(LEAFLET, 'images')).map((name) => `images/${name}`)],
  ],
} as const;
const MAX_AGE_SECONDS = 300;
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** Styles, pictures and scripts of the pages, and the map library from its package, kept in memory. */
export async function assets(app: FastifyInstance): Promise<void> {
  const files = new Map(filesIn(OWN).map((name) => [name, sendFile(join(OWN, name))]));
  for (const [prefix, [folder, names]] of Object.entries(FROM_PACKAGES))
    for (const name of names) files.set(`${prefix}/${name}`, sendFile(join(folder, name)));

  files.set('lines.css', prepare(drawLineStyles(), { type: TYPES['.css'] as string, maxAgeSeconds: MAX_AGE_SECONDS }));

  app.get<{ Params: { '*': string } }>('/assets/*', (request, reply) => {
    const send = files.get(request.params['*']);
    return send ? send(request, reply) : reply.callNotFound();
  });
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}

function sendFile(path: string) {
  return prepare(readFileSync(path), {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    maxAgeSeconds: MAX_AGE_SECONDS,
  });
}
