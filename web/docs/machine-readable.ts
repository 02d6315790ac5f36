import type { FastifyInstance } from 'fastify';
import { ERROR_TABLE, type ErrorCode } from '#src/errors/api-error.ts';
import { ERROR_DOCS } from '#src/errors/docs.ts';
import { toParameters } from '#src/http/openapi/schema.ts';
import { prepare } from '#src/http/send-response.ts';
import type { Operation } from '#src/operations/operation.ts';
import { streamPath } from '#src/routes.ts';
import { operationUrl } from '../assets/sample.js';
import { html } from '../html.ts';
import { buildFieldTree, type Field, listFields, type Variant } from './fields.ts';
import type { Guide } from './guides.ts';
import { HEADER_MEANINGS, headerAnchor } from './headers-page.ts';
import { plainText } from './markdown.ts';

const TITLE = '# Transit Information Service';
const SUMMARY =
  '> Departures, nearby stops, stop search and journeys for New South Wales and Canberra, as a plain HTTP JSON API.';

/**
 * Documentation for programs: `/llms.txt` and `/llms-full.txt` (llmstxt.org), the changelog as an Atom feed, and the search
 * index.
 */
export async function machineReadable(
  app: FastifyInstance,
  { guides, operations, publicUrl }: { guides: readonly Guide[]; operations: readonly Operation[]; publicUrl: string },
): Promise<void> {
  const serve = (path: string, write: () => string, type: string) =>
    app.get(path, prepare(write, { type: `${type}; charset=utf-8`, maxAgeSeconds: 300 }));
  const link = (title: string, path: string, text: string) => `- [${title}](${publicUrl}${path}): ${text}`;
  const links = [
    TITLE,
    SUMMARY,
    `Every request needs a key, as \`Authorization: Bearer KEY\`. [All of the documentation as one text](${publicUrl}/llms-full.txt).`,
    '## Operations',
    operations.map(({ path, summary }) => link(`GET ${path}`, operationUrl(path), summary)).join('\n'),
    link('OpenAPI 3.1', '/openapi.json', 'every parameter, response and error'),
    '## Guides',
    guides.map(({ name, title, summary }) => link(title, `/docs/${name}`, summary)).join('\n'),
  ];
  serve('/llms.txt', () => `${links.join('\n\n')}\n`, 'text/markdown');
  const full = () => [TITLE, SUMMARY, ...operations.map(toMarkdown), ...guides.map(({ source }) => source)];
  serve('/llms-full.txt', () => `${full().join('\n\n')}\n`, 'text/markdown');
  serve('/docs/headers.json', () => JSON.stringify(HEADER_MEANINGS), 'application/json');
  serve('/docs/search.json', () => JSON.stringify(buildSearchIndex(guides, operations)), 'application/json');
  const changelog = guides.find(({ name }) => name === 'changelog');
  if (changelog) serve('/docs/changelog.atom', () => atomFeed(changelog, publicUrl), 'application/atom+xml');
}

function toMarkdown(operation: Operation): string {
  const { path, summary, description, body, example } = operation;
  const parameters = toParameters(operation).map(
    ({ name, required, description: text }) => `- \`${name}\`${required ? ' (required)' : ''}: ${text}`,
  );
  const fields = buildFieldTree(body, example.body).flatMap(fieldLines);
  return `# GET ${path}: ${summary}

${description}

## Parameters

${parameters.join('\n')}

## Response

${fields.join('\n')}`;
}

/** A line for the field and each field inside it. Fields of a record that was described earlier are not repeated. */
function fieldLines(field: Field | Variant): string[] {
  if ('variant' in field) return [`- ${field.variant}`];
  const { path, type, description, sameAs, inner } = field;
  const line = `- \`${path}\` (${type}): ${description}`;
  return sameAs ? [`${line} Its fields are those of \`${sameAs.path}\`.`] : [line, ...inner.flatMap(fieldLines)];
}

/** Renders one entry per day of the changelog, whose headings start with a date. */
function atomFeed({ sections }: Guide, publicUrl: string): string {
  const page = `${publicUrl}/docs/changelog`;
  const days = sections().filter(({ heading }) => /^\d{4}-\d{2}-\d{2}/.test(heading));
  const moment = (heading = '') => `${heading.slice(0, 10)}T00:00:00Z`;
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Changes of the Transit Information Service</title>
<id>${page}</id>
<link href="${page}"/>
<link rel="self" href="${page}.atom"/>
<updated>${moment(days[0]?.heading)}</updated>
<author><name>Transit Information Service</name></author>
${days.map(
  ({ heading, anchor, text }) => html`<entry>
<title>${heading}</title>
<id>${page}#${anchor}</id>
<link href="${page}#${anchor}"/>
<updated>${moment(heading)}</updated>
<content type="text">${text.trim()}</content>
</entry>
`,
)}</feed>
`.markup;
}

/** One section of a page. `assets/docs-search.js` reads these names. */
export interface SearchEntry {
  page: string;
  heading: string;
  url: string;
  text: string;
}

/** Builds the index for `assets/docs-search.js`, which runs in the browser. */
function buildSearchIndex(guides: readonly Guide[], operations: readonly Operation[]): SearchEntry[] {
  const operationsFound = operations.flatMap(operationEntries);
  const headers = Object.entries(HEADER_MEANINGS).map(([name, meaning]) => {
    return { page: 'Headers', heading: name, url: `/docs/headers#${headerAnchor(name)}`, text: meaning };
  });
  const others = [
    { page: 'Operations', heading: 'Operations', url: '/docs/reference', text: 'Every operation of the API.' },
    { page: 'Headers', heading: 'Headers', url: '/docs/headers', text: 'What response headers mean.' },
    {
      page: 'Status',
      heading: 'Status',
      url: '/status',
      text: 'Whether the service is up: success, speed and incidents (outages) of 90 days.',
    },
  ];
  return [...guides.flatMap(guideEntries), ...operationsFound, ...errorEntries(), ...headers, ...others];
}

function guideEntries({ name, title, sections }: Guide): SearchEntry[] {
  return sections().map(({ heading, anchor, text }) => ({
    page: title,
    heading,
    url: `/docs/${name}${anchor && `#${anchor}`}`,
    text,
  }));
}

function operationEntries(operation: Operation): SearchEntry[] {
  const { path, summary, description, body, example, stream } = operation;
  const url = operationUrl(path);
  const page = `GET ${path}`;
  const parameters = toParameters(operation).map(({ name, description = '' }) => ({
    page,
    heading: String(name),
    url: `${url}#parameter-${name}`,
    text: plainText(String(description)),
  }));
  const fields = listFields(body, example.body).flatMap((field) =>
    'variant' in field
      ? []
      : [{ page, heading: field.path, url: `${url}#${field.anchor}`, text: plainText(field.description) }],
  );
  const entries = [{ page, heading: summary, url, text: plainText(description) }, ...parameters, ...fields];
  if (!stream) return entries;
  const streamed = streamPath(operation);
  const streamUrl = operationUrl(streamed);
  return [...entries, { page: `GET ${streamed}`, heading: stream.summary, url: streamUrl, text: stream.description }];
}

function errorEntries(): SearchEntry[] {
  return (Object.keys(ERROR_TABLE) as ErrorCode[]).map((code) => {
    const { title, cause, fix, retry } = ERROR_DOCS[code];
    const text = [title, cause, ...fix, retry].join(' ');
    return { page: 'Errors', heading: `${ERROR_TABLE[code].status} ${code}`, url: `/docs/errors/${code}`, text };
  });
}
