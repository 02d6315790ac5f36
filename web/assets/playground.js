// The playground on an operation's page. Its form updates the address and the samples, sends the request and shows the response.
import { readParts } from './code.js';
import { keepKey, requestJson } from './explore/api.js';
import { describePlace, nameModes } from './explore/mode-names.js';
import { suggest } from './explore/suggest.js';
import { h } from './explore/view.js';
import { callSampleOf, operationUrl, placeParameters, sampleOf, streamSampleOf, toolCallOf } from './sample.js';

/** Highlighting longer texts would freeze the page. */
const MAX_HIGHLIGHTED = 100_000;
const MAX_EVENTS = 30;
const find = (id) => document.getElementById(id);
const form = find('try-form');
const output = find('try-response');
/** The content below the status in the response section: first the example, later the last response. */
const shown = find('try-shown');
const { operation, path, url: publicUrl, stream } = form.dataset;
const fields = [...form.querySelectorAll('.field')];
let current = new AbortController();

/** Returns a parameter's query text; empty if none is given. */
function textOf(field) {
  const { kind } = field.dataset;
  const inputs = [...field.querySelectorAll('[name]')].filter(({ type, checked }) => type !== 'checkbox' || checked);
  const text = inputs
    .map(({ value }) => value.trim())
    .filter(Boolean)
    .join(',');
  return kind === 'date' || kind === 'time' ? text.replaceAll(/[-:]/g, '') : text;
}

function write(field, text) {
  const { kind } = field.dataset;
  const chosen = text.split(',');
  for (const input of field.querySelectorAll('[name]')) {
    if (input.type === 'checkbox') input.checked = chosen.includes(input.value);
    else if (kind === 'date') input.value = text.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
    else if (kind === 'time') input.value = text.replace(/^(\d\d)(\d\d)$/, '$1:$2');
    else input.value = text;
  }
}

const listParameters = () =>
  fields.map((field) => {
    const { name, in: place, type } = field.dataset;
    return { name, place, type, text: textOf(field) };
  });

/** Encodes a value so that it needs no quoting in any sample's language. */
const encode = (text) => encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll("'", '%27');

const queryOf = (given) => given.map(({ name, text }) => `${name}=${encode(text)}`).join('&');

function addressOf(parameters) {
  const given = parameters.filter(({ text }) => text !== '');
  const inPath = given.filter(({ place }) => place === 'path');
  const filled = inPath.reduce((address, { name, text }) => address.replace(`{${name}}`, encode(text)), path);
  const query = queryOf(given.filter(({ place }) => place !== 'path'));
  return query ? `${filled}?${query}` : filled;
}

/** Keys need no quoting in any language. Any other text is not written into samples. */
const keyForSamples = () => (/^[\w-]+$/.test(find('try-key').value) ? find('try-key').value : null);

/** Updates the samples and the address of the page, which never contains the key. */
function update() {
  const query = queryOf(listParameters().filter(({ text }) => text !== ''));
  history.replaceState(null, '', (query ? `?${query}` : location.pathname) + location.hash);
  writeSamples();
}

function writeSamples() {
  const parameters = listParameters();
  const key = keyForSamples();
  const address = addressOf(parameters);
  find('try-url').textContent = publicUrl + address;
  const { curl, javascript, ...others } = (stream ? streamSampleOf : sampleOf)(publicUrl, address, key);
  const { client, tool } = callSampleOf(publicUrl, operation, placeParameters(parameters), key);
  const samples = { sh: curl, js: javascript, ts: client, mcp: tool, ...others };
  for (const [language, text] of Object.entries(samples)) {
    const code = document.querySelector(`.request .language-${language}`);
    if (code) colour(code, text);
  }
}

function colour(code, text) {
  code.replaceChildren(
    ...[...readParts(text)].map(([part, kind]) => (kind ? h('span', { class: `code-${kind}` }, part) : part)),
  );
}

