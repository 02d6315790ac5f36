import type { FastifyInstance } from 'fastify';
import { wantsPage } from '../../../http/paths.ts';
import { type Report, readReport, type StatusSources, toJson } from '../../telemetry/status-report.ts';
import { barChart } from '../bar-chart.ts';
import { type Html, html } from '../html.ts';
import { type Layout, sendPage } from '../layout.ts';
import { localTime, localTimeScript, zoneName } from '../local-time.ts';

/** `GET /status`, as a page or as JSON; with `scope=instance` for this instance only. It makes no upstream call. */
export async function status(app: FastifyInstance, options: StatusSources & { layout: Layout }): Promise<void> {
  app.get<{ Querystring: { format?: string; scope?: string } }>('/status', async (request, reply) => {
    reply.vary('Accept');
    const isOwn = request.query.scope === 'instance';
    const report = await readReport(options, { isOwn });
    const isPage = request.query.format !== 'json' && wantsPage(request);
    if (!isPage) return reply.header('cache-control', 'no-store').send(toJson(report));
    return sendPage(
      reply,
      options.layout({
        title: 'Status',
        description: 'Uptime and response times of the Transit Information Service over the last minutes and hours.',
        path: '/status',
        head: localTimeScript,
        body: statusBody(report, isOwn),
      }),
    );
  });
}

function headline({ status, windows }: Report): string {
  const requested = (windows[0]?.operations ?? []).filter(({ answered }) => answered > 0);
  switch (status) {
    case 'down':
      return 'Most requests fail';
    case 'degraded':
      return 'Some requests fail';
    case 'idle':
      return 'No requests in the last five minutes';
    case 'ok':
      return requested.length === windows[0]?.operations.length
        ? 'All systems operational'
        : 'All requested operations work';
  }
}

function statusBody(report: Report, isOwn: boolean): Html {
  const { at, scope, health, lastResponse, windows } = report;
  const upstream = report.isSandbox ? 'the sandbox' : 'the authority';
  return html`<h1>${headline(report)}</h1>
<p class="lead">Requests and responses of ${servers(scope, isOwn)} up to ${localTime(at, 'time')} ${zoneName}<span data-utc> (${utcClock(at)} UTC)</span>. <a href="/status?format=json">View as JSON</a>.</p>
${scopeChoice(scope, isOwn)}
<div class="card"><dl class="facts">
<div><dt>Last good response of ${upstream}</dt><dd>${lastResponse ? ago(lastResponse, at) : 'none yet'}</dd></div>
<div><dt>Boards from the timetable, last hour</dt><dd>${percent(windows[1]?.timetableShare ?? null)}</dd></div>
<div><dt>Departures with live times, last hour</dt><dd>${percent(windows[1]?.liveShare ?? null)}</dd></div>
<div><dt>Calls to ${upstream} left for now</dt><dd>${callsLeft(health, upstream)}</dd></div>
<div><dt>Calls to ${upstream}</dt><dd>${health?.isBreakerOpen ? 'paused after several failures' : 'as usual'}</dd></div>
</dl></div>
<h2>24 hours</h2>
<div class="card">${dayChart(report.quarters)}</div>
${windows.map(windowTable)}
${timetableSection(report, upstream)}
${feedsSection(report)}
<p class="quiet small">A response is a success unless its status is 500 or higher. An assistant’s call counts as the operation it runs; streams and terminal boards are not counted. Times are measured in the server, in steps of 15 %. Counts cover 24 hours at most; without Redis they start with the server. Timetable and feeds are those of the server that sent this page.</p>`;
}

/** Renders the choice between all instances and this one, if there are several. */
function scopeChoice(scope: Report['scope'], isOwn: boolean): Html | false {
  if (!isOwn && (scope === 'this instance' || scope.instances === 1)) return false;
  return html`<nav class="choice" aria-label="Instances"><a class="choice-link" href="/status"${!isOwn && html` aria-current="page"`}>All instances</a> <a class="choice-link" href="/status?scope=instance"${isOwn && html` aria-current="page"`}>This server</a></nav>`;
}

function windowTable({ title, operations }: Report['windows'][number]): Html {
  return html`<h2>${title}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="figures">
<thead><tr><th scope="col">Operation</th><th scope="col" class="number">Responses</th><th scope="col" class="number">Success</th><th scope="col" class="number">p50</th><th scope="col" class="number">p95</th></tr></thead>
<tbody>${operations.map(
    ({ operation, answered, successRate, p50Ms, p95Ms }) =>
      html`<tr><th scope="row"><code>${operation}</code></th><td class="number">${answered.toLocaleString('en')}</td><td class="number">${percent(successRate)}</td><td class="number">${duration(p50Ms)}</td><td class="number">${duration(p95Ms)}</td></tr>
`,
  )}</tbody></table></div>`;
}

/** Renders the timetable's files and the trust of each mode. */
function timetableSection({ timetable, live, at }: Report, upstream: string): Html | false {
  if (!timetable || timetable.mode === 'off') return false;
  const { mode, importedAt, isUpdating, files } = timetable;
  const agreements = Object.entries(live?.agreement ?? {});
  const state = importedAt === null ? 'Not imported yet' : `Imported ${ago(new Date(importedAt), at)}`;
  const trust =
    mode === 'on'
      ? 'Boards of every mode come from it.'
      : `Boards of a mode come from it once 98 % of 200 departures agree with ${upstream}.`;
  return html`<h2>Timetable</h2>
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
      ? `${good ? 'last up to date' : 'never imported, first tried'} ${ago(new Date(currentAt), at)}: ${problem}`
      : 'up to date',
    good ? `${day(good.report.firstDay)} to ${day(good.report.lastDay)}` : '–',
    good ? good.report.trips.toLocaleString('en') : '–',
  ]),
)}`;
}

function feedsSection({ live, at }: Report): Html | false {
  if (!live || live.feeds.length === 0) return false;
  return html`<h2>Realtime feeds</h2>
${table(
  'Realtime feeds',
  ['Feed', 'State', 'Reported', 'Trips'],
  live.feeds.map(({ source, problem, headerAt, tripCount }) => [
    source,
    problem ?? 'in use',
    headerAt === null ? '–' : ago(new Date(headerAt), at),
    tripCount === null ? '–' : tripCount.toLocaleString('en'),
  ]),
)}`;
}

/** The last two columns are numbers. */
function table(label: string, columns: readonly string[], rows: readonly (readonly string[])[]): Html {
  const isNumber = (column: number) => column >= columns.length - 2 && html` class="number"`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="figures">
<thead><tr>${columns.map((name, column) => html`<th scope="col"${isNumber(column)}>${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([name, ...values]) =>
      html`<tr><th scope="row">${name}</th>${values.map((value, column) => html`<td${isNumber(column + 1)}>${value}</td>`)}</tr>
`,
  )}</tbody></table></div>`;
}

/** "20261126" as "2026-11-26". */
function day(text: string): string {
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`;
}

function servers(scope: Report['scope'], isOwn: boolean): string {
  if (isOwn) return 'the server that sent this page';
  if (scope === 'this instance') return 'this server only (the other servers’ numbers are unavailable)';
  return scope.instances === 1 ? 'this server' : `${scope.instances} servers`;
}

function percent(share: number | null): string {
  if (share === null) return '–';
  // Rounded down: 99.96 % shown as 100 % would hide failures.
  return `${(Math.floor(share * 1000) / 10).toLocaleString('en')} %`;
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

function ago(then: Date, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - then.getTime()) / 1000));
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

function utcClock(at: Date): string {
  return at.toISOString().slice(11, 16);
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : `${noun}s`}`;
}
