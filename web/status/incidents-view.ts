import { DAY_MS, MINUTE_MS } from '#src/core/clock.ts';
import { type BadState, type Incident, type IncidentRecord, KEPT_DAYS } from '#src/extensions/telemetry/incidents.ts';
import { formatTimestamp } from '#src/transit/time.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../local-time.ts';

/** Renders the history: a bar of days, and the incidents, newest first. */
export function incidentsSection(record: IncidentRecord | null, now: number): Html {
  if (!record) return html`<h2>History</h2><p>Incidents are not recorded yet.</p>`;
  const { since, incidents } = record;
  const isYoung = since > now - KEPT_DAYS * DAY_MS;
  const span = isYoung ? html`since ${localTime(since, 'date')}` : `in the last ${KEPT_DAYS} days`;
  return html`<h2>History</h2>
<div class="card">${daysBar(record, now)}
<p><strong>${uptime(record, now)} up</strong> ${span}. <a href="/status.atom">Feed of incidents</a> · <a href="/status.svg">Badge</a></p>
${incidents.length === 0 ? html`<p class="quiet">No incidents.</p>` : html`<ol class="incidents" reversed>${incidents.toReversed().map((incident) => incidentItem(incident, now))}</ol>`}
</div>`;
}

export function stateText({ status, reason }: BadState): string {
  return `${status === 'down' ? 'Down' : 'Degraded'}: ${reason}`;
}

function incidentItem(incident: Incident, now: number): Html {
  const { status, from, to } = incident;
  const end = to === null ? 'until now' : html`to ${localTime(to, isSameDay(from, to) ? 'time' : 'date-time')}`;
  return html`<li id="incident-${from}"><strong class="state ${status}">${stateText(incident)}</strong><br>
<span class="quiet">${localTime(from, 'date-time')} ${end} (${lengthText((to ?? now) - from)})</span></li>
`;
}

function isSameDay(from: number, to: number): boolean {
  return to - from < DAY_MS / 2;
}

function lengthText(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / MINUTE_MS));
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** The share of time that the service was not down, rounded down. */
function uptime({ since, incidents }: IncidentRecord, now: number): string {
  const begin = Math.max(since, now - KEPT_DAYS * DAY_MS);
  const down = incidents.filter(({ status }) => status === 'down');
  const downMs = down.reduce((sum, incident) => sum + overlap(incident, begin, now), 0);
  const share = 1 - downMs / Math.max(1, now - begin);
  return `${Math.floor(share * 10_000) / 100}%`;
}

/** Milliseconds of the incident between two moments. */
function overlap({ from, to }: Incident, begin: number, end: number): number {
  return Math.max(0, Math.min(to ?? end, end) - Math.max(from, begin));
}

/** Renders one bar for each UTC day, in the colour of its worst state. */
function daysBar({ since, incidents }: IncidentRecord, now: number): Html {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const days = Array.from({ length: KEPT_DAYS }, (_, index) => {
    const begin = today - (KEPT_DAYS - 1 - index) * DAY_MS;
    const end = Math.min(begin + DAY_MS, now);
    const hits = incidents.filter((incident) => overlap(incident, begin, end) > 0);
    const worst = hits.find(({ status }) => status === 'down') ?? hits[0];
    const minutes = hits.reduce((sum, incident) => sum + overlap(incident, begin, end), 0);
    const isKnown = begin + DAY_MS > since;
    const text = worst ? `${stateText(worst)}, ${lengthText(minutes)}` : isKnown ? 'no incident' : 'not recorded';
    return {
      kind: worst?.status ?? (isKnown ? 'ok' : 'unknown'),
      title: `${new Date(begin).toISOString().slice(0, 10)}: ${text}`,
    };
  });
  const badDays = days.filter(({ kind }) => kind === 'degraded' || kind === 'down').length;
  return html`<svg class="days" viewBox="0 0 ${KEPT_DAYS * 10} 36" preserveAspectRatio="none" role="img" aria-label="${KEPT_DAYS} days, ${badDays} with incidents">
${days.map(({ kind, title }, index) => html`<rect class="${kind}" x="${index * 10 + 1}" y="0" width="8" height="36"><title>${title}</title></rect>`)}</svg>
<div class="chart-ticks" aria-hidden="true"><span>${KEPT_DAYS} days ago</span><span>Today</span></div>`;
}

/** Renders the incidents as an Atom feed. */
export function incidentsFeed(record: IncidentRecord | null, publicUrl: string, now: number): string {
  const page = `${publicUrl}/status`;
  const incidents = (record?.incidents ?? []).toReversed();
  const latest = Math.max(record?.since ?? now, ...incidents.map(({ from, to }) => to ?? from));
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Incidents of the Transit Information Service</title>
<id>${page}</id>
<link href="${page}"/>
<link rel="self" href="${page}.atom"/>
<updated>${formatTimestamp(latest)}</updated>
<author><name>Transit Information Service</name></author>
${incidents.map((incident) => {
  const { from, to } = incident;
  const times =
    to === null ? `Since ${formatTimestamp(from)}.` : `From ${formatTimestamp(from)} to ${formatTimestamp(to)}.`;
  return html`<entry>
<title>${to === null ? '' : 'Resolved: '}${stateText(incident)}</title>
<id>${page}#incident-${from}</id>
<link href="${page}#incident-${from}"/>
<updated>${formatTimestamp(to ?? from)}</updated>
<content type="text">${times}</content>
</entry>
`;
})}</feed>
`.markup;
}

const BADGE = {
  up: { text: 'operational', width: 78, colour: '#1f7a3d' },
  degraded: { text: 'degraded', width: 64, colour: '#8a5a00' },
  down: { text: 'down', width: 42, colour: '#b3261e' },
} as const;

/** Renders the state as an SVG image for other pages. */
export function statusBadge(state: keyof typeof BADGE): string {
  const { text, width, colour } = BADGE[state];
  const label = 46;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${label + width}" height="20" role="img" aria-label="status: ${text}">
<title>status: ${text}</title>
<clipPath id="round"><rect width="${label + width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#round)"><rect width="${label}" height="20" fill="#4c5961"/><rect x="${label}" width="${width}" height="20" fill="${colour}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"><text x="${label / 2}" y="14">status</text><text x="${label + width / 2}" y="14">${text}</text></g>
</svg>
`.markup;
}
