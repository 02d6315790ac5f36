import { ERROR_TABLE } from '../../errors/api-error.ts';
import { ERROR_DOCS } from '../../errors/docs.ts';
import { toParameters } from '../../http/openapi/schema.ts';
import { errorsOf, type Operation, streamPath } from '../../operation.ts';
import { copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { sampleOf } from '../sample.ts';
import { type Field, listFields, typeName, type Variant } from './fields.ts';
import { renderInline, renderText } from './markdown.ts';
import { sampleTabs } from './sample-tabs.ts';

/** "/v1/stops/search" → "stops-search" */
export function operationSlug(path: string): string {
  return path.replace(/^\/v1\//, '').replaceAll('/', '-');
}

/** The page of an operation, with a column of text and one of code beside it. */
export function operationBody(operation: Operation, publicUrl: string): Html {
  const { path, summary, description, query, body, example } = operation;
  const samples = sampleOf(publicUrl, `${path}?${example.query}`);
  return html`<h1>${summary}</h1>
<p class="method"><span class="status-code">GET</span> <code>${path}</code> <a href="#try">Try it</a></p>
<div class="lead">${renderText(description)}</div>
<div class="beside">
<div class="code-column">
<h2 id="request">Request</h2>
${sampleTabs([
  { language: 'sh', code: samples.curl },
  { language: 'js', code: samples.javascript },
  { language: 'python', code: samples.python },
  { language: 'kotlin', code: samples.kotlin },
  { language: 'swift', code: samples.swift },
])}
<h2 id="example">Example of a response</h2>
<div class="tall">${copyableCode(JSON.stringify(example.body, null, 2), 'json')}</div>
</div>
<div>
${operation.stream && html`<p>It can be followed as a stream: <a href="/docs/operations/${operationSlug(streamPath(operation))}"><code>${streamPath(operation)}</code></a>.</p>`}
${parameterList(query)}
<h2 id="response">Response</h2>
<p>A field that is not known is <code>null</code>, unless its description says otherwise; it is not left out. Fields may be added: ignore those that you do not know.</p>
<dl class="fields">${listFields(body, example.body).map(fieldEntry)}</dl>
<p>Headers say how fresh the response is and what is left of the day: <a href="/docs/polling">Polling and quotas</a>.</p>
${errorList(operation)}
</div>
</div>`;
}

/** The page of an operation's stream. */
export function streamBody(operation: Operation, publicUrl: string): Html {
  const { query, example, stream, path } = operation;
  const request = `${publicUrl}${streamPath(operation)}?${example.query}`;
  const event = `id: W/"Hb2mVx"\nevent: board\ndata: ${JSON.stringify(example.body)}`;
  return html`<h1>${stream?.summary}</h1>
<p class="method"><span class="status-code">GET</span> <code>${streamPath(operation)}</code></p>
<div class="lead">${renderText(stream?.description ?? '')}</div>
<div class="beside">
<div class="code-column">
<h2 id="request">Request</h2>
${copyableCode(`curl -N -H "Authorization: Bearer $TIS_KEY" \\\n  "${request}"`, 'sh')}
<h2 id="example">Example of an event</h2>
${copyableCode(event)}
</div>
<div>
<p>How to read it, connect again and count it: <a href="/docs/streams">Streams</a>. The fields of a board are those of <a href="/docs/operations/${operationSlug(path)}"><code>${path}</code></a>.</p>
${parameterList(query)}
${errorList(operation)}
</div>
</div>`;
}

interface Parameter {
  name: string;
  required: boolean;
  description?: string;
  schema: { type?: string; default?: unknown; examples?: unknown[]; minimum?: number; maximum?: number };
}

function parameterList(query: Operation['query']): Html {
  const parameters = toParameters(query) as unknown as Parameter[];
  return html`<h2 id="parameters">Parameters</h2>
<dl class="fields">${parameters.map(
    ({
      name,
      required,
      description,
      schema,
    }) => html`<div><dt><code>${name}</code> <span class="type">${schema.type === 'array' ? 'list' : typeName(schema)}</span>
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

function fieldEntry(entry: Field | Variant): Html {
  if ('variant' in entry)
    return html`<div class="variant"><dt>${entry.variant}</dt><dd>It has these fields:</dd></div>\n`;
  const { path, type, description } = entry;
  const cut = path.lastIndexOf('.') + 1;
  return html`<div><dt><code><span class="type">${path.slice(0, cut)}</span>${path.slice(cut)}</code> <span class="type">${type}</span></dt>
<dd>${renderInline(description)}</dd></div>
`;
}

function errorList(operation: Operation): Html {
  return html`<h2 id="errors">Errors</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Errors"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Means</th></tr></thead>
<tbody>${errorsOf(operation).map(
    (
      code,
    ) => html`<tr><td><span class="status-code">${ERROR_TABLE[code].status}</span></td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${ERROR_DOCS[code].title}</td></tr>
`,
  )}</tbody></table></div>`;
}