/** Renders the value as JSON, with a link from each field name to its description. */
function block(value) {
  const text = JSON.stringify(value, null, 2);
  const parts = text.length > MAX_HIGHLIGHTED ? [text] : jsonParts(value);
  return h('pre', { tabindex: '0' }, h('code', { class: 'language-json' }, ...parts));
}

function* jsonParts(value, indent = '\n', anchor = 'field') {
  const isList = Array.isArray(value);
  const isRecord = typeof value === 'object' && value !== null;
  const entries = isRecord ? Object.entries(value) : [];
  if (entries.length === 0) {
    const kind = { string: 'string', number: 'number' }[typeof value] ?? 'word';
    yield isRecord ? JSON.stringify(value) : h('span', { class: `code-${kind}` }, JSON.stringify(value));
    return;
  }
  for (const [index, [name, inner]] of entries.entries()) {
    yield `${index === 0 ? (isList ? '[' : '{') : ','}${indent}  `;
    const own = isList ? anchor : `${anchor}-${name}`;
    if (!isList) {
      const label = h('span', { class: 'code-field' }, JSON.stringify(name));
      yield find(own) ? h('a', { href: `#${own}`, tabindex: '-1' }, label) : label;
      yield ': ';
    }
    yield* jsonParts(inner, `${indent}  `, own);
  }
  yield `${indent}${isList ? ']' : '}'}`;
}

/** Sends the request or tool call, and shows the response unless a newer request was sent meanwhile. */
async function send(request) {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const key = find('try-key').value;
  if (!/^[\x21-\x7e]*$/.test(key)) return tell('A key contains only letters, digits and underscores.');
  if (!key) find('try-key-box').open = true;
  find('try-status').textContent = 'Waiting for the response …';
  const started = performance.now();
  try {
    const headers = { ...request.headers, ...(key && { authorization: `Bearer ${key}` }) };
    const response = await fetch(request.url, { ...request, headers, signal, cache: 'no-store' });
    const took = `${Math.round(performance.now() - started)} ms`;
    if (response.headers.get('content-type')?.startsWith('text/event-stream') && stream)
      return await follow(response, took);
    const text = await response.text();
    const { size } = new Blob([text]);
    const parts = await partsOf(response, text);
    if (!signal.aborted) tell(`${nameOf(response)}, ${took}, ${(size / 1000).toFixed(1)} kB`, ...parts);
  } catch (error) {
    if (!signal.aborted) tell(`The service cannot be reached. ${error.message}`);
  }
}

const nameOf = ({ status, statusText }) => `${status} ${statusText}`.trim();

function tell(text, ...parts) {
  find('try-status').textContent = text;
  shown.replaceChildren(...parts);
  if (parts.length > 0) output.scrollIntoView({ block: 'nearest' });
}

async function partsOf(response, text) {
  const body = readJson(text);
  const notice = response.headers.get('x-notice');
  const { message, docs } = body?.error ?? {};
  return [
    notice && h('p', { class: 'notice' }, ...linked(notice)),
    docs && h('p', { class: 'notice bad' }, ...linked(message), ' ', h('a', { href: docs }, 'Cause and fix')),
    await headerList(response),
    h('div', { class: 'tall' }, body === null ? h('pre', { tabindex: '0' }, text) : block(body)),
  ].filter(Boolean);
}

/** Splits a sentence at addresses of this service. Those of operations lead to their playground, with the same parameters. */
function linked(sentence) {
  return sentence.split(/(\/(?:v1|docs)(?:\/[\w{}%-]+)+(?:\?[\w=&%,-]+)?)/).map((part, index) => {
    if (index % 2 === 0) return part;
    const [address, query] = part.split('?');
    const page = address.startsWith('/docs') ? address : operationUrl(address);
    return h('a', { href: query ? `${page}?${query}` : page }, part);
  });
}

/** Parses JSON, or the event that carries the response of a tool. */
function readJson(text) {
  try {
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  } catch {
    return null;
  }
}

let meanings = null;

