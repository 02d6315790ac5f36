import { toParameters } from '#src/http/openapi/schema.ts';
import { urlOf } from '#src/http/paths.ts';
import type { Operation } from '#src/operations/operation.ts';
import { streamPath } from '#src/routes.ts';
import { placeParameter, stopIdParameter } from '#src/transit/place.ts';
import { dateParameter, timeParameter } from '#src/transit/time.ts';
import { callSampleOf, placeParameters, sampleOf, streamSampleOf } from '../assets/sample.js';
import { sampleTabs } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { heading, plainText } from './markdown.ts';

/** A parameter as described in OpenAPI. */
export interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: {
    type?: string;
    pattern?: string;
    enum?: string[];
    items?: { enum?: string[] };
    default?: unknown;
    examples?: unknown[];
    minimum?: number;
    maximum?: number;
  };
}

export function listParameters(operation: Operation): Parameter[] {
  return toParameters(operation) as unknown as Parameter[];
}

/** The styles and the script that a page with a playground needs. */
export const PLAYGROUND_HEAD = html`<link rel="stylesheet" href="/assets/playground.css">
<script type="module" src="/assets/playground.js"></script>`;

/**
 * Renders an operation's request in several languages, and a form generated from its parameters. `assets/playground.js` shows
 * the form, updates the samples, sends the request and shows the response. Without scripts, only the samples are shown.
 */
export function playground(
  operation: Operation,
  options: {
    publicUrl: string;
    testKey: string | null;
    tileUrl: string | null;
    tileAttribution: string;
    isStream?: boolean;
    /** Shown until the first response. */
    example: Html;
  },
): Html {
  const { publicUrl, testKey, tileUrl, tileAttribution, isStream = false } = options;
  const { id, example } = operation;
  const path = isStream ? streamPath(operation) : operation.path;
  const values = new URLSearchParams(example.query);
  const parameters = listParameters(operation);
  const isShown = ({ name, required }: Parameter) => required || values.has(name);
  const hiddenParameters = parameters.filter((parameter) => !isShown(parameter));
  const draw = (parameter: Parameter) => field(parameter, values.get(parameter.name) ?? '');
  const url = urlOf(path, example.query);
  return html`<div class="play">
<section id="try" class="try" aria-label="Try it" hidden>
<h2><a href="#try">Try it</a></h2>
<form id="try-form" autocomplete="off" novalidate data-operation="${id}" data-path="${path}" data-url="${publicUrl}" data-stream="${isStream && 'true'}" data-tiles="${tileUrl}" data-attribution="${tileAttribution}">
${parameters.filter(isShown).map(draw)}
<details id="try-key-box"><summary>Key</summary>
<label for="try-key">Your key <span class="hint">${
    testKey
      ? 'The sandbox’s key is filled in. Your own key stays in this browser and never appears in the address.'
      : html`It stays in this browser and never appears in the address. <a href="/signup">Get one</a>.`
  }</span></label>
<input type="text" id="try-key" value="${testKey}" autocomplete="off" autocapitalize="off" spellcheck="false">
</details>
<p class="actions"><button>${isStream ? 'Follow' : 'Send'}</button>
${!isStream && html`<button type="button" class="plain" id="try-tool" title="The Model Context Protocol">Call as a tool</button>`}
<button type="reset" class="plain">Reset</button></p>
${hiddenParameters.length > 0 && html`<details id="try-others" class="others"><summary>${hiddenParameters.length} more ${hiddenParameters.length === 1 ? 'parameter' : 'parameters'}</summary>${hiddenParameters.map(draw)}</details>`}
</form>
</section>
<div class="request">
${heading('request', 'Request')}
<p class="method"><span class="status-code">GET</span> <code id="try-url">${publicUrl}${url}</code></p>
${isStream ? streamSamples(publicUrl, url) : samples(operation, publicUrl)}
<section id="try-response" aria-label="Response" tabindex="-1"><p role="status" id="try-status"></p>
<div id="try-shown">${options.example}</div></section>
</div>
</div>`;
}

/** Returns the example's parameters by place (path or query), as JSON values. */
export function exampleArguments(operation: Operation) {
  const values = new URLSearchParams(operation.example.query);
  const parameters = listParameters(operation).map(({ name, in: place, schema }) => {
    return { name, place, type: schema.type ?? '', text: values.get(name) ?? '' };
  });
  return placeParameters(parameters);
}

