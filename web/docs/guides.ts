import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { withAddress } from './address.ts';
import { type Document, renderMarkdown } from './markdown.ts';

/** Guides by navigation group, in order. Names are files of docs/guide and paths under /docs. */
export const GUIDES = {
  start: ['quickstart'],
  tasks: ['departures-nearby', 'follow', 'maps', 'display'],
  guides: [
    'limits',
    'live-data',
    'time',
    'stops',
    'lines',
    'carparks',
    'reach',
    'streams',
    'browsers',
    'mobile',
    'clients',
    'assistants',
    'sandbox',
  ],
  reference: ['errors', 'changelog'],
} as const;

export const GUIDE_NAMES = Object.values(GUIDES).flat();

/** A page of the guide. */
export interface Guide extends Document {
  name: (typeof GUIDE_NAMES)[number];
  /** The Markdown, with this service's address. */
  source: string;
}

const FOLDER = new URL('../../docs/guide/', import.meta.url);
const EXAMPLES = new URL('../../examples/', FOLDER);
const EXAMPLE = /^<!-- example (\S+) -->$/gm;
/** Markdown's name for a language by file extension, where the two differ. */
const ENDINGS: Readonly<Record<string, string>> = { mjs: 'js', kt: 'kotlin' };

/** Reads and renders all guides. Throws when a file is missing, so that the service does not start. */
export function parseGuides(publicUrl: string): Guide[] {
  return GUIDE_NAMES.map((name) => parseGuide(name, publicUrl));
}

function parseGuide(name: Guide['name'], publicUrl: string): Guide {
  const text = readFileSync(new URL(`${name}.md`, FOLDER), 'utf8').replaceAll(EXAMPLE, (_comment, example: string) => {
    const file = basename(example);
    const ending = extname(example).slice(1);
    const code = readFileSync(new URL(example, EXAMPLES), 'utf8');
    const summary = `Show ${file}, ${code.split('\n').length - 1} lines`;
    return `<details>\n<summary>${summary}</summary>\n\n\`\`\`${ENDINGS[ending] ?? ending}\n${code}\`\`\`\n\n</details>`;
  });
  const lines = withAddress(text, publicUrl).split('\n');
  const source = lines
    .filter((line) => !/^<(!--|\/?details|summary)/.test(line))
    .join('\n')
    .trim();
  return { name, source, ...renderMarkdown(text, publicUrl) };
}
