import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { DAY_MS } from '#src/core/clock.ts';
import { prepare } from '#src/http/send-response.ts';
import type { Operation } from '#src/operations/operation.ts';
import { type DocsOptions, docs } from './docs/docs.ts';
import { type ExploreOptions, explore } from './explore/explore.ts';
import { type HomeOptions, home } from './home/home.ts';
import { drawLineStyles } from './line-styles.ts';
import { type StatusOptions, status } from './status/status.ts';

export interface SiteOptions extends HomeOptions, DocsOptions, ExploreOptions, Omit<StatusOptions, 'operations'> {
  operations: readonly Operation[];
}

/** The pages for people, with their assets and the files that browsers and robots request. */
export async function site(app: FastifyInstance, options: SiteOptions): Promise<void> {
  await app.register(assets);
  await app.register(home, options);
  await app.register(docs, options);
  await app.register(explore, options);
  await app.register(status, { ...options, operations: options.operations.map(({ path }) => path) });
  await app.register(robotsTxt);
  await app.register(securityTxt, { ...options, contact: options.contact ?? 'mailto:security@localhost' });
}

const OWN_ASSETS = fileURLToPath(new URL('assets', import.meta.url));
const LEAFLET = dirname(fileURLToPath(import.meta.resolve('leaflet/dist/leaflet.js')));
const ASSET_AGE_SECONDS = 300;
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** Serves styles, images, scripts and the map library from memory. */
async function assets(app: FastifyInstance): Promise<void> {
  const files = new Map(
    filesIn(OWN_ASSETS).map((name) => [name, sendAsset(name, readFileSync(join(OWN_ASSETS, name)))]),
  );
  const images = filesIn(join(LEAFLET, 'images')).map((name) => `images/${name}`);
  for (const name of ['leaflet.js', 'leaflet.css', ...images])
    files.set(`leaflet/${name}`, sendAsset(name, readFileSync(join(LEAFLET, name))));
  files.set('lines.css', sendAsset('lines.css', drawLineStyles()));

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

function sendAsset(name: string, content: string | Buffer) {
  const type = TYPES[extname(name)] ?? 'application/octet-stream';
  return prepare(() => content, { type, maxAgeSeconds: ASSET_AGE_SECONDS });
}

/** `GET /robots.txt`, and the icons that browsers request from every site at fixed paths. */
async function robotsTxt(app: FastifyInstance): Promise<void> {
  const text = 'User-agent: *\nDisallow: /keys\nDisallow: /v1/\n';
  app.get(
    '/robots.txt',
    prepare(() => text, { type: 'text/plain; charset=utf-8', maxAgeSeconds: 86_400 }),
  );
  app.get('/favicon.ico', async (_request, reply) => reply.redirect('/assets/icon-32.png', 302));
  for (const path of ['/apple-touch-icon.png', '/apple-touch-icon-precomposed.png'])
    app.get(path, async (_request, reply) => reply.redirect('/assets/apple-touch-icon.png', 302));
}

const VALID_DAYS = 180;

/** `GET /.well-known/security.txt` (RFC 9116): where to report a vulnerability. */
async function securityTxt(
  app: FastifyInstance,
  { contact, publicUrl, now }: { contact: string; publicUrl: string; now: () => number },
): Promise<void> {
  app.get('/.well-known/security.txt', async (_request, reply) => {
    const today = Math.floor(now() / DAY_MS) * DAY_MS;
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
