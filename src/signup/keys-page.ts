import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Account, type KeyRecord, MAX_LIVE_KEYS } from '../access/account.ts';
import { utcDayFrom } from '../access/day.ts';
import { PLANS } from '../access/plan.ts';
import type { Register } from '../access/store.ts';
import { ApiError } from '../errors.ts';
import { type Html, html } from '../site/html.ts';
import type { Layout } from '../site/layout.ts';
import { sendPage } from '../site/page-answer.ts';
import type { Desk } from './desk.ts';
import { type FieldErrors, fieldErrors, linkForm, revokeForm, rotateForm } from './form.ts';
import { type KeyLinks, LINK_MINUTES } from './key-link.ts';
import { refuseForeignForms } from './origin.ts';
import { wantsPage } from './page-errors.ts';
import type { Throttle } from './throttle.ts';
import { usageChart } from './usage-chart.ts';

export interface KeysPageOptions {
  layout: Layout;
  publicUrl: string;
  register: Register;
  desk: Desk;
  links: KeyLinks;
  throttle: Throttle;
  now: () => Date;
}

const CHART_DAYS = 30;
const LINK_SENT = 'If the address has an account, a link to its keys is on its way.';
const DONE: Record<string, string> = {
  revoked: 'The key is revoked. Nobody can use it any more.',
  rotated: 'A new key is in your inbox.',
};

/** `/keys`: what one has, seen and changed through a link that comes by mail. No password, no cookie. */
export async function keysPage(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  const { layout, publicUrl, register, desk, links, throttle, now } = options;
  const sendAskPage = (reply: FastifyReply, status: number, notice?: Html, errors: FieldErrors = {}) =>
    sendPage(reply.code(status), layout({ title: 'Your keys', path: '/keys', body: askBody(notice, errors) }));

  async function findAccount(token: string): Promise<Account | null> {
    const accountId = links.read(token);
    return accountId === null ? null : register.findAccount(accountId);
  }

  app.get<{ Querystring: { token?: unknown; done?: unknown } }>('/keys', async (request, reply) => {
    const { token, done } = request.query;
    if (token === undefined) return sendAskPage(reply, 200);
    const account = typeof token === 'string' ? await findAccount(token) : null;
    if (!account || typeof token !== 'string') return sendAskPage(reply, 400, expiredNotice());
    const days = Array.from({ length: CHART_DAYS }, (_, index) => utcDayFrom(now(), index - CHART_DAYS + 1));
    const [keys, counts] = await Promise.all([register.listKeys(account.id), register.readUsage(account.id, days)]);
    const usage = days.map((day, index) => ({ day: dashed(day), count: counts[index] ?? 0 }));
    const body = keysBody({ account, keys, token, usage: usageChart(usage), done: DONE[String(done)], now: now() });
    return sendPage(reply, layout({ title: 'Your keys', path: '/keys', body }));
  });

  app.post('/keys/link', async (request, reply) => {
    refuseForeignForms(request, publicUrl);
    const form = linkForm.safeParse(request.body ?? {});
    if (!form.success) {
      const errors = fieldErrors(form.error);
      if (wantsPage(request)) return sendAskPage(reply, 400, undefined, errors);
      throw new ApiError('INVALID_PARAMETER', Object.values(errors).join(' '));
    }
    throttle.take(request.ip, form.data.email);
    await desk.sendLink(form.data.email);
    if (wantsPage(request)) return reply.redirect('/keys/sent', 303);
    return reply.code(202).send({ status: 'sent', message: LINK_SENT });
  });

  app.get('/keys/sent', async (_request, reply) =>
    sendPage(
      reply,
      layout({
        title: 'Look into your inbox',
        path: '/keys',
        body: html`<h1>Look into your inbox</h1><p class="lead" role="status">${LINK_SENT} It works for ${LINK_MINUTES} minutes.</p>`,
      }),
    ),
  );

  app.post('/keys/revoke', async (request, reply) => {
    const { account, key, token } = await identify(request, revokeForm.parse(request.body ?? {}));
    await desk.revoke(account, key);
    return reply.redirect(`/keys?token=${token}&done=revoked`, 303);
  });

  app.post('/keys/rotate', async (request, reply) => {
    const form = rotateForm.safeParse(request.body ?? {});
    if (!form.success) throw new ApiError('INVALID_PARAMETER', Object.values(fieldErrors(form.error)).join(' '));
    const { account, key, token } = await identify(request, form.data);
    if (key.revokedAt !== null) throw new ApiError('INVALID_PARAMETER', 'The key is revoked, or was replaced already.');
    throttle.take(request.ip, account.email);
    await desk.rotate(account, key, form.data.overlap);
    return reply.redirect(`/keys?token=${token}&done=rotated`, 303);
  });

  /** Who holds the link, and which of their keys is meant. */
  async function identify(request: FastifyRequest, form: { token: string; key: string }) {
    refuseForeignForms(request, publicUrl);
    const account = await findAccount(form.token);
    if (!account)
      throw new ApiError('INVALID_PARAMETER', 'The link is not valid any more. Ask for a new one at /keys.');
    const key = (await register.listKeys(account.id)).find(({ hash }) => hash === form.key);
    if (!key) throw new ApiError('INVALID_PARAMETER', 'The account has no such key.');
    return { account, key, token: form.token };
  }
}

function askBody(notice: Html | undefined, errors: FieldErrors): Html {
  return html`<h1>Your keys</h1>
<p class="lead">See, replace and revoke your keys. There is no password: a link comes by mail.</p>
${notice}
<form class="fields card" method="post" action="/keys/link" novalidate>
<div><label for="email">E-mail address</label>
<input type="email" id="email" name="email" required maxlength="254" autocomplete="email" spellcheck="false"${errors.email && html` aria-invalid="true" aria-describedby="email-error"`}>
${errors.email && html`<p class="field-error" id="email-error" role="alert">${errors.email}</p>`}</div>
<p class="actions"><button>Send me the link</button> <a href="/signup">No key yet?</a></p>
</form>`;
}

function expiredNotice(): Html {
  return html`<p class="notice bad" role="alert">This link is not valid any more, or was cut off. Links work for ${LINK_MINUTES} minutes; ask for a new one.</p>`;
}

function keysBody(view: {
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
<label for="overlap-${hash}">Replace it; the old one works for</label>
<select class="short" id="overlap-${hash}" name="overlap">${[0, 1, 2, 3, 4, 5, 6, 7].map((days) => html`<option value="${days}"${days === 1 && html` selected`}>${days === 1 ? '1 day' : `${days} days`}</option>`)}</select>
<button>Mail me a new key</button></form>`
}
<form method="post" action="/keys/revoke">${hidden}<button class="danger">Revoke now</button></form>
</div>
</section>
`;
}

function dateOf(timestamp: string | null): string {
  return timestamp?.slice(0, 10) ?? '';
}

/** `YYYYMMDD` with dashes. */
function dashed(day: string): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}
