import type { FastifyInstance } from 'fastify';
import { toParameters } from '../../http/openapi/schema.ts';
import { prepare } from '../../http/send-response.ts';
import type { Operation } from '../../operation.ts';
import { html } from '../html.ts';
import { listFields } from './fields.ts';
import type { Guide } from './guides.ts';
import { operationSlug } from './operation-page.ts';

const TITLE = '# Transit Information Service';
const SUMMARY =
  '> Departures, nearby stops, stop search and journeys for New South Wales and Canberra, as a plain HTTP JSON API.';

/** The documentation for programs: `/llms.txt` and `/llms-full.txt` (llmstxt.org), and the changelog as an Atom feed. */
export async function machineReadable(
  app: FastifyInstance,
  { guides, operations, publicUrl }: { guides: readonly Guide[]; operations: readonly Operation[]; publicUrl: string },
): Promise<void> {
  const serve = (path: string, text: string, type: string) =>
    app.get(path, prepare(text, { type: `${type}; charset=utf-8`, maxAgeSeconds: 300 }));
  const link = (title: string, path: string, text: string) => `- [${title}](${publicUrl}${path}): ${text}`;
  const links = [
    TITLE,
    SUMMARY,
    `Every request needs a key, as \`Authorization: Bearer KEY\`. [All of the documentation as one text](${publicUrl}/llms-full.txt).`,
    '## Operations',
    operations
      .map(({ path, summary }) => link(`GET ${path}`, `/docs/operations/${operationSlug(path)}`, summary))
      .join('\n'),
    link('OpenAPI 3.1', '/openapi.json', 'every parameter, response and error'),
    '## Guides',
    guides.map(({ name, title, summary }) => link(title, `/docs/${name}`, summary)).join('\n'),
  ];
  serve('/llms.txt', `${links.join('\n\n')}\n`, 'text/markdown');
  const whole = [TITLE, SUMMARY, ...operations.map(toMarkdown), ...guides.map(({ source }) => source)];
  serve('/llms-full.txt', `${whole.join('\n\n')}\n`, 'text/markdown');
  const changelog = guides.find(({ name }) => name === 'changelog');
  if (changelog) serve('/docs/changelog.atom', atomFeed(changelog, publicUrl), 'application/atom+xml');
}

function toMarkdown(operation: Operation): string {
  const { path, summary, description, body, example } = operation;
  const parameters = toParameters(operation).map(
    ({ name, required, description: text }) => `- \`${name}\`${required ? ' (required)' : ''}: ${text}`,
  );
  const fields = listFields(body, example.body).map((field) =>
    'variant' in field ? `- ${field.variant}` : `- \`${field.path}\` (${field.type}): ${field.description}`,
  );
  return `# GET ${path}: ${summary}

${description}

## Parameters

${parameters.join('\n')}

## Response

${fields.join('\n')}`;
}

/** An entry for each day of the changelog, whose headings begin with the date. */
function atomFeed({ sections }: Guide, publicUrl: string): string {
  const page = `${publicUrl}/docs/changelog`;
  const days = sections.filter(({ heading }) => /^\d{4}-\d{2}-\d{2}/.test(heading));
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
