import type { FastifyInstance } from 'fastify';
import {
  createIncidentLog,
  type IncidentStore,
  memoryIncidents,
  OBSERVE_EVERY_MS,
} from '#src/extensions/telemetry/incidents.ts';
import {
  loadReport,
  nameUpstream,
  type Report,
  type StatusSources,
  successOf,
  toJson,
} from '#src/extensions/telemetry/status-report.ts';
import { wantsPage } from '#src/http/paths.ts';
import { listLeftOut } from '#src/realtime/live-report.ts';
import { barChart } from '../bar-chart.ts';
import { type Html, html } from '../html.ts';
import { type Layout, sendPage } from '../layout.ts';
import { localTime, localTimeScript, zoneName } from '../local-time.ts';
import { incidentsFeed, incidentsSection, stateText, statusBadge } from './incidents-view.ts';

export interface StatusOptions extends Omit<StatusSources, 'incidents'> {
  layout: Layout;
  publicUrl: string;
  /** Where incidents are recorded; in memory by default. */
  incidentStore?: IncidentStore | undefined;
}

/**
 * `GET /status`, as a page or as JSON; with `scope=instance` for this instance only. `GET /status.svg` and `/status.atom`: a
 * badge, and a feed of incidents. None of them makes an upstream call. Records incidents while the service runs.
 */
export async function status(app: FastifyInstance, statusOptions: StatusOptions): Promise<void> {
  const { publicUrl, isSandbox, now } = statusOptions;
  const incidents = createIncidentLog({ store: statusOptions.incidentStore ?? memoryIncidents(), isSandbox, now });
  const options = { ...statusOptions, incidents };
  recordIncidents(app, async () => {
    const { status, reason } = await loadReport(options);
    await incidents.observe(isBad(status) ? { status, reason: reason ?? '' } : null);
  });

  app.get('/status.svg', async (_request, reply) => {
    const { status } = await loadReport(options);
    const badge = statusBadge(isBad(status) ? status : 'up');
    return reply.header('cache-control', PUBLIC).type('image/svg+xml; charset=utf-8').send(badge);
  });

  app.get('/status.atom', async (_request, reply) =>
    reply
      .header('cache-control', PUBLIC)
      .type('application/atom+xml; charset=utf-8')
      .send(incidentsFeed(await incidents.load(), publicUrl, now())),
  );

  app.get<{ Querystring: { format?: string; scope?: string } }>('/status', async (request, reply) => {
    reply.vary('Accept');
    const isOwn = request.query.scope === 'instance';
    const report = await loadReport(options, { isOwn });
    const isPage = request.query.format !== 'json' && wantsPage(request);
    if (!isPage) return reply.header('cache-control', 'no-store').send(toJson(report));
    return sendPage(
      reply,
      options.layout({
        title: 'Status',
        description: 'State, incidents and response times of the Transit Information Service.',
        path: '/status',
        head: html`${localTimeScript}<link rel="alternate" type="application/atom+xml" title="Incidents" href="/status.atom">`,
        body: statusBody(report, isOwn),
      }),
    );
  });
}

const PUBLIC = 'public, max-age=60';

/** Observes the state every minute, and at the start. Logs only the first of several failures. */
function recordIncidents(app: FastifyInstance, observe: () => Promise<void>): void {
  let timer: NodeJS.Timeout;
  let isFailing = false;
  const run = () =>
    observe().then(
      () => {
        isFailing = false;
      },
      (err) => {
        if (!isFailing) app.log.warn({ err }, 'incidents are not recorded: their store fails');
        isFailing = true;
      },
    );
  app.addHook('onListen', async () => {
    void run();
    timer = setInterval(run, OBSERVE_EVERY_MS).unref();
  });
  app.addHook('onClose', async () => clearInterval(timer));
}

function isBad(status: Report['status']): status is 'degraded' | 'down' {
  return status === 'degraded' || status === 'down';
}

function headline({ status, reason }: Report): string {
  return isBad(status) ? stateText({ status, reason: reason ?? '' }) : 'Operational';
}

