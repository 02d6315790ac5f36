import { type Account, isValid, type KeyRecord, MAX_LIVE_KEYS } from '#src/access/account.ts';
import { formatDay, QUOTA_ZONE, RESET_TIME } from '#src/access/day.ts';
import {
  type Grant,
  type GrantProblems,
  type KeyEvent,
  OPERATION_PATHS,
  VISITOR_HOUR,
  type WantedGrant,
} from '#src/access/grant.ts';
import { PLANS } from '#src/access/plan.ts';
import { SYDNEY } from '#src/transit/region.ts';
import { barChart, isLimitShown } from '../bar-chart.ts';
import { type Html, html } from '../html.ts';
import { localTime, zoneName } from '../local-time.ts';
import type { FieldErrors } from './form.ts';
import { overlapEnd } from './key-service.ts';
import { LINK_MINUTES } from './magic-link.ts';

/** Formats "24 Nov, 11:00", short enough for a phone. */
const SYDNEY_MINUTE = new Intl.DateTimeFormat('en-AU', {
  timeZone: SYDNEY,
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const OVERLAP_DAYS = [0, 1, 3, 7];

/** A key's requests and events on one day. */
export type KeyCounts = { day: string } & Record<'requests' | KeyEvent, number>;

/** A rejected form for a publishable key, with its errors. */
export interface RefusedGrant {
  fields: WantedGrant & { label: string };
  problems: GrantProblems;
}

/** Renders the keys of one account. `notice` confirms the last action. */
export function keysView(view: {
  account: Account;
  keys: KeyRecord[];
  /** Counts of each key, by the key's hash. */
  events: ReadonlyMap<string, readonly KeyCounts[]>;
  token: string;
  /** Daily requests of the account, oldest first. */
  usage: readonly { day: string; count: number }[];
  quotaMails: { isOn: boolean; url: string };
  notice: string | undefined;
  refused: RefusedGrant | undefined;
  now: number;
}): Html {
  const { account, keys, events, token, usage, quotaMails, notice, refused, now } = view;
  const { title, dailyLimit } = PLANS[account.plan];
  const live = keys.filter((key) => isValid(key, now)).toReversed();
  // A key that is being replaced still works, but no longer counts.
  const countedKeys = live.filter(({ revokedAt }) => revokedAt === null).length;
  const revoked = keys.filter((key) => !isValid(key, now)).toReversed();
  return html`<h1>Your keys</h1>
<p class="lead">${account.email}: ${title} plan, ${dailyLimit === null ? 'unlimited' : `${dailyLimit.toLocaleString('en')} requests a day`}.</p>
${notice && html`<p class="notice" role="status">${notice}</p>`}
<h2>Usage</h2>
<div class="card">${usageChart(usage, dailyLimit)}
${dailyLimit !== null && html`<p>Mails at 80% and at 100% of the limit are <strong>${quotaMails.isOn ? 'on' : 'off'}</strong>. <a href="${quotaMails.url}">Switch them ${quotaMails.isOn ? 'off' : 'on'}</a></p>`}</div>
<h2>Keys: ${countedKeys} of ${MAX_LIVE_KEYS} in use</h2>
${live.length === 0 && html`<p>You have no working key.</p>`}
<div class="stack">
${live.map((key) => keyCard(key, events.get(key.hash), token, now))}
</div>
${countedKeys < MAX_LIVE_KEYS && html`${newKeyCard(token)}${publishableKeyCard(token, account, refused)}`}
${
  revoked.length > 0 &&
  html`<h2>Revoked</h2><ul>${revoked.map(
    ({ lastFour, label, revokedAt }) => html`<li>…${lastFour}${label && ` “${label}”`}, ${dateOf(revokedAt)}</li>`,
  )}</ul>`
}`;
}

function keyCard(key: KeyRecord, counts: readonly KeyCounts[] = [], token: string, now: number): Html {
  const { hash, lastFour, label, createdAt, lastUsedOn, revokedAt, grant } = key;
  const hidden = html`<input type="hidden" name="token" value="${token}"><input type="hidden" name="key" value="${hash}">`;
  const fromPages = totalOf(counts, 'browser');
  return html`<section class="card" aria-label="Key ending in ${lastFour}">
<h3><code>…${lastFour}</code> ${label}${grant && html` <span class="quiet">publishable</span>`}</h3>
<p class="quiet">Created ${dateOf(createdAt)} · ${lastUsedOn ? `last used ${formatDay(lastUsedOn)} (${QUOTA_ZONE})` : 'not used yet'}${revokedAt && html` · replaced; works until ${localTime(Date.parse(revokedAt), 'date-time')} ${zoneName} (${revokedAt.slice(0, 10)} ${revokedAt.slice(11, 16)} UTC)`}</p>
${grant ? grantFacts(grant, counts) : refusalsIn(counts).length > 0 && html`<p class="quiet">Refused with tokens of this key in the last seven days: ${refusalsText(counts)}</p>`}
${fromPages > 0 && html`<p class="notice bad">This secret key was sent from a web page ${fromPages.toLocaleString('en')} times in the last seven days. Anyone can read it there: rotate this key, and use a publishable key in pages.</p>`}
<div class="forms">
${
  revokedAt === null &&
  html`<details><summary>Rotate key</summary><form class="actions" method="post" action="/keys/rotate">${hidden}
<label for="overlap-${hash}">Old key stops:</label>
<select class="short" id="overlap-${hash}" name="overlap">${OVERLAP_DAYS.map((days) => overlapOption(days, now))}</select>
<button>Send me a new key</button>
<span class="hint">Sydney time. Keys end at ${RESET_TIME}.</span></form></details>`
}
${
  revokedAt === null &&
  !grant &&
  html`<details><summary>Wall display</summary><form class="fields" method="post" action="/keys/board">${hidden}
<div class="suggested"><label for="stop-${hash}">Stop <span class="hint">Name or ID. The link shows this stop’s board with this key, without revealing the key. Add departures parameters before the <code>#</code>: <code>?modes=train</code>.</span></label>
<input type="text" id="stop-${hash}" name="stop" required maxlength="100" placeholder="Town Hall Station" autocomplete="off"></div>
<p class="actions"><button>Open the board</button></p></form></details>`
}
<details><summary>Revoke key</summary><form method="post" action="/keys/revoke">${hidden}<button class="danger">Yes, revoke …${lastFour}</button></form></details>
</div>
</section>
`;
}

const REFUSALS: Readonly<Record<Exclude<KeyEvent, 'browser'>, string>> = {
  origin: 'wrong origin',
  operation: 'operation not chosen',
  visitor: 'visitor’s limit',
  share: 'share of the day',
  account: 'your account’s day',
};

function grantFacts(
  { origins = [], apps, operations, perDay = 0, perVisitorHour = 0 }: Grant,
  counts: readonly KeyCounts[],
): Html {
  const refused = refusalsIn(counts);
  const requests = totalOf(counts, 'requests');
  return html`<ul>
<li>For ${origins.map((origin, index) => html`${index > 0 && ', '}<code>${origin}</code>`)}${apps && `${origins.length > 0 ? ', and for ' : ''}requests without an origin (apps, files)`}</li>
<li>For ${operations ? operations.map((path, index) => html`${index > 0 && ', '}<code>${path}</code>`) : 'all operations'}</li>
<li>${perDay.toLocaleString('en')} requests a day, ${perVisitorHour.toLocaleString('en')} an hour for each visitor</li>
<li>Last seven days: ${requests.toLocaleString('en')} ${requests === 1 ? 'request' : 'requests'}, refused: ${refusalsText(counts)}</li>
</ul>
<details><summary>By day</summary><div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr><th scope="col">Day (${QUOTA_ZONE})</th><th scope="col" class="number">Requests</th>${refused.map((event) => html`<th scope="col" class="number">Refused: ${REFUSALS[event]}</th>`)}</tr></thead>
<tbody>${counts.toReversed().map(
    (
      count,
    ) => html`<tr><th scope="row">${count.day}</th><td class="number">${count.requests.toLocaleString('en')}</td>${refused.map((event) => html`<td class="number">${count[event].toLocaleString('en')}</td>`)}</tr>
`,
  )}</tbody></table></div></details>`;
}

/** Returns the reasons why requests with a key or its tokens were refused. */
function refusalsIn(counts: readonly KeyCounts[]) {
  return (Object.keys(REFUSALS) as (keyof typeof REFUSALS)[]).filter((event) => totalOf(counts, event) > 0);
}

function refusalsText(counts: readonly KeyCounts[]): string {
  const texts = refusalsIn(counts).map((event) => `${REFUSALS[event]} ${totalOf(counts, event).toLocaleString('en')}`);
  return texts.join(', ') || 'none';
}

function totalOf(counts: readonly KeyCounts[], name: 'requests' | KeyEvent): number {
  return counts.reduce((sum, day) => sum + day[name], 0);
}

function newKeyCard(token: string): Html {
  return html`<details class="fold"><summary><h2>Add a secret key</h2> <span class="quiet">for your server</span></summary>
<form class="fields" method="post" action="/keys/new"><input type="hidden" name="token" value="${token}">
<div><label for="label">Label <span class="hint">Optional.</span></label>
<input type="text" id="label" name="label" maxlength="40" autocomplete="off"></div>
<p class="actions"><button>Send me another key</button></p>
</form></details>`;
}

function publishableKeyCard(
  token: string,
  { plan }: Account,
  { fields, problems = {} }: Partial<RefusedGrant> = {},
): Html {
  const { title, dailyLimit } = PLANS[plan];
  const isInvalid = (name: keyof GrantProblems) =>
    problems[name] && html` aria-invalid="true" aria-describedby="pub-${name}-error" autofocus`;
  const problem = (name: keyof GrantProblems) =>
    problems[name] && html`<p class="field-error" id="pub-${name}-error" role="alert">${problems[name]}</p>`;
  const isLimitWrong = problems.perDay || problems.perVisitorHour || problems.operations;
  return html`<details class="fold"${Object.keys(problems).length > 0 && html` open`}><summary><h2>Add a publishable key</h2> <span class="quiet">for a web page or app</span></summary>
<form class="fields" method="post" action="/keys/publishable"><input type="hidden" name="token" value="${token}">
<p>A publishable key may be visible to everyone: it works only on the origins that you list, within limits. <a href="/docs/browsers">How publishable keys are protected</a></p>
<div><label for="pub-label">Label <span class="hint">Optional.</span></label>
<input type="text" id="pub-label" name="label" maxlength="40" autocomplete="off" value="${fields?.label ?? ''}"></div>
<div><label for="pub-origins">Origins <span class="hint">One a line: <code>https://www.example.org</code>, <code>https://*.example.org</code>, <code>http://localhost:*</code></span></label>
<textarea id="pub-origins" name="origins" rows="3" spellcheck="false"${isInvalid('origins')}>${fields?.origins.join('\n') ?? ''}</textarea>
${problem('origins')}</div>
<label class="check" for="pub-apps"><input type="checkbox" id="pub-apps" name="apps"${fields?.apps && html` checked`}> <span>Also allow requests without an origin: apps, scripts, local files, and any site that hides its origin</span></label>
<details${(isLimitWrong || fields?.operations.length) && html` open`}><summary>Limits</summary>
<div><label for="pub-day">Requests a day <span class="hint">Its share of your ${title} plan; default: half.</span></label>
<input type="number" id="pub-day" name="perDay" min="1" max="${dailyLimit}" inputmode="numeric" value="${fields?.perDay ?? ''}"${isInvalid('perDay')}>
${problem('perDay')}</div>
<div><label for="pub-visitor">Requests an hour per visitor <span class="hint">Default: ${VISITOR_HOUR}.</span></label>
<input type="number" id="pub-visitor" name="perVisitorHour" min="1" inputmode="numeric" value="${fields?.perVisitorHour ?? ''}"${isInvalid('perVisitorHour')}>
${problem('perVisitorHour')}</div>
<fieldset><legend>Operations <span class="hint">All unless chosen.</span></legend>
${OPERATION_PATHS.map((path, index) => html`<label class="check" for="pub-op-${index}"><input type="checkbox" id="pub-op-${index}" name="operations" value="${path}"${fields?.operations.includes(path) && html` checked`}> <code>${path}</code></label>`)}
${problem('operations')}</fieldset></details>
<p class="actions"><button>Send me a publishable key</button></p>
</form></details>`;
}

function overlapOption(days: number, now: number): Html {
  const after = days === 1 ? 'after 24 hours' : `after ${days} days`;
  const text = days === 0 ? 'immediately' : `${after} (${SYDNEY_MINUTE.format(overlapEnd(now, days))})`;
  return html`<option value="${days}"${days === 1 && html` selected`}>${text}</option>`;
}

/** Renders the page without a valid link: a form to request one. */
export function linkRequestView(notice: Html | undefined, errors: FieldErrors): Html {
  return html`<h1>Your keys</h1>
<p class="lead">See, replace and revoke your keys. No password needed: we send you a link by email.</p>
${notice}
<form class="fields card" method="post" action="/keys/link" novalidate>
<div><label for="email">Email address</label>
<input type="email" id="email" name="email" required maxlength="254" autocomplete="email" spellcheck="false"${errors.email && html` aria-invalid="true" aria-describedby="email-error" autofocus`}>
${errors.email && html`<p class="field-error" id="email-error" role="alert">${errors.email}</p>`}</div>
<p class="actions"><button>Send me the link</button> <a href="/signup">No key yet?</a></p>
</form>`;
}

/** Renders a page with a button, because mail scanners open every link in a mail. */
export function openKeysView(token: string): Html {
  return html`<h1>Your keys</h1>
<p class="lead">The link works once. The page it opens stays valid for ${LINK_MINUTES} minutes.</p>
<form method="post" action="/keys"><input type="hidden" name="token" value="${token}">
<p class="actions"><button>Open your keys</button></p></form>`;
}

export const uselessLinkNotice = html`<p class="notice bad" role="alert">This link has been used, has expired or is incomplete, or a key was revoked after it was sent. Links work once, within ${LINK_MINUTES} minutes. Request a new one.</p>`;

function dateOf(timestamp: string | null): Html | null {
  return timestamp === null ? null : localTime(Date.parse(timestamp), 'date');
}

const TICK_EVERY = 7;

/** Renders a bar chart and, for screen readers and exact numbers, a table. */
function usageChart(days: readonly { day: string; count: number }[], dailyLimit: number | null): Html {
  const peak = Math.max(0, ...days.map(({ count }) => count));
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const limitText = dailyLimit === null ? 'no limit' : `limit ${dailyLimit.toLocaleString('en')} a day`;
  const label = `Requests a day, ${days.length} days: ${total.toLocaleString('en')} in all, ${peak.toLocaleString('en')} at most; ${limitText}`;
  const bars = days.map(({ day, count }) => ({ title: `${day}: ${count.toLocaleString('en')}`, value: count }));
  const ticks = days.filter((_day, index) => (days.length - 1 - index) % TICK_EVERY === 0);
  return html`${barChart({
    label,
    bars,
    ticks: ticks.map(({ day }) => html`${day.slice(5)}`),
    limit: dailyLimit,
  })}
<p class="quiet small">${total.toLocaleString('en')} ${total === 1 ? 'request' : 'requests'} in ${days.length} days (${QUOTA_ZONE}), all keys together; <span${isLimitShown(bars, dailyLimit) && html` class="limit-sign"`}>${limitText}</span>${dailyLimit !== null && !isLimitShown(bars, dailyLimit) && ', far above these'}.</p>
<details><summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr><th scope="col">Day</th><th scope="col" class="number">Requests</th></tr></thead>
<tbody>${days.toReversed().map(
    ({ day, count }) => html`<tr><th scope="row">${day}</th><td class="number">${count.toLocaleString('en')}</td></tr>
`,
  )}</tbody></table></div></details>`;
}
