import { type Operation, streamPath } from '#src/operations/operation.ts';
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

/** Renders the page of an operation, with a place for the playground. */
export function operationBody(operation: Operation): Html {
  const { path, summary, description, body, example } = operation;
  return html`<h1>${summary}</h1>
<p class="method"><span class="status-code">GET</span> <code>${path}</code></p>
<div class="lead">${renderText(description)}</div>
${operation.stream && html`<p>Also available as a stream: <a href="/docs/operations/${operationSlug(streamPath(operation))}"><code>${streamPath(operation)}</code></a>.</p>`}
${{ markup: '<!-- playground -->' }}
${parameterList(operation)}
${heading('response', 'Response')}
<p>Unknown fields are <code>null</code>, not omitted, unless the description says otherwise. New fields may be added; ignore those that you do not know.</p>
<dl class="fields">${listFields(body, example.body).map(fieldEntry)}</dl>
${headerList()}
<p>How to poll with them: <a href="/docs/polling">Polling and quotas</a>.</p>
${errorList(operation)}`;
}

/** Renders the page of an operation's stream. */
export function streamBody(operation: Operation): Html {
  const { stream, path } = operation;
  return html`<h1>${stream?.summary}</h1>
<p class="method"><span class="status-code">GET</span> <code>${streamPath(operation)}</code></p>
<div class="lead">${renderText(stream?.description ?? '')}</div>
${{ markup: '<!-- playground -->' }}
<p>How to read streams, reconnect, and what they cost: <a href="/docs/streams">Streams</a>. Events have the same fields as <a href="/docs/operations/${operationSlug(path)}"><code>${path}</code></a>.</p>
${parameterList(operation)}
${headerList()}
${errorList(operation)}`;
}

/** Renders the example of a response, whose field names link to their descriptions, or of a stream's event. */
export function exampleBlock({ example, stream, body }: Operation, isStream: boolean): Html {
  if (isStream) {
    const event = `id: W/"Hb2mVx"\nevent: ${stream?.event ?? 'board'}\ndata: ${JSON.stringify(example.body)}`;
    return html`${heading('example', 'Example of an event')}
<div class="tall">${copyableCode(event)}</div>`;
  }
  const links = linkedFields(example.body, listFields(body, example.body));
  return html`${heading('example', 'Example of a response')}
<p class="small">Send the request to replace it. Click a field to see its description.</p>
<div class="tall">${copyableCode(JSON.stringify(example.body, null, 2), 'json', links)}</div>`;
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

function valuesOf({ default: defaultValue, examples, minimum, maximum }: Parameter['schema']): Html {
  const example = examples?.[0];
  return html`<span class="hint">${[
    minimum !== undefined && maximum !== undefined && html`From ${minimum} to ${maximum}. `,
    defaultValue !== undefined && html`Default: <code>${String(defaultValue)}</code>. `,
    example !== undefined && html`Example: <code>${String(example)}</code>.`,
  ]}</span>`;
}

/** Yields a link to its description for each field name in an example, in JSON order. */
function* linkedFields(value: unknown, fields: readonly (Field | Variant)[], prefix = ''): Generator<Html> {
  if (Array.isArray(value)) {
    for (const element of value) yield* linkedFields(element, fields, prefix);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      const path = prefix + name;
      const field = fields.find((field): field is Field => 'path' in field && field.path === path);
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
  const nameStart = path.lastIndexOf('.') + 1;
  return html`<div id="${anchor}"><dt><a href="#${anchor}"><code><span class="type">${path.slice(0, nameStart)}</span>${path.slice(nameStart)}</code></a> <span class="type">${type}</span></dt>
<dd>${renderInline(description)}${example !== undefined && html` <span class="hint">Example: <code>${example}</code></span>`}</dd></div>
`;
}

/** Renders every field of every response by resource and record, folded. */
export function fieldIndex(operations: readonly Operation[]): Html {
  const places = operations.flatMap((operation) =>
    listFields(operation.body, operation.example.body)
      .filter((field): field is Field => 'path' in field)
      .map((field) => ({ field, operation, name: field.path.slice(field.within.length) })),
  );
  const anchors = new Set<string>();
  const records = Map.groupBy(places, ({ field }) => field.record);
  const resources = Map.groupBy(records.values(), ([first]) => first?.operation.path.split('/')[2] ?? '');
  return html`<h1>Fields</h1>
<p class="lead">Every response field, by resource and record. Records have the same names in <a href="/openapi.json">OpenAPI</a>.</p>
${[...resources].map(
  ([resource, inside]) => html`${heading(`of-${resource}`, `${resource.charAt(0).toUpperCase()}${resource.slice(1)}`)}
${inside.map(recordFields)}`,
)}`;

  function recordFields(all: typeof places): Html {
    const record = all[0]?.field.record;
    const names = Map.groupBy(all, ({ name }) => name);
    const uses = Map.groupBy(all, ({ field, operation }) => `${operation.path} ${field.within.replace(/\.$/, '')}`);
    return html`<details class="record"><summary><code>${record}</code> <span class="type">${[...names.keys()].slice(0, MAX_NAMED).join(', ')}${names.size > MAX_NAMED && ', …'}</span></summary>
<p class="hint">In ${[...uses].map(
      ([use, [first]]) =>
        first &&
        html`<a href="/docs/operations/${operationSlug(first.operation.path)}#${first.field.anchor}"><code>${use}</code></a> `,
    )}</p>
<dl class="fields">${[...names].map(([name, [first, ...others]]) => {
      if (!first) return null;
      const differing = [first, ...others.filter(({ field }) => field.description !== first.field.description)];
      const anchor = anchors.has(name) ? `${record}-${name}` : name;
      anchors.add(name);
      return html`<div id="${anchor}"><dt><a href="#${anchor}"><code>${name}</code></a> <span class="type">${first.field.type}</span></dt>
${[...new Set(differing.map(({ field }) => field.description))].map((text) => html`<dd>${renderInline(text)}</dd>`)}</div>
`;
    })}</dl></details>
`;
  }
}

/** Number of fields that a folded record names. */
const MAX_NAMED = 4;
