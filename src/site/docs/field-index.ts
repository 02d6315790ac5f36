import type { Operation } from '../../operation.ts';
import { type Html, html } from '../html.ts';
import { type Field, listFields } from './fields.ts';
import { renderInline } from './markdown.ts';
import { operationSlug } from './operation-page.ts';

/** Every field of every response by its name, with the operations that have it. */
export function fieldIndex(operations: readonly Operation[]): Html {
  const places = operations.flatMap((operation) =>
    listFields(operation.body, operation.example.body)
      .filter((one): one is Field => 'path' in one)
      .map((field) => ({ field, operation, name: field.path.split('.').at(-1) ?? '' })),
  );
  const names = [...new Set(places.map(({ name }) => name))].sort();
  return html`<h1>Fields</h1>
<p class="lead">Every field of every response by its name, and where it stands.</p>
<dl class="fields">${names.map((name) => {
    const [first, ...others] = places.filter((place) => place.name === name);
    if (!first) return null;
    // The board of a stop is the same in departures and in boards: it is described once.
    const differing = [first, ...others.filter(({ field }) => field.description !== first.field.description)];
    return html`<div id="${name}"><dt><a href="#${name}"><code>${name}</code></a> <span class="type">${first.field.type}</span></dt>
${differing.map(({ field }) => html`<dd>${renderInline(field.description)}</dd>`)}
<dd class="hint">${[first, ...others].map(
      ({ field, operation }) =>
        html`<a href="/docs/operations/${operationSlug(operation.path)}#${field.anchor}"><code>${field.path}</code></a> `,
    )}</dd></div>
`;
  })}</dl>`;
}
