import { MAX_LIVE_KEYS } from '../access/account.ts';
import { PLANS, type Plan } from '../access/plan.ts';
import { type Html, html } from '../site/html.ts';
import type { Letter } from './postman.ts';

/*
 * What is written to people. Nothing that somebody typed into a form gets in here, so that no stranger's words travel
 * under our name.
 */

export interface LetterFacts {
  publicUrl: string;
  docsUrl: string;
  isSandbox: boolean;
}

/** A new key. `replaces` tells of the key that it stands in for. */
export function keyLetter(
  { publicUrl, docsUrl, isSandbox }: LetterFacts,
  {
    key,
    plan,
    replaces,
  }: { key: string; plan: Plan; replaces?: { lastFour: string; until: string | null } | undefined },
): Letter {
  const curl = `curl -H "Authorization: Bearer ${key}" "${publicUrl}/v1/departures?stop=200070&modes=all&limit=5"`;
  const limit = `${limitOf(plan)}, for all keys of this address together. Counting starts again at midnight UTC.`;
  const change =
    replaces &&
    `It replaces the key ending in ${replaces.lastFour}, which ${replaces.until ? `works until ${replaces.until}` : 'no longer works'}.`;
  const unasked = replaces
    ? 'If you did not ask for it, somebody else has opened a link to your keys: revoke the keys you do not know.'
    : 'If you did not ask for a key, you need not do anything: nobody else has seen it.';
  const madeUp = isSandbox && 'This is a sandbox: its times, delays and alerts are made up. Do not travel by them.';
  return {
    subject: replaces ? 'Your new API key' : 'Your API key',
    text: lines(
      'Here is your API key of the Transit Information Service:',
      `    ${key}`,
      change,
      'Try it:',
      `    ${curl}`,
      `Your limit: ${limit}`,
      madeUp,
      `Documentation: ${docsUrl}\nErrors, each with its fix: ${docsUrl}/errors\nWhat is left of the day is on every answer, in the header RateLimit.`,
      `Keep the key to yourself. If it is lost, or somebody else has it, revoke it: ${publicUrl}/keys`,
      unasked,
      SIGNATURE,
    ),
    html: frame(html`<p>Here is your API key of the Transit Information Service:</p>
<p style="padding:12px 16px;background:#f1efe9;border-radius:8px"><code>${key}</code></p>
${change && html`<p>${change}</p>`}
<p>Try it:</p>
<pre style="padding:12px 16px;background:#f1efe9;border-radius:8px;white-space:pre-wrap;word-break:break-all"><code>${curl}</code></pre>
<p><strong>Your limit:</strong> ${limit}</p>
${madeUp && html`<p><strong>${madeUp}</strong></p>`}
<p><a href="${docsUrl}">Documentation</a> · <a href="${docsUrl}/errors">Errors, each with its fix</a>. What is left of the day is on every answer, in the header <code>RateLimit</code>.</p>
<p>Keep the key to yourself. If it is lost, or somebody else has it, <a href="${publicUrl}/keys">revoke it</a>.</p>
<p>${unasked}</p>`),
  };
}

/** Instead of one key more. */
export function fullLetter({ publicUrl }: LetterFacts): Letter {
  const full = `Somebody asked for an API key for this address. It has ${MAX_LIVE_KEYS} keys that work, which is as many as an address may have, so no new one was made.`;
  const how = 'To make room, ask for a link to your keys and revoke one that you no longer need:';
  return {
    subject: 'No new API key: you have five',
    text: lines(full, how, `    ${publicUrl}/keys`, SIGNATURE),
    html: frame(html`<p>${full}</p><p>${how} <a href="${publicUrl}/keys">${publicUrl}/keys</a></p>`),
  };
}

/** The way to one's keys. */
export function linkLetter(link: string, minutes: number): Letter {
  const how = `This link leads to your API keys. It works for ${minutes} minutes:`;
  const otherwise =
    'If you did not ask for it, ignore this mail. Nothing changes until somebody opens the link and acts.';
  return {
    subject: 'Your API keys',
    text: lines(how, `    ${link}`, otherwise, SIGNATURE),
    html: frame(html`<p>${how}</p><p><a href="${link}">See your keys</a></p><p>${otherwise}</p>`),
  };
}

/** To an address without an account, so that asking tells a stranger nothing. */
export function noAccountLetter({ publicUrl }: LetterFacts): Letter {
  const none = 'Somebody asked for a link to the API keys of this address. It has none.';
  return {
    subject: 'You have no API keys',
    text: lines(none, `To get one: ${publicUrl}/signup`, SIGNATURE),
    html: frame(html`<p>${none}</p><p><a href="${publicUrl}/signup">Get one</a></p>`),
  };
}

const SIGNATURE = '-- \nTransit Information Service. Data: Transport for NSW, CC BY 4.0.';

function limitOf(plan: Plan): string {
  const { title, dailyLimit } = PLANS[plan];
  return dailyLimit === null
    ? `${title} plan, unlimited`
    : `${title} plan, ${dailyLimit.toLocaleString('en')} requests a day`;
}

function lines(...parts: (string | false | undefined)[]): string {
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function frame(body: Html): Html {
  return html`<!doctype html><html lang="en"><body style="font:16px/1.6 system-ui,sans-serif;color:#1d2427;max-width:40em">${body}
<p style="color:#56626a;font-size:14px">Transit Information Service. Data: Transport for NSW, <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>.</p></body></html>`;
}
