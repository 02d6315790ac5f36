import { readFileSync } from 'node:fs';
import { type Document, renderMarkdown, withAddress } from './markdown.ts';

/** Guides by navigation group, in order. Names are files of docs/guide and paths under /docs. */
export const GUIDES = {
  start: ['quickstart'],
  guides: [
    'polling',
    'limits',
    'time',
    'stops',
    'live-data',
    'follow',
    'lines',
    'carparks',
    'maps',
    'reach',
    'streams',
    'browsers',
    'mobile',
    'clients',
    'assistants',
    'integrations',
    'sandbox',
  ],
  reference: ['errors', 'changelog'],
} as const;

export const GUIDE_NAMES = Object.values(GUIDES).flat();

/** Documents for operators. They are not part of /llms-full.txt. */
export const OPERATING_PAGES = ['first-day', 'operations'] as const;

export interface Guide extends Document {
  name: (typeof GUIDE_NAMES | typeof OPERATING_PAGES)[number];
  /** The Markdown, with this service's address. */
  source: string;
}

const FOLDER = new URL('../../docs/guide/', import.meta.url);
const EXAMPLES = new URL('../../examples/', FOLDER);
const EXAMPLE = /^<!-- example (\S+) -->$/gm;
/** Markdown's name for a language by file extension, where the two differ. */
const ENDINGS: Readonly<Record<string, string>> = { mjs: 'js', kt: 'kotlin' };

/** Reads and renders all guides and operators' pages. Throws when a file is missing, so that the service does not start. */
export function readDocuments(publicUrl: string): { guides: Guide[]; operating: Guide[] } {
  return {
    guides: GUIDE_NAMES.map((name) => read(name, `${name}.md`, publicUrl)),
    operating: OPERATING_PAGES.map((name) => read(name, `../${name}.md`, publicUrl)),
  };
}

function read(name: Guide['name'], file: string, publicUrl: string): Guide {
  const text = readFileSync(new URL(file, FOLDER), 'utf8').replaceAll(EXAMPLE, (_comment, example: string) => {
    const ending = example.split('.').at(-1) ?? '';
    return `\`\`\`${ENDINGS[ending] ?? ending}\n${readFileSync(new URL(example, EXAMPLES), 'utf8')}\`\`\``;
  });
  const lines = withAddress(text, publicUrl).split('\n');
  const source = lines
    .filter((line) => !line.startsWith('<!--'))
    .join('\n')
    .trim();
  return { name, source, ...renderMarkdown(text, publicUrl) };
}