/** Renders the documented response headers, with their descriptions. */
async function headerList({ headers }) {
  meanings ??= await fetch('/docs/headers.json')
    .then((response) => response.json())
    .catch(() => ({}));
  const sent = Object.entries(meanings).filter(([name]) => headers.has(name));
  if (sent.length === 0) return null;
  const items = sent.map(([name, meaning]) =>
    h(
      'details',
      { name: 'try-header' },
      h('summary', { title: meaning }, h('code', {}, `${name}: ${headers.get(name)}`)),
      h('p', { class: 'small' }, meaning),
    ),
  );
  const count = `${items.length} response headers`;
  return h('details', { class: 'headers' }, h('summary', {}, count), h('div', { class: 'header-list' }, ...items));
}

/** Shows events as they arrive, newest first and expanded. */
async function follow(response, took) {
  const list = h('ul', { class: 'events', 'aria-label': 'Events' });
  const stop = h('button', { type: 'button', class: 'plain', onclick: () => current.abort() }, 'Stop');
  tell(`${nameOf(response)}, ${took}: following`, h('p', {}, stop), (await headerList(response)) ?? '', list);
  let events = 0;
  let comments = 0;
  try {
    for await (const part of readBlocks(response.body)) {
      if (part.startsWith(':')) comments += 1;
      else if (/^data: /m.test(part)) {
        events += 1;
        for (const older of list.querySelectorAll('details')) older.open = false;
        list.prepend(eventItem(part));
        if (list.children.length > MAX_EVENTS) list.lastChild.remove();
      }
      find('try-status').textContent =
        `${nameOf(response)}: ${events} ${events === 1 ? 'event' : 'events'}, ${comments} comments`;
    }
    find('try-status').textContent += ', ended by the service';
  } catch {
    find('try-status').textContent += ', stopped';
  }
  stop.remove();
}

async function* readBlocks(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    yield* blocks.filter(Boolean);
  }
}

function eventItem(text) {
  const { event, id, data } = Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s, 2)));
  const body = readJson(data ?? '');
  const time = new Date().toLocaleTimeString('en-AU', { hourCycle: 'h23' });
  return h(
    'li',
    {},
    h(
      'details',
      { open: '' },
      h(
        'summary',
        {},
        h('code', {}, event ?? 'message'),
        ` ${time}`,
        id ? h('span', { class: 'hint' }, `id: ${id}`) : '',
      ),
      h('div', { class: 'tall' }, block(body)),
    ),
  );
}

const keyed = (place, query) => requestJson(place, query, find('try-key').value);

/** Returns the text after the last comma of a list. */
const lastPart = (text) => text.split(',').at(-1).trim();

async function findPlaces(text, kind) {
  const q = lastPart(text);
  // An identifier or a position needs no search.
  if (!/\p{L}{2}/u.test(q)) return [];
  if (kind === 'stop') {
    const { body } = await keyed('stops/search', { q, limit: 8 });
    return body.results.map(({ stop_id, name, modes }) => ({
      name,
      hint: nameModes(modes).join(' · '),
      text: stop_id,
    }));
  }
  const { body } = await keyed('places/search', { q, limit: 8 });
  const found = kind === 'place' ? body.results : body.results.filter(({ lat }) => lat !== null);
  return found.map(({ id, type, modes, name, lat, lng }) => ({
    name,
    hint: describePlace({ type, modes }),
    text: kind === 'place' ? id : `${lat},${lng}`,
    position: { lat, lng },
  }));
}

/** Suggests names while typing, and fills in the ID that the operation needs. */
function helpWithNames(field) {
  const { kind, type } = field.dataset;
  const input = field.querySelector('input');
  const hint = field.querySelector('.hint');
  const said = hint.textContent;
  input.addEventListener('input', () => {
    hint.textContent = said;
  });
  suggest(input, {
    find: (text) => findPlaces(text, kind),
    onChoose({ name, text }) {
      const others = type === 'array' ? input.value.split(',').slice(0, -1) : [];
      input.value = [...others, text].join(',');
      hint.textContent = name;
      update();
    },
  });
}

