import type { FastifyInstance } from 'fastify';
import type { Operation } from '#src/operations/operation.ts';
import { streamPath } from '#src/routes.ts';
import { operationUrl } from '../assets/sample.js';
import { copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { fixedPage, type Layout } from '../layout.ts';
import { downloads } from './downloads.ts';
import { errorPages, errorTable } from './error-pages.ts';
import { GUIDES, type Guide, parseGuides } from './guides.ts';
import { headersBody } from './headers-page.ts';
import { machineReadable } from './machine-readable.ts';
import { fillIn, heading, type Section } from './markdown.ts';
import { exampleBlock, operationBody, REFERENCE, streamBody } from './operation-page.ts';
import { PLAYGROUND_HEAD, playground } from './playground.ts';
import { createSidebar, drawSidebar, groupByTag, type Sidebar } from './sidebar.ts';

export interface DocsOptions {
  layout: Layout;
  publicUrl: string;
  docsUrl: string;
  operations: readonly Operation[];
  /** The sandbox's public test key; null outside the sandbox. */
  testKey: () => Promise<string | null>;
  /** The sandbox's publishable key; null outside the sandbox. */
  publishableKey: () => Promise<string | null>;
  /** Contact for larger plans, mailto: or https:; null if there is none. */
  contact: string | null;
  /** URL template of map tiles; null: maps show only land and water. */
  tileUrl: string | null;
  tileAttribution: string;
}

/** Drawn on its first request, and again when the test key of the sandbox changes. */
interface DocsPage {
  path: string;
  title: string;
  description: string;
  draw(testKey: string | null): Html;
  head?: Html | undefined;
}

/** `GET /docs` and the pages under it: tasks, guides, operations, errors and the search. */
export async function docs(app: FastifyInstance, options: DocsOptions): Promise<void> {
  const { layout, operations, publicUrl, testKey, publishableKey } = options;
  const guides = parseGuides(publicUrl);
  const frame = createFrame(layout, createSidebar(guides, operations));
  const pages = [
    ...guides.map((guide) => guidePage(guide, options)),
    ...operations.flatMap((operation) => operationPages(operation, options)),
    headersPage(),
    referencePage(operations),
    overview(guides),
  ];
  for (const { path, title, description, draw, head } of pages) {
    app.get(
      path,
      fixedPage(
        (key) => frame({ path, title, description, head, body: draw(key) }),
        path === BROWSERS_PATH ? publishableKey : testKey,
      ),
    );
  }
  await app.register(machineReadable, { guides, operations, publicUrl });
  await app.register(errorPages, { ...options, frame });
  await app.register(downloads, { publicUrl });
  await app.register(movedPages);
}

/** Pages that moved. Browsers keep the part of an address behind its `#`. */
const MOVED = {
  '/docs/operations': REFERENCE,
  '/docs/fields': REFERENCE,
  '/docs/polling': '/docs/limits',
  '/docs/integrations': '/docs/display',
  '/docs/first-day': '/docs',
};

async function movedPages(app: FastifyInstance): Promise<void> {
  for (const [from, to] of Object.entries(MOVED)) app.get(from, async (_request, reply) => reply.redirect(to, 301));
  app.get<{ Params: { '*': string } }>('/docs/operations/*', async ({ params, url }, reply) => {
    // The query is that of a shared request in the playground.
    const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
    return reply.redirect(`${REFERENCE}/${encodeURIComponent(params['*'])}${query}`, 301);
  });
}

/** Returns a function that renders a documentation page with navigation and search. */
function createFrame(layout: Layout, sidebar: Sidebar) {
  return ({ title, description, path, body, head }: Omit<DocsPage, 'draw'> & { body: Html }) =>
    layout({
      title,
      description,
      path: '/docs',
      head: html`<link rel="stylesheet" href="/assets/docs.css">
<script type="module" src="/assets/docs.js"></script>
<script type="module" src="/assets/copy.js"></script>
${head}`,
      body: html`<div class="docs">
<div class="side">
<form role="search" class="docs-search" hidden>
<label for="docs-query" class="visually-hidden">Search the docs</label>
<input type="search" id="docs-query" placeholder="Search the docs" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="docs-results" aria-autocomplete="list" aria-describedby="docs-found">
<div id="docs-results" role="listbox" aria-label="Found" hidden></div>
<p class="visually-hidden" role="status" id="docs-found"></p>
</form>
<details class="contents"><summary>All pages</summary>${drawSidebar(sidebar, path, 'Docs, all pages')}</details>
${drawSidebar(sidebar, path, 'Docs')}
</div>
<article class="text">
${body}
</article>
</div>`,
    });
}

function guidePage({ name, title, summary, body, sections }: Guide, { contact }: DocsOptions): DocsPage {
  const head =
    name === 'changelog' && html`<link rel="alternate" type="application/atom+xml" href="/docs/changelog.atom">`;
  const path = `/docs/${name}`;
  const draw = (key: string | null) => {
    const filled =
      path === BROWSERS_PATH
        ? withPublishableKey(body(), key)
        : fillIn(body(), {
            'plans contact': plansContactText(contact),
            codes: errorTable(),
            'test key': keyNotice(key),
          });
    return html`<div class="guide"><div class="prose">${filled}</div>${contentsOf(sections())}</div>`;
  };
  return { path, title, description: summary, draw, ...(head && { head }) };
}

/** Table of contents of a long guide; null for a short one. */
function contentsOf(sections: readonly Section[]): Html | null {
  const linked = sections.filter(({ anchor }) => anchor !== '');
  if (linked.length < 3) return null;
  return html`<nav class="on-page" aria-label="On this page"><p>On this page</p>
<ul>${linked.map(({ anchor, heading }) => html`<li><a href="#${anchor}">${heading}</a></li>`)}</ul></nav>`;
}

function operationPages(operation: Operation, options: DocsOptions): DocsPage[] {
  const { path, summary, description, stream } = operation;
  const place = (body: (of: Operation) => Html, isStream: boolean) => (testKey: string | null) =>
    fillIn(body(operation), {
      playground: playground(operation, { ...options, testKey, isStream, example: exampleBlock(operation, isStream) }),
    });
  const page: DocsPage = {
    path: operationUrl(path),
    title: summary,
    description: description.split('\n', 1)[0]?.replaceAll('`', '') ?? summary,
    draw: place(operationBody, false),
    head: PLAYGROUND_HEAD,
  };
  if (!stream) return [page];
  const streamed = operationUrl(streamPath(operation));
  const draw = place(streamBody, true);
  return [
    page,
    { path: streamed, title: stream.summary, description: `${stream.summary}.`, draw, head: PLAYGROUND_HEAD },
  ];
}

function headersPage(): DocsPage {
  const body = headersBody();
  return { path: '/docs/headers', title: 'Headers', description: 'What response headers mean.', draw: () => body };
}

/** The list of all operations. */
function referencePage(operations: readonly Operation[]): DocsPage {
  const body = html`<h1>Operations</h1>
<p class="lead">Every operation, also as <a href="/openapi.json">OpenAPI 3.1</a>. Common to all: <a href="/docs/errors">errors</a>, <a href="/docs/headers">headers</a>, <a href="/docs/limits">limits and polling</a>.</p>
${groupByTag(operations).map(
  ({ title, inside }) => html`${heading(title.toLowerCase().replaceAll(' ', '-'), title)}
<ul class="cards">${inside.map(
    ({ path, summary }) => html`<li><a href="${operationUrl(path)}">${summary}</a> <code>${path}</code></li>
`,
  )}</ul>`,
)}`;
  return { path: REFERENCE, title: 'Operations', description: 'Every operation of the API.', draw: () => body };
}

function overview(guides: readonly Guide[]): DocsPage {
  const cards = (names: readonly Guide['name'][]) =>
    html`<ul class="cards">${guides
      .filter(({ name }) => names.includes(name))
      .map(
        ({ name, title, summary }) => html`<li><a href="/docs/${name}">${title}</a> ${summary}</li>
`,
      )}</ul>`;
  const body = html`<h1>Docs</h1>
<p class="lead">Departures, stops and journeys for New South Wales and Canberra, as plain JSON over HTTP. Start with the <a href="/docs/quickstart">quickstart</a>, then open the page of your task.</p>
${heading('tasks', 'Tasks')}
${cards(GUIDES.tasks)}
${heading('rules', 'Rules that hold everywhere')}
<ul>
<li>Coordinates are <code>lat, lng</code>, in that order.</li>
<li>Times in responses are UTC. <code>date</code> and <code>time</code> in a request are Sydney local time.</li>
<li>Unknown values are <code>null</code>, not left out. New fields may be added: ignore those that you do not know.</li>
<li>Every <a href="/docs/errors">error</a> has a page with its cause, its fix and whether to retry.</li>
</ul>
${heading('guides', 'Guides')}
${cards(GUIDES.guides)}
<p>Every parameter and field: <a href="${REFERENCE}">the operations</a>.</p>`;
  return {
    path: '/docs',
    title: 'Docs',
    description: 'Quickstart, tasks, guides and every operation of the Transit Information Service.',
    draw: () => body,
  };
}

/** The guide with a sample page that works unchanged, because it contains the sandbox's publishable key. */
const BROWSERS_PATH = '/docs/browsers';

function withPublishableKey({ markup }: Html, key: string | null): Html {
  return { markup: key ? markup.replace('tis_pub_…', key) : markup };
}

/** Shows the sandbox's key, ready for the shell; null outside the sandbox. */
function keyNotice(testKey: string | null): Html | null {
  if (!testKey) return null;
  return html`<p>This server is a sandbox. Anyone may use its key:</p>
${copyableCode(`export TIS_KEY=${testKey}`)}`;
}

/** Names the contact for a larger plan. */
export function plansContactText(contact: string | null): Html {
  return html`<p id="plans-contact">${
    contact
      ? html`Write to <a href="${contact}">${contact.replace(/^mailto:/, '')}</a>, with your account's address, the plan you need, and your use case.`
      : html`This server's operator has named no contact. Use the steps above to stay within your plan.`
  }</p>`;
}
