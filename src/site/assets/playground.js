// The form of an operation's page: it writes the URL, the samples and the address of the page, and shows the response.
import { keepKey } from './explore/api.js';
import { suggest } from './explore/suggest.js';
import { h } from './explore/view.js';

const box = document.getElementById('try');
const find = (id) => document.getElementById(`try-${id}`);
const form = box.querySelector('form');
const { path, operation } = box.dataset;
const isStream = 'stream' in box.dataset;
const button = form.querySelector('button');
const body = find('body');
const key = find('key');
/** Of events of a stream. */
const MOST_EVENTS = 20;
/** Longer texts are shown without colours and links. */
const MOST_COLOURED = 200_000;

const fields = [...form.querySelectorAll('[name]')];
const names = [...new Set(fields.map(({ name }) => name))];
/** The samples as they came, before this script changed them. */
const samples = [...document.querySelectorAll('.code-column :is(.tabs code, .language-sh)')].map((code) => ({
  code,
  language: code.className.replace('language-', ''),
  text: code.textContent,
}));
const exampleUrl = box.dataset.example;
let request = null;

// The query

/** What the fields say, as pairs of name and text; empty ones are left out. */
function readFields() {
  return names
    .map((name) => [name, readField(fields.filter((field) => field.name === name))])
    .filter(([, value]) => value);
}

function readField([field, ...others]) {
  if (field.type === 'checkbox') {
    return [field, ...others]
      .filter(({ checked }) => checked)
      .map(({ value }) => value)
      .join(',');
  }
  // As the operations take them: YYYYMMDD and HHmm.
  return field.type === 'date' || field.type === 'time' ? field.value.replaceAll(/[-:]/g, '') : field.value.trim();
}

function writeField(name, value) {
  for (const field of fields.filter((one) => one.name === name)) {
    if (field.type === 'checkbox') field.checked = value.split(',').includes(field.value);
    else if (field.type === 'date') field.value = value.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
    else if (field.type === 'time') field.value = value.replace(/^(\d\d)(\d\d)$/, '$1:$2');
    else field.value = value;
  }
}

/** The address of the page has the parameters, so that it can be passed on; the key is never in it. */
function readAddress() {
  const given = new URLSearchParams(location.search);
  if (![...given.keys()].some((name) => names.includes(name))) return;
  for (const name of names) writeField(name, given.get(name) ?? '');
}

const encode = (value) =>
  encodeURIComponent(value).replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll("'", '%27');
const toQuery = (pairs) => pairs.map(([name, value]) => `${name}=${encode(value)}`).join('&');

function toUrl(pairs) {
  const inPath = (name) => path.includes(`{${name}}`);
  const values = Object.fromEntries(pairs);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encode(values[name] ?? ''));
  const query = toQuery(pairs.filter(([name]) => !inPath(name)));
  return query ? `${filled}?${query}` : filled;
}

function update() {
  const pairs = readFields();
  find('url').textContent = `GET ${toUrl(pairs)}`;
  const query = toQuery(pairs);
  history.replaceState(null, '', `${location.pathname}${query && `?${query}`}${location.hash}`);
  for (const sample of samples) sample.code.replaceChildren(...coloured(toSample(sample, pairs)));
}

// The samples

/** The code by which each language reads the key from the environment, for which the key itself is put. */
const KEYS = {
  sh: ['$TIS_KEY', (text) => text],
  mcp: ['$TIS_KEY', (text) => text],
  js: ['process.env.TIS_KEY', (text) => `'${text}'`],
  ts: ["process.env.TIS_KEY ?? ''", (text) => `'${text}'`],
  python: ['os.environ["TIS_KEY"]', (text) => `"${text}"`],
  kotlin: ['System.getenv("TIS_KEY")', (text) => `"${text}"`],
  swift: ['ProcessInfo.processInfo.environment["TIS_KEY"]!', (text) => `"${text}"`],
};

function toSample({ language, text }, pairs) {
  const [placeholder, write] = KEYS[language];
  const asked = text
    .replace(exampleUrl, () => toUrl(pairs))
    .replace(new RegExp(`${operation}\\(\\{.*\\}\\)`), () => `${operation}({ ${toArguments(pairs)} })`)
    .replace(
      /"arguments":\{.*\}(?=\}\})/,
      () => `"arguments":${JSON.stringify(Object.fromEntries(pairs)).replaceAll("'", '\\u0027')}`,
    );
  return /^\w+$/.test(key.value) ? asked.replace(placeholder, () => write(key.value)) : asked;
}