function samples(operation: Operation, publicUrl: string): Html {
  const { id, path, example } = operation;
  const { curl, javascript, python, kotlin, swift } = sampleOf(publicUrl, urlOf(path, example.query));
  const { client, tool } = callSampleOf(publicUrl, id, exampleArguments(operation));
  return sampleTabs([
    { language: 'sh', code: curl },
    { language: 'js', code: javascript },
    { language: 'ts', code: client },
    { language: 'python', code: python },
    { language: 'kotlin', code: kotlin },
    { language: 'swift', code: swift },
    { language: 'mcp', code: tool },
  ]);
}

function streamSamples(publicUrl: string, url: string): Html {
  const { curl, javascript } = streamSampleOf(publicUrl, url);
  return sampleTabs([
    { language: 'sh', code: curl },
    { language: 'js', code: javascript },
  ]);
}

/** Renders one parameter of the form. `value` is its query text. */
function field(parameter: Parameter, value: string): Html {
  const { name, required, description = '', schema } = parameter;
  const id = `try-${name}`;
  const about = html`<code>${name}</code>${required && html` <span class="required">required</span>`}`;
  const hint = html`<span class="hint" id="${id}-hint">${firstSentence(plainText(description))}</span>`;
  const data = html`data-name="${name}" data-in="${parameter.in}" data-type="${schema.type}" data-kind="${kindOf(schema)}"`;
  const choices = schema.items?.enum;
  if (choices) {
    const chosenValues = value.split(',');
    return html`<fieldset class="field" ${data} aria-describedby="${id}-hint"><legend>${about}</legend>${choices.map(
      (choice) =>
        html`<label class="chip"><input type="checkbox" id="${id}-${choice}" name="${name}" value="${choice}"${chosenValues.includes(choice) && html` checked`}> <span>${choice}</span></label> `,
    )}${hint}</fieldset>
`;
  }
  if (schema.type === 'boolean')
    return html`<div class="field" ${data}><label class="check"><input type="checkbox" name="${name}" value="true" aria-describedby="${id}-hint"${value === 'true' && html` checked`}> <span>${about}</span></label>${hint}</div>
`;
  return html`<div class="field suggested" ${data}><label for="${id}">${about}</label>
${control(parameter, value, id)}${hint}</div>
`;
}

function control({ name, schema }: Parameter, value: string, id: string): Html {
  const standard = schema.default === undefined ? '' : String(schema.default);
  if (schema.enum)
    return html`<select name="${name}" id="${id}" aria-describedby="${id}-hint"><option value="">${standard ? `${standard} (default)` : 'any'}</option>${schema.enum
      .filter((choice) => choice !== standard)
      .map((choice) => html`<option${choice === value && html` selected`}>${choice}</option>`)}</select>`;
  const kind = kindOf(schema);
  const inputValue = kind === 'date' ? toDate(value) : kind === 'time' ? toTime(value) : value;
  const example = standard || `such as ${schema.examples?.[0]}`;
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  return html`<input type="${kind === 'date' || kind === 'time' ? kind : 'text'}" name="${name}" id="${id}" value="${inputValue}" placeholder="${example}"${isNumber && html` inputmode="decimal"`} aria-describedby="${id}-hint" autocapitalize="off" spellcheck="false">`;
}

function toDate(value: string): string {
  return value.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
}

function toTime(value: string): string {
  return value.replace(/^(\d\d)(\d\d)$/, '$1:$2');
}

export function firstSentence(text: string): string {
  return text.split(/(?<=\.) /, 1)[0] ?? '';
}

/** Chooses the input help for a parameter from its schema. */
function kindOf({ type, pattern, items, examples = [], minimum, maximum }: Parameter['schema']): string | null {
  const patternOf = (schema: { meta(): Record<string, unknown> | undefined }) => schema.meta()?.pattern;
  const example = String(examples[0]);
  if (type === 'array') {
    const isStop = (text: string) => stopIdParameter.safeParse(text).success;
    return !items?.enum && example.split(',').every(isStop) ? 'stop' : null;
  }
  if (type === 'number' && minimum === -90 && maximum === 90) return 'latitude';
  if (type === 'number' && minimum === -180 && maximum === 180) return 'longitude';
  if (pattern === undefined) return null;
  if (pattern === patternOf(stopIdParameter)) return 'stop';
  if (pattern === patternOf(placeParameter)) return 'place';
  if (pattern === patternOf(dateParameter)) return 'date';
  if (pattern === patternOf(timeParameter)) return 'time';
  const numbers = /^-?\d+\.\d+(,-?\d+\.\d+)+$/.test(example) ? example.split(',').length : 0;
  return { 2: 'position', 4: 'window' }[numbers] ?? null;
}
