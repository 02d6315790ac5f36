import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../access/account.ts';
import { utcDayFrom } from '../access/day.ts';
import type { Register } from '../access/store.ts';
import { ApiError } from '../errors.ts';
import { type Html, html } from '../site/html.ts';
import type { Layout } from '../site/layout.ts';
import { sendPage } from '../site/page-answer.ts';
import type { Desk } from './desk.ts';
import { type FieldErrors, fieldErrors, linkForm, revokeForm, rotateForm } from './form.ts';
import { type KeyLinks, LINK_MINUTES } from './key-link.ts';
import { dashed, keysBody } from './key-list.ts';
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
  forLinks: Throttle;
  forRotations: Throttle;
  now: () => Date;
}

const CHART_DAYS = 30;
const LINK_SENT = 'If the address has an account, a link to its keys is on its way.';
const DONE = new Map([
  ['revoked', 'The key is revoked. Nobody can use it any more.'],
  ['rotated', 'A new key is in your inbox.'],
]);

/** `/keys`: what one has, seen and changed through a link that comes by mail. No password, no cookie. */
export async function keysPage(app: FastifyInstance, options: KeysPageOptions): Promise<void> {
  const { layout, publicUrl, register, desk, links, forLinks, forRotations, now } = options;
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
    const body = keysBody({ account, keys, token, usage: usageChart(usage), done: DONE.get(String(done)), now: now() });
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
    forLinks.take(request.ip, form.data.email);
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
    forRotations.take(request.ip, account.email);
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
