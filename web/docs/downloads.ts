import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { prepare } from '#src/http/send-response.ts';
import { withAddress } from './address.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The folders of the repository whose files callers can download, and their paths under `/docs/clients`. */
const FOLDERS = { 'clients/python': 'python', 'clients/typescript/src': 'typescript', examples: 'examples' };
const IS_TEXT = /\.(py|ts|js|mjs|html|yaml|kt|swift|md|dart)$/;

/** "../../examples/maps/leaflet.html" → "/docs/clients/examples/maps/leaflet.html"; null for other files. */
export function downloadUrl(link: string): string | null {
  const path = link.replace(/^(\.\.\/)+/, '');
  const folder = Object.entries(FOLDERS).find(([folder]) => path.startsWith(`${folder}/`));
  return folder ? `/docs/clients/${folder[1]}${path.slice(folder[0].length)}` : null;
}

/** Serves the clients and the examples as files, with this service's address, so that callers need no checkout. */
export async function downloads(app: FastifyInstance, { publicUrl }: { publicUrl: string }): Promise<void> {
  for (const folder of Object.keys(FOLDERS)) {
    for (const file of filesIn(folder)) {
      const text = withAddress(readFileSync(join(ROOT, file), 'utf8'), publicUrl);
      // As plain text, so that no example runs as a page of this service.
      const type = 'text/plain; charset=utf-8';
      app.get(
        downloadUrl(file) ?? '',
        prepare(() => text, { type, maxAgeSeconds: 300 }),
      );
    }
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && IS_TEXT.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length));
}