/** The arguments of the function of the generated client. */
function toArguments(pairs) {
  const group = (name, listed) =>
    listed.length > 0
      ? [`${name}: { ${listed.map(([field, value]) => `${field}: ${toLiteral(field, value)}`).join(', ')} }`]
      : [];
  const isPart = ([name]) => path.includes(`{${name}}`);
  return [
    ...group('path', pairs.filter(isPart)),
    ...group(
      'query',
      pairs.filter((pair) => !isPart(pair)),
    ),
  ].join(', ');
}

function toLiteral(name, value) {
  const { type } = fields.find((field) => field.name === name).dataset;
  const quote = (text) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  if (type === 'array') return `[${value.split(',').map(quote).join(', ')}]`;
  const isPlain =
    (/integer|number/.test(type) && Number.isFinite(Number(value))) ||
    (type === 'boolean' && /^(true|false)$/.test(value));
  return isPlain ? value : quote(value);
}

const TOKEN =
  /(\/\/[^\n]*)|("[^"\n]*"|'[^'\n]*')|\b(as|async|await|const|curl|from|fun|import|if|let|new|throw|try|val|var)\b|( -[A-Za-z] )/g;
const KINDS = ['comment', 'string', 'word', 'option'];

/** The text with its parts coloured, as the server colours them. */
function* coloured(text) {
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    yield text.slice(end, match.index);
    const kind = KINDS.find((_, index) => match[index + 1] !== undefined);
    // The https:// of an address starts no comment.
    const isAddress = kind === 'comment' && text[match.index - 1] === ':';
    yield isAddress ? match[0] : h('span', { class: `code-${kind}` }, match[0]);
    end = match.index + match[0].length;
  }
  yield text.slice(end);
}

// The request

async function send() {
  const isStop = isStream && request !== null;
  request?.abort();
  request = null;
  button.textContent = isStream ? 'Start' : 'Send';
  if (isStop) return say('Stopped.');
  if (!/^[\x21-\x7e]+$/.test(key.value)) return say('Put a key into the field “Key” first.');
  const current = new AbortController();
  request = current;
  const startedAt = performance.now();
  say('Waiting for the response …');
  try {
    const headers = { authorization: `Bearer ${key.value}` };
    const response = await fetch(toUrl(readFields()), { headers, signal: current.signal, cache: 'no-store' });
    await showHeaders(response.headers);
    const isFollowed = isStream && response.ok;
    if (isFollowed) {
      button.textContent = 'Stop';
      say(`${response.status} ${response.statusText} · the events as they come`);
      await follow(response);
      say('The stream has ended.');
    } else {
      const text = await response.text();
      const took = Math.round(performance.now() - startedAt);
      say(`${response.status} ${response.statusText} · ${took} ms · ${size(text.length)}`);
      show(text);
    }
  } catch {
    if (current.signal.aborted) return;
    say('The service cannot be reached. Are you online?');
  }
  if (request === current) request = null;
  if (isStream) button.textContent = 'Start';
}

function say(text) {
  find('status').textContent = text;
}

function size(bytes) {
  return bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} KB`;
}

function show(text) {
  body.hidden = false;
  const code = body.querySelector('code');
  const value = parse(text);
  const isLong = text.length > MOST_COLOURED;
  if (value === undefined) code.replaceChildren(text);
  else code.replaceChildren(...(isLong ? [JSON.stringify(value, null, 2)] : json(value)));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON with its parts coloured; the name of a field leads to its description on this page. */
function* json(value, indent = '\n', field = '') {
  const inner = `${indent}  `;
  if (Array.isArray(value) && value.length > 0) {
    for (const [index, one] of value.entries()) {
      yield (index === 0 ? '[' : ',') + inner;
      yield* json(one, inner, field);
    }
    yield `${indent}]`;
  } else if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    for (const [index, [name, one]] of Object.entries(value).entries()) {
      yield (index === 0 ? '{' : ',') + inner;
      const anchor = `field${field}-${name}`;
      const label = h('span', { class: 'code-field' }, `"${name}"`);
      yield document.getElementById(anchor) ? h('a', { href: `#${anchor}`, tabindex: '-1' }, label) : label;
      yield ': ';
      yield* json(one, inner, `${field}-${name}`);
    }
    yield `${indent}}`;
  } else {
    const kind = { string: 'string', number: 'number' }[typeof value] ?? 'word';
    yield h('span', { class: `code-${kind}` }, JSON.stringify(value));
  }
}

