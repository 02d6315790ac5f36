import { type Operation, streamPath } from '../../../operations/operation.ts';
import { copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { errorList } from './error-pages.ts';
import { type Field, listFields, typeName, type Variant } from './fields.ts';
import { heading, plainText, renderInline, renderText } from './markdown.ts';
import { headerList, listParameters, type Parameter } from './playground.ts';

/** "/v1/stops/search" → "stops-search" */
export function operationSlug(path: string): string {
  return path.replace(/^\/v1\/|[{}]/g, '').replaceAll('/', '-');
}

/** Renders the page of an operation: text in one column, code in another, and a place for the playground. */
export function operationBody(operation: Operation): Html {
  const { path, summary, description, body, example } = operation;
  const fields = listFields(body, example.body);
  return html`<h1>${summary}</h1>
<p class="method"><span class="status-code">GET</span> <code>${path}</code></p>
<div class="lead">${renderText(description)}</div>
${{ markup: '<!-- playground -->' }}
<div class="beside">
<div class="code-column">
${heading('example', 'Example of a response')}
<p class="small">Click a field to see its description.</p>
<div class="tall">${copyableCode(JSON.stringify(example.body, null, 2), 'json', linkedFields(example.body, fields))}</div>
</div>
<div>
${operation.stream && html`<p>Also available as a stream: <a href="/docs/operations/${operationSlug(streamPath(operation))}"><code>${streamPath(operation)}</code></a>.</p>`}
${parameterList(operation)}
${heading('response', 'Response')}
<p>Unknown fields are <code>null</code>, not omitted, unless the description says otherwise. New fields may be added; ignore those that you do not know.</p>
<dl class="fields">${fields.map(fieldEntry)}</dl>
${headerList()}
<p>How to poll with them: <a href="/docs/polling">Polling and quotas</a>.</p>
${errorList(operation)}
</div>
</div>`;
}

/** Renders the page of an operation's stream. */
export function streamBody(operation: Operation): Html {
  const { example, stream, path } = operation;
  const event = `id: W/"Hb2mVx"\nevent: ${stream?.event ?? 'board'}\ndata: ${JSON.stringify(example.body)}`;
  return html`<h1>${stream?.summary}</h1>
<p class="method"><span class="status-code">GET</span> <code>${streamPath(operation)}</code></p>
<div class="lead">${renderText(stream?.description ?? '')}</div>
${{ markup: '<!-- playground -->' }}
<div class="beside">
<div class="code-column">
${heading('example', 'Example of an event')}
${copyableCode(event)}
</div>
<div>
<p>How to read streams, reconnect, and what they cost: <a href="/docs/streams">Streams</a>. Events have the same fields as <a href="/docs/operations/${operationSlug(path)}"><code>${path}</code></a>.</p>
${parameterList(operation)}
${headerList()}
${errorList(operation)}
</div>
</div>`;
}

function parameterList(operation: Operation): Html {
  return html`${heading('parameters', 'Parameters')}
<dl class="fields">${listParameters(operation).map(
    ({
      name,
      required,
      description,
      schema,
    }) => html`<div id="parameter-${name}"><dt><a href="#parameter-${name}"><code>${name}</code></a> <span class="type">${schema.type === 'array' ? 'list' : typeName(schema)}</span>
${required && html`<strong class="required">required</strong>`}</dt>
<dd>${renderInline(description ?? '')}${valuesOf(schema)}</dd></div>
`,
  )}</dl>`;
}

function valuesOf({ default: standard, examples, minimum, maximum }: Parameter['schema']): Html {
  const example = examples?.[0];
  return html`<span class="hint">${[
    minimum !== undefined && maximum !== undefined && html`From ${minimum} to ${maximum}. `,
    standard !== undefined && html`Default: <code>${String(standard)}</code>. `,
    example !== undefined && html`Example: <code>${String(example)}</code>.`,
  ]}</span>`;
}

/** Yields a link to its description for each field name in an example, in JSON order. */
function* linkedFields(value: unknown, fields: readonly (Field | Variant)[], prefix = ''): Generator<Html> {
  if (Array.isArray(value)) {
    for (const one of value) yield* linkedFields(one, fields, prefix);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      const path = prefix + name;
      const field = fields.find((one): one is Field => 'path' in one && one.path === path);
      const title = field && `${field.type}. ${plainText(field.description)}`;
      const label = html`<span class="code-field">"${name}"</span>`;
      yield field ? html`<a href="#${field.anchor}" title="${title}" tabindex="-1">${label}</a>` : label;
      yield* linkedFields(inner, fields, `${path}${Array.isArray(inner) ? '[]' : ''}.`);
    }
  }
}

function fieldEntry(entry: Field | Variant): Html {
  if ('variant' in entry)
    return html`<div class="variant"><dt>${entry.variant}</dt><dd>It has these fields:</dd></div>\n`;
  const { path, anchor, type, description, example } = entry;
  const cut = path.lastIndexOf('.') + 1;
  return html`<div id="${anchor}"><dt><a href="#${anchor}"><code><span class="type">${path.slice(0, cut)}</span>${path.slice(cut)}</code></a> <span class="type">${type}</span></dt>
<dd>${renderInline(description)}${example !== undefined && html` <span class="hint">Example: <code>${example}</code></span>`}</dd></div>
`;
}

/** Renders every field of every response by name, with the operations that return it. */
export function fieldIndex(operations: readonly Operation[]): Html {
  const places = operations.flatMap((operation) =>
    listFields(operation.body, operation.example.body)
      .filter((one): one is Field => 'path' in one)
      .map((field) => ({ field, operation, name: field.path.split('.').at(-1) ?? '' })),
  );
  const names = [...new Set(places.map(({ name }) => name))].sort();
  return html`<h1>Fields</h1>
<p class="lead">Every response field by name, with the operations that return it.</p>
<dl class="fields">${names.map((name) => {
    const [first, ...others] = places.filter((place) => place.name === name);
    if (!first) return null;
    // Departures and boards return the same board of a stop, so it is described once.
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
