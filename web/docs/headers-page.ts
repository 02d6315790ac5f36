import { HEADER_COMPONENTS } from '#src/http/openapi/responses.ts';
import { type Html, html } from '../html.ts';
import { plainText, renderInline } from './markdown.ts';

/** "RateLimit" → "header-ratelimit" */
export function headerAnchor(name: string): string {
  return `header-${name.toLowerCase()}`;
}

/** What each response header means, as plain text, for the playground and the search. */
export const HEADER_MEANINGS = Object.fromEntries(
  Object.entries(HEADER_COMPONENTS).map(([name, { description }]) => [name, plainText(description)]),
);

/** Renders the page of response headers, which are the same for every operation. */
export function headersBody(): Html {
  return html`<h1>Headers</h1>
<p class="lead">Response headers, the same on every operation. How to poll with them: <a href="/docs/limits#what-the-headers-say">Limits and polling</a>.</p>
<dl class="fields">${Object.entries(HEADER_COMPONENTS).map(
    ([
      name,
      { description, schema, example },
    ]) => html`<div id="${headerAnchor(name)}"><dt><a href="#${headerAnchor(name)}"><code>${name}</code></a> <span class="type">${schema.type}</span></dt>
<dd>${renderInline(description)} <span class="hint">Example: <code>${String(example)}</code></span></dd></div>
`,
  )}</dl>`;
}