/** Adds each event on top, with the time at which it came. */
async function follow(response) {
  body.hidden = false;
  const code = body.querySelector('code');
  code.replaceChildren();
  let rest = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + part).split('\n\n');
    rest = events.pop();
    for (const event of events.filter((one) => one.includes('data:'))) {
      const data = parse(/^data: ?(.*)$/m.exec(event)?.[1] ?? '');
      const name = /^event: ?(.*)$/m.exec(event)?.[1] ?? 'message';
      const title = h('span', { class: 'code-comment' }, `${new Date().toLocaleTimeString()} ${name}\n`);
      code.prepend(h('span', {}, title, ...json(data ?? event), '\n\n'));
    }
    while (code.children.length > MOST_EVENTS) code.lastChild.remove();
  }
}

let meanings = null;

/** Those headers that the description of the API knows, with their meaning. */
async function showHeaders(headers) {
  meanings ??= fetch('/openapi.json').then(async (response) => (await response.json()).components.headers);
  const known = await meanings.catch(() => ({}));
  const listed = Object.entries(known).filter(([name]) => headers.has(name));
  const entries = listed.map(([name, { description }]) =>
    h(
      'div',
      { title: description },
      h('dt', {}, h('code', {}, `${name}: ${headers.get(name)}`)),
      h('dd', {}, description),
    ),
  );
  find('headers')
    .querySelector('dl')
    .replaceChildren(...entries);
  find('headers').hidden = entries.length === 0;
}

// Suggestions and the map

async function findPlaces(field, text) {
  const isStops = field.dataset.suggest === 'stops';
  // Of a list, the last one is being typed.
  const q = text.split(',').at(-1).trim();
  if (!/[a-z]{3}/i.test(q) || q.includes(':')) return [];
  const url = `/v1/${isStops ? 'stops' : 'places'}/search?limit=6&q=${encodeURIComponent(q)}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${key.value}` } });
  const { results = [] } = response.ok ? await response.json() : {};
  return results.map(({ stop_id, id, name, suburb, type }) => ({
    id: stop_id ?? id,
    name,
    hint: suburb || type || '',
  }));
}

function choose(field, id) {
  const before = field.dataset.type === 'array' ? field.value.split(',').slice(0, -1) : [];
  field.value = [...before, id].join(',');
  update();
}

/** A click on the map fills in the field of a place that was used last, at first the first one. */
async function openMap() {
  const place = find('map').querySelector('.map');
  const isOnMap = ({ name }) => ['lat', 'lng', 'near', 'bbox', 'from', 'to'].includes(name);
  let target = fields.find(isOnMap);
  form.addEventListener('focusin', (event) => {
    if (fields.includes(event.target) && isOnMap(event.target)) target = event.target;
  });
  for (const file of ['leaflet/leaflet.css', 'explore/map.css', 'lines.css'])
    await load('link', { rel: 'stylesheet', href: `/assets/${file}` });
  await load('script', { src: '/assets/leaflet/leaflet.js' });
  const { drawBase } = await import('./explore/base-map.js');
  const map = globalThis.L.map(place, { minZoom: 5, maxZoom: 18 }).setView([-33.8688, 151.2093], 12);
  map.attributionControl.setPrefix(false);
  drawBase(map, place, () => []);
  map.on('click', ({ latlng: { lat, lng } }) => {
    const at = [lat.toFixed(6), lng.toFixed(6)];
    if (target.name === 'bbox') writeField('bbox', toBounds(map.getBounds()));
    else if (target.name === 'lat' || target.name === 'lng') {
      writeField('lat', at[0]);
      writeField('lng', at[1]);
    } else writeField(target.name, at.join(','));
    update();
  });
}

function toBounds(bounds) {
  return [bounds.getSouth(), bounds.getWest(), bounds.getNorth(), bounds.getEast()]
    .map((one) => one.toFixed(4))
    .join(',');
}

function load(name, attributes) {
  return new Promise((resolve, reject) => {
    document.head.append(h(name, { ...attributes, onload: resolve, onerror: reject }));
  });
}

// Starts when all of the above is defined.

readAddress();
box.hidden = false;
keepKey(key);
update();
form.addEventListener('input', update);
form.addEventListener('change', update);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  send();
});
for (const field of fields.filter(({ dataset }) => dataset.suggest)) {
  suggest(field, { find: (text) => findPlaces(field, text), onChoose: (found) => choose(field, found.id) });
}
find('map')?.addEventListener('toggle', openMap, { once: true });
