import { type Account, type KeyRecord, MAX_LIVE_KEYS } from '../access/account.ts';
import { PLANS } from '../access/plan.ts';
import { type Html, html } from '../site/html.ts';

/** What the owner of an account sees of it. `usage` is the chart, `done` what was just done. */
export function keysBody(view: {
  account: Account;
  keys: KeyRecord[];
  token: string;
  usage: Html;
  done: string | undefined;
  now: Date;
}): Html {
  const { account, keys, token, usage, done, now } = view;
  const { title, dailyLimit } = PLANS[account.plan];
  const works = ({ revokedAt }: KeyRecord) => revokedAt === null || new Date(revokedAt) > now;
  const live = keys.filter(works);
  return html`<h1>Your keys</h1>
<p class="lead">${account.email}: ${title} plan, ${dailyLimit === null ? 'unlimited' : `${dailyLimit.toLocaleString('en')} requests a day`}.</p>
${done && html`<p class="notice" role="status">${done}</p>`}
<h2>${live.length} of ${MAX_LIVE_KEYS} in use</h2>
${live.length === 0 && html`<p>No key works at present. <a href="/signup">Get one</a></p>`}
<div class="stack">
${live.toReversed().map((key) => keyCard(key, token))}
</div>
<h2>Usage</h2>
<div class="card">${usage}</div>
${
  keys.length > live.length &&
  html`<h2>Revoked</h2><ul>${keys
    .filter((key) => !works(key))
    .toReversed()
    .map(
      ({ lastFour, label, revokedAt }) => html`<li>…${lastFour}${label && ` “${label}”`}, ${dateOf(revokedAt)}</li>`,
    )}</ul>`
}`;
}

/** After today, which is not counted: a key ends with a UTC day. */
const OVERLAPS = ['no longer', 'until tomorrow ends', ...[2, 3, 4, 5, 6, 7].map((days) => `${days} days more`)];

function keyCard(key: KeyRecord, token: string): Html {
  const { hash, lastFour, label, createdAt, lastUsedOn, revokedAt } = key;
  const hidden = html`<input type="hidden" name="token" value="${token}"><input type="hidden" name="key" value="${hash}">`;
  return html`<section class="card" aria-label="Key ending in ${lastFour}">
<h3><code>…${lastFour}</code> ${label}</h3>
<p class="quiet">Created ${dateOf(createdAt)} · ${lastUsedOn ? `last used ${dashed(lastUsedOn)}` : 'not used yet'}${revokedAt && ` · works until ${dateOf(revokedAt)} 00:00 UTC`}</p>
<div class="actions">
${
  revokedAt === null &&
  html`<form class="actions" method="post" action="/keys/rotate">${hidden}
<label for="overlap-${hash}">Replace it; the old one works (days are UTC)</label>
<select class="short" id="overlap-${hash}" name="overlap">${[0, 1, 2, 3, 4, 5, 6, 7].map((days) => html`<option value="${days}"${days === 1 && html` selected`}>${OVERLAPS[days]}</option>`)}</select>
<button>Mail me a new key</button></form>`
}
<details><summary>Revoke now</summary><form method="post" action="/keys/revoke">${hidden}<button class="danger">Yes, revoke …${lastFour}</button></form></details>
</div>
</section>
`;
}

function dateOf(timestamp: string | null): string {
  return timestamp?.slice(0, 10) ?? '';
}

/** `YYYYMMDD` with dashes. */
export function dashed(day: string): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}
