import { PLANS, type Plan } from '../../access/plan.ts';
import { html } from '../../site/html.ts';
import { document, type MailContext, paragraphs, SIGNATURE } from './mail-messages.ts';
import type { MailMessage } from './mailer.ts';

/** That most of a day's requests are used, or all. `link` leads to the switch for these mails. */
export function quotaMail(
  { docsUrl }: MailContext,
  { plan, percent, link }: { plan: Plan; percent: number; link: string },
): MailMessage {
  const { title, dailyLimit } = PLANS[plan];
  const limit = `${dailyLimit?.toLocaleString('en')} requests a day of the ${title} plan`;
  const isSpent = percent === 100;
  const state = isSpent
    ? `Your keys have used all ${limit}. Until 00:00 UTC, which is 10:00 or 11:00 in Sydney, further requests get the error 429 DAILY_LIMIT_EXCEEDED.`
    : `Your keys have used ${percent} % of the ${limit}. The count starts again at 00:00 UTC, which is 10:00 or 11:00 in Sydney.`;
  const advice = 'How to poll with fewer requests, and what to do when a plan is too small:';
  const off = 'You get this mail at most once a day. To switch these mails off:';
  return {
    subject: isSpent ? 'Your daily limit is used up' : `${percent} % of your daily limit is used`,
    text: paragraphs(state, advice, `    ${docsUrl}/errors/DAILY_LIMIT_EXCEEDED`, off, `    ${link}`, SIGNATURE),
    html: document(html`<p>${state}</p>
<p>${advice} <a href="${docsUrl}/errors/DAILY_LIMIT_EXCEEDED">DAILY_LIMIT_EXCEEDED</a></p>
<p>${off} <a href="${link}">mails about the daily limit</a></p>`),
  };
}
