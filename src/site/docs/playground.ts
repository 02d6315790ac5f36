import { toParameters } from '../../http/openapi/schema.ts';
import { urlOf } from '../../http/paths.ts';
import { type Operation, streamPath } from '../../operation.ts';
import { type Html, html } from '../html.ts';

/** The script and the styles of the form; Leaflet is loaded when a map is opened. */
export const PLAYGROUND_HEAD = html`<link rel="stylesheet" href="/assets/playground.css">
<script type="module" src="/assets/playground.js"></script>`;

/** Where the search suggests values, and where a map gives them. */
const SUGGESTED: Readonly<Record<string, 'stops' | 'places'>> = {
  stop: 'stops',
  stop_id: 'stops',
  stops: 'stops',
  from: 'places',
  to: 'places',
};
const ON_A_MAP = ['lat', 'near', 'bbox', 'from', 'to'];
/** So many parameters are seen at once, beside the required ones and those of the example. */
const SHOWN = 4;

/** A parameter as OpenAPI describes it. */
export interface Parameter {
  name: string;
  required: boolean;
  description?: string;
  schema: {
    type?: string;
    default?: unknown;
    examples?: unknown[];
    minimum?: number;
    maximum?: number;
    enum?: string[];
    items?: { enum?: string[] };
  };
}

/**
 * A form for requests of the operation, or of its stream, with a place for the response. Scripts show it: without them the
 * page is to be read. `testKey` is the sandbox's key.
 */
export function playground(operation: Operation, testKey: string | null, { isStream = false } = {}): Html {
  const { id, example } = operation;
  const url = isStream ? streamPath(operation) : operation.path;
  const parameters = toParameters(operation) as unknown as Parameter[];
  const given = new URLSearchParams(example.query);
  const isFirst = ({ name, required }: Parameter, index: number) => required || given.has(name) || index < SHOWN;
  const [first, more] = [parameters.filter(isFirst), parameters.filter((one, index) => !isFirst(one, index))];
  const fields = (listed: readonly Parameter[]) =>
    html`<div class="parameters">${listed.map((one) => control(one, given.get(one.name) ?? ''))}</div>`;
  const hasMap = parameters.some(({ name }) => ON_A_MAP.includes(name));
  return html`<section id="try" class="playground" aria-labelledby="try-title" data-operation="${id}" data-path="${url}" data-example="${urlOf(url, example.query)}"${isStream && html` data-stream`} hidden>
<h2 id="try-title"><a href="#try">Try it</a></h2>
<div class="halves">
<form>
${fields(first)}
${more.length > 0 && html`<details><summary>More parameters: ${more.map(({ name }) => name).join(', ')}</summary>${fields(more)}</details>`}
${hasMap && html`<details id="try-map"><summary>Choose on a map</summary><div class="map"></div></details>`}
<div class="parameters"><div class="wide"><label for="try-key">Key <span class="hint">${
    testKey
      ? 'The key of this sandbox. Yours stays in this browser.'
      : html`It stays in this browser. <a href="/signup">Get one</a>.`
  }</span></label><input type="text" id="try-key" value="${testKey}" autocomplete="off" autocapitalize="off" spellcheck="false"></div></div>
<p class="row"><button>${isStream ? 'Start' : 'Send'}</button> <span class="hint" id="try-cost">${isStream ? 'Counts as a request a minute.' : 'Counts as any other request.'}</span></p>
</form>
<div class="outcome">
<p><code id="try-url"></code></p>
<p role="status" id="try-status">The response will be here.</p>
<details id="try-headers" hidden><summary>Headers, and what they mean</summary><dl class="fields"></dl></details>
<pre tabindex="0" role="region" aria-label="Response" id="try-body" hidden><code></code></pre>
</div>
</div>
</section>`;
}

function control(parameter: Parameter, value: string): Html {
  const { name, required, description = '', schema } = parameter;
  const id = `try-${name}`;
  const choices = schema.items?.enum;
  const label = html`${name}${required && html` <span class="required">required</span>`}`;
  if (choices) {
    const chosen = value.split(',');
    return html`<fieldset class="wide" title="${description}"><legend>${label}</legend>${choices.map(
      (choice) =>
        html`<label class="chip"><input type="checkbox" name="${name}" value="${choice}" data-type="array"${chosen.includes(choice) && html` checked`}> <span>${choice}</span></label> `,
    )}</fieldset>
`;
  }
  const options = schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : null);
  const attributes = html`id="${id}" name="${name}" data-type="${schema.type}"`;
  const standard = schema.default === undefined ? '' : `default: ${schema.default}`;
  if (options) {
    return html`<div title="${description}"><label for="${id}">${label}</label><select ${attributes}><option value="">${standard || '–'}</option>${options.map(
      (option) => html`<option${option === value && html` selected`}>${option}</option>`,
    )}</select></div>
`;
  }
  const suggested = SUGGESTED[name];
  const type = name === 'date' || name === 'time' ? name : 'text';
  return html`<div class="${suggested && 'suggested'}" title="${description}"><label for="${id}">${label}</label><input type="${type}" ${attributes} value="${value}" placeholder="${standard || schema.examples?.[0]?.toString()}" autocomplete="off"${suggested && html` data-suggest="${suggested}"`}></div>
`;
}