/** Adds a button that opens a map, and fills in its centre or window. */
function helpWithMap(field, kind) {
  const of = (wanted) => fields.find(({ dataset }) => dataset.kind === wanted);
  const button = h('button', { type: 'button', class: 'plain small map-button' }, 'Choose on a map');
  button.addEventListener('click', async () => {
    const { chooseOnMap } = await import('./place-picker.js');
    const isPair = kind === 'latitude';
    const text = isPair ? `${textOf(field)},${textOf(of('longitude'))}` : textOf(field);
    const chosen = await chooseOnMap({
      text,
      isWindow: kind === 'window',
      findPlaces: (typed) => findPlaces(typed, 'position'),
      ...form.dataset,
    });
    button.focus();
    if (chosen === null) return;
    const [lat, lng] = chosen.split(',');
    write(field, isPair ? lat : chosen);
    if (isPair) write(of('longitude'), lng);
    update();
  });
  field.append(button);
}

/** Finds a current ID, because the run or journey of the example has long ended. */
const CURRENT = {
  async run_id() {
    const { body } = await keyed('departures', { stop: '200070', modes: 'all', limit: 20, include: 'ids' });
    const runs = body.departures.filter(({ run_id }) => run_id);
    // At night, possibly no vehicle is tracked.
    return (runs.find(({ is_live }) => is_live) ?? runs[0])?.run_id;
  },
  async journey_id() {
    const { body } = await keyed('trips', { from: '202020', to: '209573', limit: 1, include: 'ids' });
    return body.journeys[0]?.journey_id;
  },
};

/** Replaces the example with a current ID, unless the field was changed or there is no key. */
async function beginWithCurrent() {
  const field = fields.find(({ dataset }) => Object.hasOwn(CURRENT, dataset.name));
  const input = field?.querySelector('input');
  if (!input || input.value !== input.defaultValue) return;
  const id = await CURRENT[field.dataset.name]().catch(() => null);
  if (!id || input.value !== input.defaultValue) return;
  input.defaultValue = id;
  input.value = id;
  writeSamples();
}

/** Choosing "all" unchecks the other choices, and choosing another one unchecks "all". */
function unchooseOthers({ target }) {
  if (target.type !== 'checkbox' || !target.checked) return;
  for (const box of form.querySelectorAll(`[name="${target.name}"]`))
    if (box !== target && (target.value === 'all' || box.value === 'all')) box.checked = false;
}

function openIfFilled() {
  const others = find('try-others');
  if (others && [...others.querySelectorAll('.field')].some((field) => textOf(field) !== '')) others.open = true;
}

for (const field of fields) {
  const { kind } = field.dataset;
  if (['stop', 'place', 'position'].includes(kind)) helpWithNames(field);
  if (['position', 'place', 'latitude', 'window'].includes(kind)) helpWithMap(field, kind);
}
if (location.search) {
  const given = new URLSearchParams(location.search);
  for (const field of fields) write(field, given.get(field.dataset.name) ?? '');
  openIfFilled();
}
keepKey(find('try-key'));
form.addEventListener('change', unchooseOthers);
form.addEventListener('input', update);
form.addEventListener('change', update);
form.addEventListener('reset', () => {
  const key = find('try-key').value;
  setTimeout(() => {
    find('try-key').value = key;
    update();
  });
});
let begun = beginWithCurrent();
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  await begun;
  send({ url: addressOf(listParameters()) });
});
find('try-key').addEventListener('input', writeSamples);
find('try-key').addEventListener('change', () => {
  begun = beginWithCurrent();
});
find('try-tool')?.addEventListener('click', async () => {
  await begun;
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify(toolCallOf(operation, placeParameters(listParameters())));
  send({ url: '/mcp', method: 'POST', headers, body });
});
addEventListener('pagehide', () => current.abort());
if (!find('try-key').value) find('try-key-box').open = true;
find('try').hidden = false;
writeSamples();