function statusBody(report: Report, isOwn: boolean): Html {
  const { at, scope, health, lastResponse, windows, status, record } = report;
  const upstream = nameUpstream(report.isSandbox);
  return html`<h1 class="state ${isBad(status) ? status : 'ok'}">${headline(report)}</h1>
<p class="lead">${status === 'idle' && 'No requests in the last five minutes. '}As of ${localTime(at, 'time')} ${zoneName}<span data-utc> (${utcClock(at)} UTC)</span>, ${servers(scope, isOwn)}. <a href="/status?format=json">View as JSON</a></p>
${scopeChoice(scope, isOwn)}
<div class="card"><dl class="facts">
<div><dt>Success, last hour</dt><dd>${percent(successOf(windows[1]?.operations ?? []))}</dd></div>
<div><dt>Departures with live times, last hour</dt><dd>${percent(windows[1]?.liveShare ?? null)}</dd></div>
<div><dt>Boards from the timetable, last hour</dt><dd>${percent(windows[1]?.timetableShare ?? null)}</dd></div>
<div><dt>Last response of ${upstream}</dt><dd>${lastResponse ? ago(lastResponse, at) : 'none yet'}</dd></div>
<div><dt>Upstream quota left</dt><dd>${callsLeft(health, upstream)}</dd></div>
${
  report.carParks &&
  html`<div><dt>Car parks with a current reading</dt><dd>${carParksText(report.carParks)}</dd></div>
`
}</dl></div>
${incidentsSection(record, at)}
<h2>Requests in 24 hours</h2>
<div class="card">${dayChart(report.quarters)}</div>
${windows.map(windowTable)}
${timetableSection(report, upstream)}
${feedsSection(report)}
<p class="quiet small">A response is a success unless its status is 500 or higher. An assistant’s call counts as the operation it runs; streams and terminal boards are not counted. Times are measured in the server, in steps of 15%. Counts cover 24 hours at most; without Redis they start with the server. Timetable and feeds are those of the server that sent this page. Days of the history are UTC days; degraded counts as up.</p>`;
}

/** How many car parks have a current reading, or why none has. Only requested car parks are read. */
function carParksText({ state, listed, current }: NonNullable<Report['carParks']>): string {
  if (state === 'unused') return 'none requested yet';
  if (state === 'not enabled') return 'not enabled for the key';
  return `${current} of ${listed}${state === 'ok' ? '' : `, ${state === 'day' ? 'today’s calls are short' : 'no new ones'}`}`;
}

/** Renders the choice between all instances and this one, if there are several. */
function scopeChoice(scope: Report['scope'], isOwn: boolean): Html | false {
  if (!isOwn && (scope === 'this instance' || scope.instances === 1)) return false;
  return html`<nav class="choice" aria-label="Instances"><a class="choice-link" href="/status"${!isOwn && html` aria-current="page"`}>All instances</a> <a class="choice-link" href="/status?scope=instance"${isOwn && html` aria-current="page"`}>This server</a></nav>`;
}

/** Renders the operations that had requests, with the others collapsed. Only the table of the last hour starts expanded. */
function windowTable({ name, title, operations }: Report['windows'][number]): Html {
  const used = operations.filter(({ answered }) => answered > 0);
  const idle = operations.filter(({ answered }) => answered === 0);
  const total = used.reduce((sum, { answered }) => sum + answered, 0);
  return html`<details class="fold"${name === '1h' && html` open`}><summary><h2>${title}</h2> <span class="quiet">${count(total, 'response')}</span></summary>
${used.length > 0 && operationsTable(title, used)}
${idle.length > 0 && html`<details><summary>${used.length === 0 ? 'No operation had requests' : `${count(idle.length, 'operation')} without requests`}</summary><p>${idle.map(({ operation }, index) => html`${index > 0 && ', '}<code>${operation}</code>`)}</p></details>`}
</details>`;
}

function operationsTable(title: string, operations: Report['windows'][number]['operations']): Html {
  return table(
    title,
    ['Operation', 'Count', 'Success', 'p50', 'p95'],
    operations.map(({ operation, answered, successRate, p50Ms, p95Ms }) => [
      html`<code>${operation}</code>`,
      answered.toLocaleString('en'),
      percent(successRate),
      duration(p50Ms),
      duration(p95Ms),
    ]),
    { numbers: 4 },
  );
}

/** Renders the timetable's files and the trust of each mode. */
function timetableSection({ timetable, live, at }: Report, upstream: string): Html | false {
  if (!timetable || timetable.mode === 'off') return false;
  const { mode, importedAt, isUpdating, files } = timetable;
  const agreements = Object.entries(live?.agreement ?? {});
  const state = importedAt === null ? 'Not imported yet' : `Imported ${ago(importedAt, at)}`;
  const trust =
    mode === 'on'
      ? 'Boards of every mode come from it.'
      : `Boards of a mode come from it once 98% of 200 departures agree with ${upstream}.`;
  const outdated = files.filter(({ problem }) => problem).length;
  return html`<details class="fold"${outdated > 0 && html` open`}><summary><h2>Timetable</h2> <span class="quiet">${state}, ${outdated === 0 ? 'every file up to date' : `${count(outdated, 'file')} out of date`}</span></summary>
<p>${state}${isUpdating && '; an update is under way'}. ${trust}</p>
${
  agreements.length > 0 &&
  table(
    'Agreement',
    ['Mode', 'Boards come from', 'Compared', 'Agree'],
    agreements.map(([name, { compared, agreed, isTrusted }]) => [
      name,
      isTrusted ? 'the timetable' : upstream,
      compared.toLocaleString('en'),
      percent(compared === 0 ? null : agreed / compared),
    ]),
  )
}
${table(
  'Files of the timetable',
  ['File', 'State', 'Days', 'Trips'],
  files.map(({ id, currentAt, problem, good }) => [
    id,
    problem
      ? `${good ? 'last up to date' : 'never imported, first tried'} ${ago(currentAt, at)}: ${problem}`
      : 'up to date',
    good ? `${day(good.report.firstDay)} to ${day(good.report.lastDay)}` : '–',
    good ? good.report.trips.toLocaleString('en') : '–',
  ]),
)}</details>`;
}

