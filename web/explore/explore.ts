import type { FastifyInstance } from 'fastify';
import { prepare } from '#src/http/send-response.ts';
import { MODES } from '#src/transit/mode.ts';
import { MODE_NAMES } from '../assets/explore/mode-names.js';
import { type Html, html } from '../html.ts';
import { fixedPage, type Layout } from '../layout.ts';

export interface ExploreOptions {
  layout: Layout;
  testKey: () => Promise<string | null>;
  /** URL template of map tiles, `https://tiles.example/{z}/{x}/{y}.png`; null: the map shows only land and water. */
  tileUrl: string | null;
  tileAttribution: string;
  /** Lines and stops to draw without tiles, `{ lines, stops }`; null outside the sandbox. */
  networkMap: object | null;
  /** Whether the service knows where vehicles are. */
  hasVehicles: boolean;
}

/** `GET /explore`: the operations on a map. The browser calls the API like any other front end. */
export async function explore(app: FastifyInstance, options: ExploreOptions): Promise<void> {
  const network = JSON.stringify(options.networkMap ?? { lines: [], stops: [] });
  app.get(
    '/explore/network.json',
    prepare(() => network, { type: 'application/json; charset=utf-8', maxAgeSeconds: 3600 }),
  );

  const page = (testKey: string | null) =>
    options.layout({
      title: 'Explorer',
      description: 'Stops, live boards, journeys, lines, vehicles and reach on a map.',
      path: '/explore',
      isWide: true,
      head: html`<link rel="stylesheet" href="/assets/leaflet/leaflet.css">
<link rel="stylesheet" href="/assets/explore/map.css">
<link rel="stylesheet" href="/assets/explore/explore.css">
<script src="/assets/leaflet/leaflet.js" defer></script>
<script type="module" src="/assets/copy.js"></script>
<script type="module" src="/assets/explore/explore.js"></script>`,
      body: exploreBody(options, testKey),
    });
  app.get('/explore', fixedPage(page, options.testKey));
}

function exploreBody({ tileUrl, tileAttribution, hasVehicles }: ExploreOptions, testKey: string | null): Html {
  return html`<div class="explorer">
<div class="panel stack" id="panel" data-height="half">
<button type="button" class="plain" id="sheet-handle"><span class="visually-hidden">Show more</span></button>
<h1>Explorer</h1>
<noscript><p class="notice">The explorer needs JavaScript. Without it, try <a href="/#start">curl</a>.</p></noscript>
<form id="search" role="search">
<label for="q" class="visually-hidden-on-phones">Find a stop, a place or a line</label>
<div class="row suggested"><input type="search" id="q" required maxlength="100" placeholder="A stop, a place or a line"><button>Find</button></div>
</form>
<div class="tools"><button type="button" class="plain" id="here">Stops near me</button> ${fold('trip', 'Journey')} ${fold('filters', 'Filters')} <button type="button" class="plain" id="around">Search this area</button> <button type="button" class="plain" id="reach">Reach from here</button></div>
<form id="trip" class="trip" aria-labelledby="trip-title" hidden>
<h2 id="trip-title">Journey</h2>
${END_FIELDS}
<p class="field-error" id="missing" role="alert"></p>
<p class="row"><button id="plan">Plan</button> <button type="button" class="plain" id="swap">Swap</button></p>
${OPTIONS}
</form>
${filterFields(hasVehicles)}
<p id="message" role="status" aria-live="polite" tabindex="-1"></p>
<section id="result" aria-label="Response"></section>
<section id="stops" aria-label="Stops"></section>
<details id="notices" hidden><summary></summary><div></div></details>
<details id="raw" hidden><summary>JSON and curl</summary>
<div class="copyable"><pre tabindex="0"><code id="curl"></code></pre></div>
<div class="copyable"><pre tabindex="0"><code id="json"></code></pre></div>
</details>
<details id="key-box"><summary>Your key</summary>
<label for="key">Key <span class="hint">${
    testKey
      ? 'The sandbox’s key is filled in. Your own key stays in this browser.'
      : html`It stays in this browser. <a href="/signup">Get one</a>.`
  }</span></label>
<input type="text" id="key" value="${testKey}" autocomplete="off" autocapitalize="off" spellcheck="false">
</details>
<p><button type="button" class="plain" id="copy-link">Copy a link to this view</button></p>
</div>
<div id="map" class="map" tabindex="0" role="application" aria-label="Map. Arrow keys move it, plus and minus zoom." data-tiles="${tileUrl}" data-attribution="${tileAttribution}"></div>
</div>`;
}

/** A button that shows and hides a part of the panel. */
const fold = (id: string, label: string) =>
  html`<button type="button" class="plain" aria-expanded="false" aria-controls="${id}">${label}</button>`;

const VEHICLES = html`<p><label class="check"><input type="checkbox" id="vehicles" checked> <span>Vehicles on the map</span></label> <span class="hint" id="vehicles-note"></span></p>`;

const placeField = (id: string, label: string, placeholder: string) =>
  html`<div class="suggested"><label for="${id}">${label}</label><input type="text" id="${id}" maxlength="100" placeholder="${placeholder}"></div>
`;

const END_FIELDS = [
  placeField('from', 'From', 'A stop, an address, a sight'),
  placeField('to', 'To', 'A stop, an address, a sight'),
];

/** The choices of a rider; the empty value of each is the usual one. */
const OPTIONS = html`<details id="options"><summary>Options</summary>
${placeField('via', 'Via', 'A stop on the way')}
<p class="row"><label>Pace <select name="pace"><option value="slow">Slow</option><option value="" selected>Normal</option><option value="fast">Fast</option></select></label>
<label>Longest walk <select name="max_walk"><option value="">As usual</option>${[200, 400, 600, 800].map((metres) => html`<option value="${String(metres)}">${String(metres)} m</option>`)}</select></label></p>
<p class="row"><label>Time for a change <select name="min_change"><option value="">As usual</option>${[3, 5, 10, 15].map((minutes) => html`<option value="${String(minutes)}">${String(minutes)} min</option>`)}</select></label>
<label>Prefer <select name="prefer"><option value="">The fastest</option><option value="fewer_changes">Fewer changes</option><option value="less_walking">Less walking</option></select></label></p>
<p class="row"><label>Rides to book <select name="booking"><option value="">Included</option><option value="exclude">Left out</option></select></label></p>
<p class="hint">Pace and walks also count for reach.</p>
</details>`;

function filterFields(hasVehicles: boolean): Html {
  return html`<div id="filters" hidden>
<fieldset id="modes"><legend>Modes and their colours</legend>${MODES.map(
    (mode) =>
      html`<label class="chip"><input type="checkbox" name="modes" value="${mode}" checked> <span class="swatch ${mode}"></span> ${MODE_NAMES[mode]}</label> `,
  )}</fieldset>
<details id="when"><summary>Date and time</summary>
<p class="row"><label>Date <input type="date" id="date"></label> <label>Time <input type="time" id="time"></label></p>
<p><label class="check"><input type="checkbox" id="arrive-by"> <span>Arrive by this time (journeys)</span></label></p>
<p class="hint">In Sydney. Empty: now.</p>
</details>
${hasVehicles && VEHICLES}
</div>`;
}
