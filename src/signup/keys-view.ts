import { type Account, type KeyRecord, MAX_LIVE_KEYS } from '../access/account.ts';
import { PLANS } from '../access/plan.ts';
import { type Html, html } from '../site/html.ts';
import { localTime, zoneName } from '../site/local-time.ts';
import type { FieldErrors } from './form.ts';
import { overlapEnd } from './key-service.ts';
import { LINK_MINUTES } from './magic-link.ts';

/** "24 Nov, 11:00": short enough for a phone. */
const SYDNEY_MINUTE = new Intl.DateTimeFormat('en-AU', {
  timeZone: 'Australia/Sydney',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const OVERLAP_DAYS = [0, 1, 2, 3, 4, 5, 6, 7];

/** The keys of one account. `notice` confirms the last action. */
export function keysView(view: {
  account: Account;
  keys: KeyRecord[];
  token: string;
  usage: Html;
  quotaMails: { isOn: boolean; url: string };
  notice: string | undefined;
  now: Date;
}): Html {
  const { account, keys, token, usage, quotaMails, notice, now } = view;
  const { title, dailyLimit } = PLANS[account.plan];
  const isLive = ({ revokedAt }: KeyRecord) => revokedAt === null || new Date(revokedAt) > now;
  const live = keys.filter(isLive).toReversed();
  // A replaced key with a last day works until then, but does not count any more.
  const counted = live.filter(({ revokedAt }) => revokedAt === null).length;
  const revoked = keys.filter((key) => !isLive(key)).toReversed();
  return html`<h1>Your keys</h1>
<p class="lead">${account.email}: ${title} plan, ${dailyLimit === null ? 'unlimited' : `${dailyLimit.toLocaleString('en')} requests a day`}.</p>
${notice && html`<p class="notice" role="status">${notice}</p>`}
<h2>${counted} of ${MAX_LIVE_KEYS} in use</h2>
${live.length === 0 && html`<p>None of your keys works at present.</p>`}
<div class="stack">
${live.map((key) => keyCard(key, token, now))}
</div>
${counted < MAX_LIVE_KEYS && newKeyCard(token)}
<h2>Usage</h2>
<div class="card">${usage}
${dailyLimit !== null && html`<p>Mails at 80 % and at 100 % of the limit are <strong>${quotaMails.isOn ? 'on' : 'off'}</strong>. <a href="${quotaMails.url}">Switch them ${quotaMails.isOn ? 'off' : 'on'}</a></p>`}</div>
${
  revoked.length > 0 &&
  html`<h2>Revoked</h2><ul>${revoked.map(
    ({ lastFour, label, revokedAt }) => html`<li>…${lastFour}${label && ` “${label}”`}, ${dateOf(revokedAt)}</li>`,
  )}</ul>`
}`;
}

function keyCard(key: KeyRecord, token: string, now: Date): Html {
  const { hash, lastFour, label, createdAt, lastUsedOn, revokedAt } = key;
  const hidden = html`<input type="hidden" name="token" value="${token}"><input type="hidden" name="key" value="${hash}">`;
  return html`<section class="card" aria-label="Key ending in ${lastFour}">
<h3><code>…${lastFour}</code> ${label}</h3>
<p class="quiet">Created ${dateOf(createdAt)} · ${lastUsedOn ? `last used ${dashed(lastUsedOn)} (UTC)` : 'not used yet'}${revokedAt && html` · replaced; works until ${localTime(new Date(revokedAt), 'date-time')} ${zoneName} (${revokedAt.slice(0, 10)} 00:00 UTC)`}</p>
<div class="actions">
${
  revokedAt === null &&
  html`<form class="actions" method="post" action="/keys/rotate">${hidden}
<label for="overlap-${hash}">Replace by a new key, and keep this one working <span class="hint">Sydney time; 00:00 UTC</span></label>
<select class="short" id="overlap-${hash}" name="overlap">${OVERLAP_DAYS.map((days) => overlapOption(days, now))}</select>
<button>Mail me a new key</button></form>`
}
${
  revokedAt === null &&
  html`<details><summary>Board on a wall</summary><form class="fields" method="post" action="/keys/board">${hidden}
<div class="suggested"><label for="stop-${hash}">Stop <span class="hint">Its name or identifier. The link has the board of this stop with this key, without showing the key. Parameters of departures go before its <code>#</code>: <code>?modes=train</code>.</span></label>
<input type="text" id="stop-${hash}" name="stop" required maxlength="100" placeholder="Town Hall Station" autocomplete="off"></div>
<p class="actions"><button>Open the board</button></p></form></details>`
}
<details><summary>Revoke now</summary><form method="post" action="/keys/revoke">${hidden}<button class="danger">Yes, revoke …${lastFour}</button></form></details>
</div>
</section>
`;
}

function newKeyCard(token: string): Html {
  return html`<h2>Another key</h2>
<form class="fields card" method="post" action="/keys/new"><input type="hidden" name="token" value="${token}">
<div><label for="label">Label <span class="hint">Optional.</span></label>
<input type="text" id="label" name="label" maxlength="40" autocomplete="off"></div>
<p class="actions"><button>Add a key by mail</button></p>
</form>`;
}

function overlapOption(days: number, now: Date): Html {
  const text = days === 0 ? 'no longer' : `until ${SYDNEY_MINUTE.format(overlapEnd(now, days))}`;
  return html`<option value="${days}"${days === 1 && html` selected`}>${text}</option>`;
}

/** The page without a valid link: a form that requests one. */
export function linkRequestView(notice: Html | undefined, errors: FieldErrors): Html {
  return html`<h1>Your keys</h1>
<p class="lead">See, replace and revoke your keys. There is no password: you get a link by mail.</p>
${notice}
<form class="fields card" method="post" action="/keys/link" novalidate>
<div><label for="email">E-mail address</label>
<input type="email" id="email" name="email" required maxlength="254" autocomplete="email" spellcheck="false"${errors.email && html` aria-invalid="true" aria-describedby="email-error" autofocus`}>
${errors.email && html`<p class="field-error" id="email-error" role="alert">${errors.email}</p>`}</div>
<p class="actions"><button>Send me the link</button> <a href="/signup">No key yet?</a></p>
</form>`;
}

/** Where a link leads: it takes a button, because programs that check mails for harmful links open every link in them. */
export function openKeysView(token: string): Html {
  return html`<h1>Your keys</h1>
<p class="lead">The link in the mail works once. What it opens stays open for ${LINK_MINUTES} minutes.</p>
<form method="post" action="/keys"><input type="hidden" name="token" value="${token}">
<p class="actions"><button>Open your keys</button></p></form>`;
}

export const uselessLinkNotice = html`<p class="notice bad" role="alert">This link was used already, has expired or is incomplete, or a key was revoked since it was sent. A link works once, within ${LINK_MINUTES} minutes. Request a new one.</p>`;

function dateOf(timestamp: string | null): Html | null {
  return timestamp === null ? null : localTime(new Date(timestamp), 'date');
}

/** `YYYYMMDD` to `YYYY-MM-DD` */
export function dashed(day: string): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}
