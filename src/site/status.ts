import type { FastifyInstance } from 'fastify';
import { type Report, readReport, type StatusSources, toJson } from '../telemetry/status-report.ts';
import { type Html, html } from './html.ts';
import type { Layout } from './layout.ts';
import { sendPage } from './page-answer.ts';

export interface StatusOptions extends StatusSources {
  layout: Layout;
}

/** `GET /status`, as a page or as JSON. Reading it makes no call of the authority. */
export async function status(app: FastifyInstance, options: StatusOptions): Promise<void> {
  app.get<{ Querystring: { format?: string } }>('/status', async (request, reply) => {
    reply.header('vary', 'Accept');
    const report = await readReport(options);
    const wantsPage = request.query.format !== 'json' && /text\/html/.test(request.headers.accept ?? '');
    if (!wantsPage) return reply.header('cache-control', 'no-store').send(toJson(report));
    return sendPage(
      reply,
      options.layout({
        title: 'Status',
        description: 'How the Transit Information Service has answered in the last minutes and hours.',
        path: '/status',
        body: statusBody(report),
      }),
    );
  });
}

const VERDICTS = {
  ok: 'Everything answers',
  degraded: 'Some requests fail',
  down: 'Most requests fail',
  idle: 'Nothing asked in the last five minutes',
} as const;

function statusBody(report: Report): Html {
  const { at, scope, health, lastAnswer, windows, verdict } = report;
  return html`<h1>${VERDICTS[verdict]}</h1>
<p class="lead">What ${answerers(scope)} answered to ${scope === 'this instance' || scope.instances === 1 ? 'its' : 'their'} callers, up to ${clock(at)} UTC. <a href="/status?format=json">The same as JSON</a>.</p>
<div class="card"><dl class="facts">
<div><dt>Last good answer of ${report.isSandbox ? 'the sandbox' : 'the authority'}</dt><dd>${lastAnswer ? ago(lastAnswer, at) : 'none yet'}</dd></div>
<div><dt>Live records, last hour</dt><dd>${percent(windows[1]?.liveShare ?? null)}</dd></div>
<div><dt>Budget left for the authority</dt><dd>${health ? percent(health.budgetLeft) : 'not limited'}</dd></div>
<div><dt>Breaker</dt><dd>${health ? (health.isBreakerOpen ? 'open: the authority is given a rest' : 'closed') : 'none'}</dd></div>
</dl></div>
${windows.map(
  ({ title, operations }) => html`<h2>${title}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr><th scope="col">Operation</th><th scope="col" class="number">Answers</th><th scope="col" class="number">Success</th><th scope="col" class="number">Half within</th><th scope="col" class="number">95 % within</th></tr></thead>
<tbody>${operations.map(
    ({ operation, answered, successRate, p50Ms, p95Ms }) =>
      html`<tr><th scope="row"><code>${operation}</code></th><td class="number">${answered.toLocaleString('en')}</td><td class="number">${percent(successRate)}</td><td class="number">${duration(p50Ms)}</td><td class="number">${duration(p95Ms)}</td></tr>
`,
  )}</tbody></table></div>`,
)}
<p class="quiet small">An answer is a success unless its status is 500 or more. Times are taken inside the server, in steps of 15 %. Counted for at most 24 hours; a server by itself counts from its own start; live records are departures that the authority tracks, among those it listed.</p>`;
}

function answerers(scope: Report['scope']): string {
  if (scope === 'this instance') return 'this server alone (the numbers of the others cannot be read at present) has';
  return scope.instances === 1 ? 'this server has' : `${scope.instances} servers have`;
}

function percent(share: number | null): string {
  if (share === null) return '–';
  // Rounded down, because 99.96 % shown as 100 % would hide failures.
  return `${(Math.floor(share * 1000) / 10).toLocaleString('en')} %`;
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

function clock(at: Date): string {
  return at.toISOString().slice(11, 16);
}