function feedsSection({ live, at }: Report): Html | false {
  if (!live || live.feeds.length === 0) return false;
  const used = live.feeds.filter(({ problem }) => problem === null).length;
  const notUnderstood = live.feeds.flatMap(({ source, leftOut }) =>
    listLeftOut(leftOut).map(({ reason, count }) => `${source}: ${reason}, ${count.toLocaleString('en')}`),
  );
  return html`<details class="fold"${used < live.feeds.length && html` open`}><summary><h2>Realtime feeds</h2> <span class="quiet">${used} of ${live.feeds.length} in use</span></summary>
${table(
  'Realtime feeds',
  ['Feed', 'State', 'Reported', 'Trips'],
  live.feeds.map(({ source, problem, headerAt, tripCount }) => [
    source,
    problem ?? 'in use',
    headerAt === null ? '–' : ago(headerAt, at),
    tripCount === null ? '–' : tripCount.toLocaleString('en'),
  ]),
)}
${notUnderstood.length > 0 && html`<p>Not understood: ${notUnderstood.join('; ')}.</p>`}</details>`;
}

/** The last columns are numbers. On a phone each cell shows the name of its column. */
function table(
  label: string,
  columns: readonly string[],
  rows: readonly (readonly (string | Html)[])[],
  { numbers = 2 } = {},
): Html {
  const isNumber = (column: number) => column >= columns.length - numbers && html` class="number"`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="figures">
<thead><tr>${columns.map((name, column) => html`<th scope="col"${isNumber(column)}>${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([name, ...values]) =>
      html`<tr><th scope="row">${name}</th>${values.map((value, index) => html`<td${isNumber(index + 1)} data-column="${columns[index + 1]}">${value}</td>`)}</tr>
`,
  )}</tbody></table></div>`;
}

/** "20261126" as "2026-11-26". */
function day(text: string): string {
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`;
}

function servers(scope: Report['scope'], isOwn: boolean): string {
  if (isOwn) return 'this server';
  if (scope === 'this instance') return 'this server only (the other servers’ numbers are unavailable)';
  return scope.instances === 1 ? 'one server' : `${scope.instances} servers`;
}

function percent(share: number | null): string {
  if (share === null) return '–';
  // Rounded down: 99.96% shown as 100% would hide failures.
  return `${(Math.floor(share * 1000) / 10).toLocaleString('en')}%`;
}

function callsLeft(health: Report['health'], upstream: string): string {
  if (!health) return 'not limited';
  if (health.shortage === 'refused') return `none: ${upstream} refuses them because of its quota or rate limit`;
  return health.shortage === 'spent' ? 'none: today’s calls so far are used up' : percent(health.budgetLeft);
}

function duration(ms: number | null): string {
  if (ms === null) return '–';
  return ms >= 1000
    ? `${(ms / 1000).toLocaleString('en', { maximumFractionDigits: 1 })} s`
    : `${ms.toLocaleString('en')} ms`;
}

function ago(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}

const TICK_EVERY = 24;

/** Renders responses of the last 24 hours per quarter of an hour, failures in another colour. */
function dayChart(quarters: Report['quarters']): Html {
  const answered = quarters.reduce((sum, quarter) => sum + quarter.answered, 0);
  const failed = quarters.reduce((sum, quarter) => sum + quarter.failed, 0);
  const bars = quarters.map(({ from, ...quarter }) => ({
    title: `${utcClock(from)} UTC: ${count(quarter.answered, 'response')}, ${count(quarter.failed, 'failure')}`,
    value: quarter.answered,
    bad: quarter.failed,
  }));
  const tickMoments = quarters.filter((_quarter, index) => index % TICK_EVERY === 0 || index === quarters.length - 1);
  const label = `Responses per quarter of an hour over 24 hours: ${count(answered, 'response')}, including ${count(failed, 'failure')}`;
  return html`${barChart({
    label,
    bars,
    ticks: tickMoments.map(({ from }) => html`${localTime(from, 'time')}<span data-utc><br>${utcClock(from)}</span>`),
  })}
<p class="quiet small">Responses per quarter of an hour: ${count(answered, 'response')}, including <span${failed > 0 && html` class="failed-sign"`}>${count(failed, 'failure')}</span>. Below the bars: ${zoneName}<span data-utc>, and UTC under it</span>.</p>`;
}

function utcClock(at: number): string {
  return new Date(at).toISOString().slice(11, 16);
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : `${noun}s`}`;
}
