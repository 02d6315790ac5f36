import type { FastifyInstance } from 'fastify';
import { RESET_TIME } from '#src/access/day.ts';
import { PLANS } from '#src/access/plan.ts';
import { within } from '#src/core/clock.ts';
import { upstreamTimeout } from '#src/errors/messages.ts';
import type { Service } from '#src/http/extension.ts';
import type { Departures } from '#src/operations/departures/departure.ts';
import type { Operation } from '#src/operations/operation.ts';
import type { Mode } from '#src/transit/mode.ts';
import { toSydneyClock } from '#src/transit/time.ts';
import { operationUrl } from '../assets/sample.js';
import { codeBlock, copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';
import { type Layout, sendPage } from '../layout.ts';

export interface HomeOptions extends Service {
  layout: Layout;
  testKey: () => Promise<string | null>;
}

/** API description, documentation, status (RFC 8631) and data licence, for programs that know only the server's name. */
const SERVICE_LINKS = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</docs>; rel="service-doc"; type="text/html"',
  '</status>; rel="status"',
  '<https://creativecommons.org/licenses/by/4.0/>; rel="license"',
].join(', ');

/** `GET /`, and `GET /live-board`: the board alone, which the page refreshes. */
export async function home(app: FastifyInstance, options: HomeOptions): Promise<void> {
  const liveBoard = async () => boardTable(await fetchHomeBoard(options), { ...options, now: options.now() });

  app.get('/live-board', async (_request, reply) => sendPage(reply, (await liveBoard()).markup));
  app.get('/', async (_request, reply) => {
    const [board, testKey] = await Promise.all([liveBoard(), options.testKey()]);
    const page = options.layout({
      title: 'Transit Information Service: departures and journeys for New South Wales and Canberra',
      description:
        'Live departures, nearby stops, stop search and journeys as plain JSON. Get a free key by email in a minute.',
      path: '/',
      head: html`<script type="module" src="/assets/copy.js"></script>
<script type="module" src="/assets/live-board.js"></script>`,
      body: homeBody(options, board, testKey),
    });
    return sendPage(reply.header('link', SERVICE_LINKS), page);
  });
}

function homeBody({ publicUrl, isSandbox, operations }: HomeOptions, board: Html, testKey: string | null): Html {
  return html`<div class="hero">
<div>
<h1>Public transport of New South Wales and Canberra, as an API.</h1>
<p class="lead">Live departures, nearby stops, stop search and journeys as plain JSON. One field per fact, <code>null</code> for unknown values, and errors that tell you how to fix them.</p>
<p class="actions"><a class="button" href="/signup">Get a free key</a> <a class="button plain" href="/docs">Read the docs</a> <a class="button plain" href="/explore">Try the map</a></p>
</div>
${board}
</div>

<h2 id="uses">Three ways to use it</h2>
<div class="grid">
<section class="card use"><h3>Build an app</h3>
<p>Departures, journeys and alerts for your backend, page or phone. ${PLANS.free.dailyLimit.toLocaleString('en')} requests a day are free.</p>
<p><a href="/docs/quickstart">Quickstart</a> · <a href="/docs/browsers">Keys for pages</a></p></section>
<section class="card use"><h3>Put a board on a wall</h3>
<p>A page with the departures of one stop. It refreshes itself and needs no code.</p>
<p>${isSandbox ? html`<a href="/board/${HOME_STOP}">Open a board</a> · ` : ''}<a href="/keys">Create a link</a></p></section>
<section class="card use"><h3>Connect an assistant</h3>
<p>Every operation is a tool of the Model Context Protocol at <code>${publicUrl}/mcp</code>.</p>
<p><a href="/docs/assistants">Set it up</a></p></section>
</div>

<h2 id="start">Your first request</h2>
<p>${testKey ? 'In this sandbox you can start right away: the command has a key.' : html`<a href="/signup">Enter your email address</a>: the key is in your inbox within a minute.`}</p>
${copyableCode(`curl -H "Authorization: Bearer ${testKey ?? '$TIS_KEY'}" \\\n  "${publicUrl}/v1/departures?stop=${HOME_STOP}&modes=all&limit=5"`)}
<details><summary>Response</summary>${codeBlock(JSON.stringify(operations.find(({ path }) => path === '/v1/departures')?.example.body, null, 2))}</details>

<h2 id="operations">Operations</h2>
<ul class="grid tiles">
${operations.map(operationTile)}
</ul>

<h2 id="plans">Plans</h2>
<div class="card scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr><th scope="col">Plan</th><th scope="col">Requests a day</th><th scope="col">For</th></tr></thead>
<tbody>
${Object.values(PLANS).map(planRow)}
</tbody></table></div>
<p class="quiet">All keys of an account share its limits, which reset at ${RESET_TIME}. A stream that is open all day takes 1,441 requests; see <a href="/docs/display">what a display at home needs</a>. A 5xx is not charged.</p>

<h2 id="words">Good to know</h2>
<ul>
<li><strong><code>lat, lng</code></strong>, in that order, everywhere. A leg’s <code>path</code> is ready for a map’s polyline.</li>
<li><strong>UTC out, Sydney in.</strong> Timestamps are UTC; <code>date</code> and <code>time</code> in a request are Sydney local time.</li>
<li><strong>Live means tracked.</strong> Real-time values appear only for tracked vehicles.</li>
<li><strong>Errors explain themselves.</strong> A 400 lists every problem at once; <code>docs</code> links to the cause and the fix. <a href="/docs/errors">All error codes</a></li>
<li><strong>CORS.</strong> Scripts from any origin may read every response, including errors.</li>
</ul>`;
}

