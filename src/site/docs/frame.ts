import { type Html, html } from '../html.ts';
import type { Layout } from '../layout.ts';

/** A part of the navigation beside every page of the documentation. */
export interface NavigationGroup {
  title: string;
  links: readonly { href: string; label: string }[];
}

/** Draws a page of the documentation: navigation and search beside the text. */
export type DocsFrame = (page: {
  title: string;
  description: string;
  path: string;
  body: Html;
  head?: Html | undefined;
}) => string;

export function createFrame(layout: Layout, navigation: readonly NavigationGroup[]): DocsFrame {
  return ({ title, description, path, body, head }) =>
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
<input type="search" id="docs-query" placeholder="Search the docs" autocomplete="off" aria-describedby="docs-found">
<ul id="docs-results" aria-label="Found" hidden></ul>
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

function list(navigation: readonly NavigationGroup[], path: string, label: string): Html {
  return html`<nav aria-label="${label}">${navigation.map(
    ({ title, links }) => html`<p>${title}</p>
<ul>${links.map(({ href, label }) => html`<li><a href="${href}"${current(href, path)}>${label}</a></li>`)}</ul>
`,
  )}</nav>`;
}

/** The page itself, or the one that it belongs to, as an error belongs to the errors. */
function current(href: string, path: string): Html | false {
  if (href === path) return html` aria-current="page"`;
  return href !== '/docs' && path.startsWith(`${href}/`) && html` aria-current="true"`;
}
