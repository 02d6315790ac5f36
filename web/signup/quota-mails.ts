import type { FastifyInstance } from 'fastify';
import type { Admission } from '#src/access/account.ts';
import { endOfDay, type QuotaDay } from '#src/access/day.ts';
import { PLANS } from '#src/access/plan.ts';
import type { Accounts } from '#src/access/store.ts';
import type { Log } from '#src/core/log.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { type Html, html } from '../html.ts';
import { type Layout, sendPage } from '../layout.ts';
import { expectForm, quotaMailsForm } from './form.ts';
import type { MagicLinks } from './magic-link.ts';
import { type MailContext, quotaMail } from './mail/mail-messages.ts';
import type { PatientMailer } from './mail/retrying-mailer.ts';

const PERCENTS = [80, 100];
/** Addresses that nobody reads, such as the sandbox's own (RFC 2606). */
const NOBODY = '.invalid';

/**
 * Sends mails about the daily quota and retries them until the day ends. A claim in the store prevents duplicates by other
 * processes.
 */
export function createQuotaMails(options: {
  accounts: Accounts;
  mailer: PatientMailer;
  mailContext: MailContext;
  createLink: (accountId: string) => string;
  log: Log<'warn'>;
}) {
  const { accounts, mailer, mailContext, createLink, log } = options;

  async function send(accountId: string, day: QuotaDay, percent: number): Promise<void> {
    const account = await accounts.loadAccount(accountId);
    if (!account || account.email.endsWith(NOBODY)) return;
    if (!(await accounts.claimQuotaMail(accountId, day, percent))) return;
    const resetAt = endOfDay(day);
    const mail = quotaMail(mailContext, { plan: account.plan, percent, link: createLink(accountId), resetAt });
    await mailer.sendOrRetry(account.email, mail, { until: resetAt });
  }

  return {
    /**
     * Records a charged request. The request that reaches 80 % or 100 % of the daily limit triggers a mail, each at most once a
     * day.
     */
    record({ kind, caller: { accountId, plan }, day, count, used }: Admission): void {
      const { dailyLimit } = PLANS[plan];
      if (kind !== 'admitted' || dailyLimit === null) return;
      const isReached = (percent: number, requests: number) => requests * 100 >= dailyLimit * percent;
      const percent = PERCENTS.findLast(
        (threshold) => isReached(threshold, used) && !isReached(threshold, used - count),
      );
      if (percent === undefined) return;
      send(accountId, day, percent).catch((err: Error) => log.warn({ err }, 'quota mail not sent'));
    },
  };
}

/**
 * `/keys/quota-mails`: switches quota mails off and on. Each of these mails has the link, which does not expire. The page has a
 * button, because mail scanners open every link in a mail.
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
    const fields = expectForm(quotaMailsForm, request.body);
    await accounts.setQuotaMails(getAccountId(fields.token), fields.mails === 'on');
    return reply.redirect(`/keys/quota-mails?token=${fields.token}`, 303);
  });

  function getAccountId(token: unknown): string {
    const accountId = typeof token === 'string' ? links.verifyQuotaMails(token) : null;
    if (accountId) return accountId;
    throw new ApiError('INVALID_PARAMETER', 'The link is incomplete. Open it from the mail again, or go to your keys.');
  }
}

function switchView(token: string, isOn: boolean): Html {
  return html`<h1>Mails about the daily limit</h1>
<p class="lead" role="status">They are switched ${isOn ? 'on' : 'off'}.</p>
<p>You get one mail when 80 % of a day’s requests are used and one when all are used, each at most once a day.</p>
<form method="post" action="/keys/quota-mails"><input type="hidden" name="token" value="${token}"><input type="hidden" name="mails" value="${isOn ? 'off' : 'on'}">
<p class="actions"><button>Switch them ${isOn ? 'off' : 'on'}</button> <a href="/keys">Your keys</a></p></form>`;
}
