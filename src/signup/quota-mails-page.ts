import type { FastifyInstance } from 'fastify';
import type { Accounts } from '../access/store.ts';
import { ApiError } from '../errors/api-error.ts';
import { type Html, html } from '../site/html.ts';
import { type Layout, sendPage } from '../site/layout.ts';
import { invalidForm, quotaMailsForm, readForm } from './form.ts';
import type { MagicLinks } from './magic-link.ts';

/**
 * `/keys/quota-mails`: switches the mails about the daily limit off and on. Its link is in each of these mails and does not
 * expire. It takes a button, because programs that check mails for harmful links open every link in them.
 */
export async function quotaMailsPage(
  app: FastifyInstance,
  options: { layout: Layout; accounts: Accounts; links: MagicLinks },
): Promise<void> {
  const { layout, accounts, links } = options;

  app.get<{ Querystring: { token?: unknown } }>('/keys/quota-mails', async (request, reply) => {
    const { token } = request.query;
    const accountId = getAccountId(token);
    const isOn = await accounts.wantsQuotaMails(accountId);
    return sendPage(reply, layout({ title: 'Mails about the daily limit', body: switchView(String(token), isOn) }));
  });

  app.post('/keys/quota-mails', async (request, reply) => {
    const { fields, errors } = readForm(quotaMailsForm, request.body);
    if (errors) throw invalidForm(errors);
    await accounts.setQuotaMails(getAccountId(fields.token), fields.mails === 'on');
    return reply.redirect(`/keys/quota-mails?token=${fields.token}`, 303);
  });

  function getAccountId(token: unknown): string {
    const accountId = typeof token === 'string' ? links.verifyQuotaMails(token) : null;
    if (accountId) return accountId;
    throw new ApiError('INVALID_PARAMETER', 'The link is incomplete. Open it from the mail again, or open your keys.');
  }
}

function switchView(token: string, isOn: boolean): Html {
  return html`<h1>Mails about the daily limit</h1>
<p class="lead" role="status">They are switched ${isOn ? 'on' : 'off'}.</p>
<p>When they are on, you get a mail when 80 % of a day’s requests are used, and one when all are used: each at most once a day.</p>
<form method="post" action="/keys/quota-mails"><input type="hidden" name="token" value="${token}"><input type="hidden" name="mails" value="${isOn ? 'off' : 'on'}">
<p class="actions"><button>Switch them ${isOn ? 'off' : 'on'}</button> <a href="/keys">Your keys</a></p></form>`;
}