function operationTile({ path, summary, stream }: Operation): Html {
  return html`<li><a class="tile-name" href="${operationUrl(path)}">${summary}</a>
<div><code>${path}</code>${stream && html` · <a class="small" href="${operationUrl(`${path}/stream`)}">as a stream</a>`}</div></li>
`;
}

function planRow({ title, dailyLimit, purpose }: (typeof PLANS)[keyof typeof PLANS]): Html {
  return html`<tr><th scope="row">${title}</th><td>${dailyLimit?.toLocaleString('en') ?? 'Unlimited'}</td><td>${purpose}</td></tr>`;
}

/** Town Hall has trains, light rail and buses every few minutes. */
const HOME_STOP = '200070';
const ROWS = '8';
const MAX_ALERTS = 2;
const MAX_ALERT_LENGTH = 160;
/** The page waits at most this long for its board. */
const PATIENCE_MS = 1500;

/** Finds the departures of one well-known stop; null if they take too long. Never throws. */
async function fetchHomeBoard({ runOperation }: Service): Promise<Departures | null> {
  const parameters = { stop: HOME_STOP, modes: 'all', limit: ROWS, cancelled: 'exclude', include: 'alert_texts' };
  const board = runOperation('/v1/departures', parameters).then(({ body }) => body.content());
  return within(PATIENCE_MS, board, () => upstreamTimeout(PATIENCE_MS)).catch(() => null);
}

/** Renders the board of the home page, with its age. `assets/live-board.js` updates both. */
function boardTable(board: Departures | null, { isSandbox, now }: { isSandbox: boolean; now: number }): Html {
  if (!board) {
    return html`<div class="card" id="live-board"><p>No departures for Town Hall yet. Reload the page in a few seconds, or see the <a href="/status">status</a>.</p></div>`;
  }
  const { alert_texts: texts = {} } = board;
  const shownIds = Object.keys(texts).slice(0, MAX_ALERTS);
  const ageSeconds = Math.max(0, Math.round((now - Date.parse(board.retrieved_at)) / 1000));
  return html`<div class="card board" id="live-board"><table>
<caption>${board.stop_name} <span>${isSandbox ? 'Made up by the sandbox' : 'Live'}. As of <time datetime="${board.retrieved_at}">${toSydneyClock(board.retrieved_at, 'HH:mm:ss')}</time> in Sydney, <span class="age" data-age-seconds="${ageSeconds}">${ageSeconds} s ago</span>.</span></caption>
<thead class="visually-hidden"><tr><th scope="col">Route</th><th scope="col">Destination and platform</th><th scope="col">Leaves</th></tr></thead>
<tbody>${board.departures.map(
    ({ route, mode, destination, platform, minutes_away, is_live, alert_ids, ...times }) => html`<tr>
<td>${lineBadge({ route, mode })}</td>
<td>${destination}${alertLinks(alert_ids, shownIds)}<span class="hint">${platform ?? ''}</span></td>
<td class="number"><strong${is_live && html` class="live"`}>${toSydneyClock(times.realtime_at ?? times.scheduled_at)}</strong><span class="hint">${leaves(minutes_away)}</span></td></tr>
`,
  )}</tbody></table>
${shownIds.length > 0 && html`<ol class="board-alerts" aria-label="Alerts">${shownIds.map((id) => html`<li id="alert-${id}">${truncate(texts[id] ?? '')}</li>`)}</ol>`}</div>`;
}

/** Links to a departure's alerts in the list below, by number. */
function alertLinks(ids: readonly string[] = [], shownIds: readonly string[]): Html[] {
  return shownIds.flatMap((id, index) =>
    ids.includes(id)
      ? [html` <a class="alert-link" href="#alert-${id}" aria-label="Alert ${index + 1}">${index + 1}</a>`]
      : [],
  );
}

function truncate(text: string): string {
  return text.length > MAX_ALERT_LENGTH ? `${text.slice(0, MAX_ALERT_LENGTH)}…` : text;
}

function leaves(minutes: number): string {
  return minutes === 0 ? 'now' : `${minutes} min`;
}

/** Renders a route's name in its line colour, which `line-styles.ts` sets. */
function lineBadge({ route, mode }: { route: string; mode: Mode }): Html {
  return html`<span class="route ${mode}" data-line="${route}"><span class="visually-hidden">${mode} </span>${route}</span>`;
}
