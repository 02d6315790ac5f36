import { MAX_LIVE_KEYS } from '#src/access/account.ts';
import { RESET_TIME } from '#src/access/day.ts';
import { PLANS, type PlanName } from '#src/access/plan.ts';
import { toSydneyClock } from '#src/transit/time.ts';
import { type Html, html } from '../../html.ts';
import { LINK_MINUTES } from '../magic-link.ts';
import type { MailMessage } from './mailer.ts';

/*
 * Texts of all mails. A mail contains nothing that was typed into a form, not even a key's label, so that nobody can send texts
 * of their own from our address.
 */

/** The addresses for links in mails, and whether keys work only in the sandbox. */
export interface MailContext {
  publicUrl: string;
  docsUrl: string;
  isSandbox: boolean;
}

/** The key that a new one replaces, named by its last four characters, because its text is stored nowhere. */
export interface ReplacedKey {
  lastFour: string;
  /** Null: the key is revoked immediately. */
  worksUntil: number | null;
}

export function newKeyMail(
  { publicUrl, docsUrl, isSandbox }: MailContext,
  {
    key,
    plan,
    replaced,
    isPublishable = false,
  }: { key: string; plan: PlanName; replaced?: ReplacedKey | undefined; isPublishable?: boolean },
): MailMessage {
  if (isPublishable) return publishableKeyMail(publicUrl, docsUrl, key, replaced);
  const curl = `curl -H "Authorization: Bearer ${key}" "${publicUrl}/v1/departures?stop=200070&modes=all&limit=5"`;
  const limit = `${planLimit(plan)}. All keys of this address share it. It resets at ${RESET_TIME}.`;
  const replacement = replaced && replacementText(replaced);
  const notRequested = replaced
    ? 'If you did not request this, someone else has used a link to your keys. Open your keys and revoke those you do not recognise.'
    : 'If you did not request a key, you can ignore this mail. The key was sent to this address only.';
  const sandbox =
    isSandbox &&
    'This service is a sandbox, and the key works only in a sandbox. Times, delays and alerts are made up: do not travel by them.';
  return {
    subject: replaced ? 'Your new API key' : 'Your API key',
    text: paragraphs(
      'This is your API key for the Transit Information Service:',
      `    ${key}`,
      replacement,
      'Try it:',
      `    ${curl}`,
      `Your limit: ${limit}`,
      sandbox,
      `Documentation: ${docsUrl}\nErrors and how to fix them: ${docsUrl}/errors\nThe RateLimit header of each response shows how many requests are left today.`,
      `Keep the key secret. If it is lost or someone else has it, revoke it: ${publicUrl}/keys`,
      notRequested,
      SIGNATURE,
    ),
    html: document(html`<p>This is your API key for the Transit Information Service:</p>
<p style="padding:12px 16px;background:#f1efe9;border-radius:8px"><code>${key}</code></p>
${replacement && html`<p>${replacement}</p>`}
<p>Try it:</p>
<pre style="padding:12px 16px;background:#f1efe9;border-radius:8px;white-space:pre-wrap;word-break:break-all"><code>${curl}</code></pre>
<p><strong>Your limit:</strong> ${limit}</p>
${sandbox && html`<p><strong>${sandbox}</strong></p>`}
<p><a href="${docsUrl}">Documentation</a> · <a href="${docsUrl}/errors">Errors and how to fix them</a>. The <code>RateLimit</code> header of each response shows how many requests are left today.</p>
<p>Keep the key secret. If it is lost or someone else has it, <a href="${publicUrl}/keys">revoke it</a>.</p>
<p>${notRequested}</p>`),
  };
}

/** Mail with a publishable key, which need not be secret. */
function publishableKeyMail(
  publicUrl: string,
  docsUrl: string,
  key: string,
  replaced: ReplacedKey | undefined,
): MailMessage {
  const intro =
    'This is your publishable key for the Transit Information Service. You can use it in a web page or an app:';
  const replacement = replaced && replacementText(replaced);
  const use = `It works only on the origins and within the limits that you chose. How to use it: ${docsUrl}/browsers`;
  const notRequested = `If you did not request it, someone else has used a link to your keys. Revoke it: ${publicUrl}/keys`;
  return {
    subject: replaced ? 'Your new publishable key' : 'Your publishable key',
    text: paragraphs(intro, `    ${key}`, replacement, use, notRequested, SIGNATURE),
    html: document(html`<p>${intro}</p>
<p style="padding:12px 16px;background:#f1efe9;border-radius:8px"><code>${key}</code></p>
${replacement && html`<p>${replacement}</p>`}
<p>It works only on the origins and within the limits that you chose. <a href="${docsUrl}/browsers">How to use it</a>.</p>
<p>${notRequested}</p>`),
  };
}

