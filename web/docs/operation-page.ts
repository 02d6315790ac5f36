import type { Operation } from '#src/operations/operation.ts';
import { streamPath } from '#src/routes.ts';
import { operationUrl } from '../assets/sample.js';
import { copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { buildFieldTree, type Field, listFields, typeName, type Variant } from './fields.ts';
import { heading, plainText, renderInline, renderText } from './markdown.ts';
import { firstSentence, listParameters, type Parameter } from './playground.ts';

/** The list of all operations, and the pages under it. */
export const REFERENCE = '/docs/reference';

/** Renders the page of an operation, with a place for the playground. */
export function operationBody(operation: Operation): Html {
  const { path, summary, description, body, example, stream } = operation;
  return html`<h1>${summary}</h1>
<p class="method"><span class="status-code">GET</span> <code>${path}</code></p>
<div class="lead">${foldedText(description, renderText)}</div>
${stream && html`<p>Also as a stream: <a href="${operationUrl(streamPath(operation))}"><code>${streamPath(operation)}</code></a>.</p>`}
${{ markup: '<!-- playground -->' }}
${parameterList(operation)}
${heading('response', 'Response')}
<dl class="fields">${buildFieldTree(body, example.body).map((field) => fieldEntry(field))}</dl>
${commonLinks(operation)}`;
}

/** Renders the page of an operation's stream. */
export function streamBody(operation: Operation): Html {
  const { stream, path } = operation;
  return html`<h1>${stream?.summary}</h1>
<p class="method"><span class="status-code">GET</span> <code>${streamPath(operation)}</code></p>
<div class="lead">${foldedText(stream?.description ?? '', renderText)}</div>
${{ markup: '<!-- playground -->' }}
<p>How to read it, and what it costs: <a href="/docs/streams">Streams</a>. Parameters and fields: <a href="${operationUrl(path)}"><code>${path}</code></a>.</p>
${commonLinks(operation)}`;
}

/** What applies to every operation has pages of its own; here are only the operation's own errors. */
function commonLinks({ errors }: Operation): Html {
  const own = errors.map((code) => html` <a href="/docs/errors/${code}"><code>${code}</code></a>`);
  return html`<p class="small" id="errors">${own.length > 0 && html`Its own errors:${own}. `}Of every operation: <a href="/docs/errors">errors</a>, <a href="/docs/headers">headers</a>, <a href="/docs/limits">limits and polling</a>.</p>`;
}

/** Renders the example of a response, whose field names link to their descriptions, or of a stream's event. */
export function exampleBlock({ example, event: name, body }: Operation, isStream: boolean): Html {
  if (isStream) {
    const event = `id: W/"Hb2mVx"\nevent: ${name}\ndata: ${JSON.stringify(example.body)}`;
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
<dd>${foldedText(description ?? '', renderInline, valuesOf(schema))}</dd></div>
`,
  )}</dl>`;
}

/** Shows the first sentence; the rest unfolds. */
function foldedText(text: string, render: (text: string) => Html, hint?: Html): Html {
  const first = firstSentence(text);
  const rest = text.slice(first.length).trim();
  if (!rest) return html`${render(text)}${hint}`;
  return html`<details class="more"><summary>${renderInline(first)}${hint}</summary>${render(rest)}</details>`;
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

/** "26 fields: route, mode, destination, …" */
function namesOf(fields: readonly (Field | Variant)[]): string {
  const names = new Set(fields.flatMap((one) => ('path' in one ? one.path.split('.').at(-1) : [])));
  const shown = [...names].slice(0, MAX_NAMED).join(', ');
  return `${names.size} fields: ${shown}${names.size > MAX_NAMED ? ', …' : ''}`;
}

/** Number of fields that a folded record names. */
const MAX_NAMED = 4;

/** Renders a field with those inside it, folded. */
function fieldEntry(entry: Field | Variant): Html {
  if ('variant' in entry)
    return html`<div class="variant"><dt>${entry.variant}</dt><dd>It has these fields:</dd></div>\n`;
  const { path, anchor, type, description, example, inner, sameAs } = entry;
  const name = path.slice(path.lastIndexOf('.') + 1);
  const inside =
    inner.length > 0 &&
    (sameAs
      ? html`<dd>Its fields are those of <a href="#${sameAs.anchor}"><code>${sameAs.path}</code></a>.</dd>`
      : html`<dd><details class="record"><summary>${namesOf(inner)}</summary><dl class="fields">${inner.map((one) => fieldEntry(one))}</dl></details></dd>`);
  return html`<div id="${anchor}"><dt><a href="#${anchor}"><code>${name}</code></a> <span class="type">${type}</span></dt>
<dd>${renderInline(description)}${example !== undefined && html` <span class="hint">Example: <code>${example}</code></span>`}</dd>${inside}</div>
`;
}
