import type { FastifyInstance } from 'fastify';

/** The URL of every route of the finished app, read from its own router. */
export async function listRoutes(app: FastifyInstance): Promise<string[]> {
  await app.ready();
  const above: string[] = [];
  const urls: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, branches, part, methods] = /^([│├└─ ]*)(\S+)(?: \((.*)\))?/.exec(line) ?? [];
    if (branches === undefined || part === undefined) continue;
    const depth = branches.length / 4;
    above[depth] = (above[depth - 1] ?? '') + part;
    if (methods) urls.push(above[depth]);
  }
  return urls;
}