/** Mail for a sign-up when the address has the maximum number of keys. */
export function keyLimitMail({ publicUrl }: MailContext): MailMessage {
  const full = `An API key was requested for this address. The address already has ${MAX_LIVE_KEYS} keys that work, which is the maximum, so no new key was made.`;
  const instructions = 'To make room, request a link to your keys and revoke one that you no longer need:';
  return {
    subject: `No new API key: you have ${MAX_LIVE_KEYS}`,
    text: paragraphs(full, instructions, `    ${publicUrl}/keys`, SIGNATURE),
    html: document(html`<p>${full}</p><p>${instructions} <a href="${publicUrl}/keys">${publicUrl}/keys</a></p>`),
  };
}

export function magicLinkMail(link: string): MailMessage {
  const intro = `This link opens your API keys. It works once, within ${LINK_MINUTES} minutes:`;
  const notRequested = 'If you did not request it, ignore this mail. Opening the link changes nothing by itself.';
  return {
    subject: 'Your API keys',
    text: paragraphs(intro, `    ${link}`, notRequested, SIGNATURE),
    html: document(html`<p>${intro}</p><p><a href="${link}">Open your keys</a></p><p>${notRequested}</p>`),
  };
}

export function revocationMail({ publicUrl }: MailContext, lastFour: string): MailMessage {
  const revoked = `Your API key ending in ${lastFour} was revoked on your keys page. It no longer works.`;
  const notRequested =
    'If you did not do this, someone else has used a link to your keys. Make sure that only you can read your email, then request a link and get a new key:';
  return {
    subject: 'Your API key was revoked',
    text: paragraphs(revoked, notRequested, `    ${publicUrl}/keys`, SIGNATURE),
    html: document(html`<p>${revoked}</p><p>${notRequested} <a href="${publicUrl}/keys">${publicUrl}/keys</a></p>`),
  };
}

/** Pages respond the same for every address; only this mail reveals that an address has no account. */
export function unknownAddressMail({ publicUrl }: MailContext): MailMessage {
  const none = 'A link to the API keys of this address was requested. This address has no keys.';
  return {
    subject: 'You have no API keys',
    text: paragraphs(none, `To get a key: ${publicUrl}/signup`, SIGNATURE),
    html: document(html`<p>${none}</p><p><a href="${publicUrl}/signup">Get a key</a></p>`),
  };
}

/** Mail when most or all of a day's requests are used. `link` opens the switch for these mails. */
export function quotaMail(
  { docsUrl }: MailContext,
  { plan, percent, link, resetAt }: { plan: PlanName; percent: number; link: string; resetAt: number },
): MailMessage {
  const { title, dailyLimit } = PLANS[plan];
  const limit = `${dailyLimit?.toLocaleString('en')} requests a day of the ${title} plan`;
  const isSpent = percent === 100;
  const state = isSpent
    ? `Your keys have used all ${limit}. Until ${utcAndSydney(resetAt)} further requests get the error 429 DAILY_LIMIT_EXCEEDED.`
    : `Your keys have used ${percent} % of the ${limit}. The limit resets at ${utcAndSydney(resetAt)}.`;
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

const SIGNATURE = '-- \nTransit Information Service. Data: Transport for NSW, CC BY 4.0.';

/** "2026-11-24 00:00 UTC (11:00 in Sydney)" */
function utcAndSydney(moment: number): string {
  const utc = new Date(moment).toISOString();
  return `${utc.slice(0, 10)} ${utc.slice(11, 16)} UTC (${toSydneyClock(utc)} in Sydney)`;
}

function replacementText({ lastFour, worksUntil }: ReplacedKey): string {
  const state = worksUntil ? `works until ${utcAndSydney(worksUntil)}` : 'no longer works';
  return `It replaces the key ending in ${lastFour}, which ${state}.`;
}

function planLimit(plan: PlanName): string {
  const { title, dailyLimit } = PLANS[plan];
  return dailyLimit === null
    ? `${title} plan, unlimited`
    : `${title} plan, ${dailyLimit.toLocaleString('en')} requests a day`;
}

function paragraphs(...parts: (string | false | undefined)[]): string {
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function document(body: Html): Html {
  return html`<!doctype html><html lang="en"><body style="font:16px/1.6 system-ui,sans-serif;color:#1d2427;max-width:40em">${body}
<p style="color:#56626a;font-size:14px">Transit Information Service. Data: Transport for NSW, <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>.</p></body></html>`;
}
