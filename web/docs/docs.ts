import type { FastifyInstance } from 'fastify';
import { type Operation, streamPath } from '#src/operations/operation.ts';
import { copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { fixedPage, type Layout } from '../layout.ts';
import { errorPages, errorTable } from './error-pages.ts';
import { GUIDES, type Guide, OPERATING_PAGES, readDocuments } from './guides.ts';
import { machineReadable } from './machine-readable.ts';
import { fillIn, heading } from './markdown.ts';
import { exampleBlock, fieldIndex, operationBody, operationSlug, streamBody } from './operation-page.ts';
import { PLAYGROUND_HEAD, playground } from './playground.ts';

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

interface Page {
  path: string;
  title: string;
  description: string;
  draw(testKey: string | null): Html;
  head?: Html | undefined;
}

/** `GET /docs` and the pages under it: guides, operations, errors and the search. */
export async function docs(app: FastifyInstance, options: DocsOptions): Promise<void> {
  const { layout, operations, publicUrl, testKey, publishableKey } = options;
  const { guides, operating } = readDocuments(publicUrl);
  const frame = createFrame(layout, navigationOf([...guides, ...operating], operations));
  const pages = [
    ...[...guides, ...operating].map((guide) => guidePage(guide, options)),
    ...operations.flatMap((operation) => operationPages(operation, options)),
    fieldsPage(operations),
    overview(guides, operations),
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
  await app.register(machineReadable, { guides, operating, operations, publicUrl });
  await app.register(errorPages, { ...options, frame });
}

interface NavigationLink {
  href: string;
  label: string;
  /** The link to an operation's stream, beside the operation's name. */
  stream?: { href: string; label: string };
}

/** The navigation beside every page of the documentation. */
type Navigation = { title: string; links: NavigationLink[] }[];

function navigationOf(guides: readonly Guide[], operations: readonly Operation[]): Navigation {
  const links = (names: readonly Guide['name'][]) =>
    guides
      .filter(({ name }) => names.includes(name))
      .map(({ name, title }) => ({ href: `/docs/${name}`, label: title }));
  return [
    { title: 'Start', links: [{ href: '/docs', label: 'Overview' }, ...links(GUIDES.start)] },
    {
      title: 'Operations',
      links: operations.map((operation) => ({
        href: `/docs/operations/${operationSlug(operation.path)}`,
        label: operation.summary,
        ...(operation.stream && {
          stream: { href: `/docs/operations/${operationSlug(streamPath(operation))}`, label: operation.stream.summary },
        }),
      })),
    },
    { title: 'Guides', links: links(GUIDES.guides) },
    {
      title: 'Reference',
      links: [...links(['errors']), { href: '/docs/fields', label: 'Fields' }, ...links(['changelog'])],
    },
    { title: 'Running it', links: links(OPERATING_PAGES) },
  ];
}

/** Returns a function that renders a documentation page with navigation and search. */
function createFrame(layout: Layout, navigation: Navigation) {
  return ({ title, description, path, body, head }: Omit<Page, 'draw'> & { body: Html }) =>
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
<details class="contents"><summary>All pages</summary>${list(navigation, path, 'Docs, all pages')}</details>
${list(navigation, path, 'Docs')}
</div>
<article class="text">
${body}
</article>
</div>`,
    });
}

function list(navigation: Navigation, path: string, label: string): Html {
  return html`<nav aria-label="${label}">${navigation.map(
    ({ title, links }) => html`<p>${title}</p>
<ul>${links.map(({ href, label, stream }) => html`<li><a href="${href}"${current(href, path)}>${label}</a>${stream && html`<a class="stream" href="${stream.href}"${current(stream.href, path)} aria-label="${stream.label}">stream</a>`}</li>`)}</ul>
`,
  )}</nav>`;
}

/** `aria-current` for the page itself; the page of an error code belongs to the errors page. */
function current(href: string, path: string): Html | false {
  if (href === path) return html` aria-current="page"`;
  return href === '/docs/errors' && path.startsWith(`${href}/`) && html` aria-current="true"`;
}

function guidePage({ name, title, summary, body, sections }: Guide, { contact }: DocsOptions): Page {
  const places = { 'plans contact': plansContactText(contact), codes: errorTable() };
  const contents = contentsOf(sections);
  const head =
    name === 'changelog' && html`<link rel="alternate" type="application/atom+xml" href="/docs/changelog.atom">`;
  const path = `/docs/${name}`;
  const draw = (key: string | null) => {
    const filled =
      path === BROWSERS_PATH ? withPublishableKey(body, key) : fillIn(body, { ...places, 'test key': keyNotice(key) });
    return html`<div class="guide"><div class="prose">${filled}</div>${contents}</div>`;
  };
  return { path, title, description: summary, draw, ...(head && { head }) };
}

/** Table of contents of a long guide; null for a short one. */
function contentsOf(sections: Guide['sections']): Html | null {
  const linked = sections.filter(({ anchor }) => anchor !== '');
  if (linked.length < 3) return null;
  return html`<nav class="on-page" aria-label="On this page"><p>On this page</p>
<ul>${linked.map(({ anchor, heading }) => html`<li><a href="#${anchor}">${heading}</a></li>`)}</ul></nav>`;
}

function operationPages(operation: Operation, options: DocsOptions): Page[] {
  const { path, summary, description, stream } = operation;
  const place = (body: Html, isStream: boolean) => (testKey: string | null) =>
    fillIn(body, {
      playground: playground(operation, { ...options, testKey, isStream, example: exampleBlock(operation, isStream) }),
    });
  const page: Page = {
    path: `/docs/operations/${operationSlug(path)}`,
    title: summary,
    description: description.split('\n', 1)[0]?.replaceAll('`', '') ?? summary,
    draw: place(operationBody(operation), false),
    head: PLAYGROUND_HEAD,
  };
  if (!stream) return [page];
  const streamed = `/docs/operations/${operationSlug(streamPath(operation))}`;
  const draw = place(streamBody(operation), true);
  return [
    page,
    { path: streamed, title: stream.summary, description: `${stream.summary}.`, draw, head: PLAYGROUND_HEAD },
  ];
}

function fieldsPage(operations: readonly Operation[]): Page {
  const body = fieldIndex(operations);
  return { path: '/docs/fields', title: 'Fields', description: 'Every field of every response.', draw: () => body };
}

function overview(guides: readonly Guide[], operations: readonly Operation[]): Page {
  const body = html`<h1>Docs</h1>
<p class="lead">Departures, stops and journeys for New South Wales and Canberra, as plain JSON over HTTP. Start with the <a href="/docs/quickstart">quickstart</a>.</p>
<ul>
<li>Coordinates are <code>lat, lng</code>, in that order, everywhere.</li>
<li>Times in responses are UTC. <code>date</code> and <code>time</code> in a request are Sydney local time.</li>
<li>Unknown values are <code>null</code>. Real-time values appear only for tracked vehicles.</li>
<li>Every <a href="/docs/errors">error</a> has a page with its cause, its fix and whether to retry.</li>
<li>In a terminal, <code>/board/200070?modes=train</code> shows a readable board, with the same key and parameters as <code>/v1/departures</code>.</li>
</ul>
${heading('operations', 'Operations')}
<ul class="cards">${operations.map(
    ({
      path,
      summary,
    }) => html`<li><a href="/docs/operations/${operationSlug(path)}">${summary}</a> <code>${path}</code></li>
`,
  )}</ul>
${heading('guides', 'Guides')}
<ul class="cards">${guides.map(
    ({ name, title, summary }) => html`<li><a href="/docs/${name}">${title}</a> ${summary}</li>
`,
  )}</ul>`;
  return {
    path: '/docs',
    title: 'Docs',
    description: 'Quickstart, guides and every operation of the Transit Information Service.',
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
