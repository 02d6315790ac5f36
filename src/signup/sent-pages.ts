import type { FastifyInstance } from 'fastify';
import { html } from '../site/html.ts';
import { fixedPage, type Layout } from '../site/layout.ts';
import { LINK_MINUTES } from './magic-link.ts';
import type { Mailer } from './mail/mailer.ts';

/** The texts after a mail was sent. `key` is for a mail with a key, `link` for one with a link to the page of the keys. */
export type SentTexts = ReturnType<typeof sentTexts>;

const IN_A_FILE =
  'This server has no mail server and sends nothing: it writes each mail to a file in the folder “outbox” of its data directory.';

export function sentTexts({ isOutbox }: Pick<Mailer, 'isOutbox'>) {
  if (isOutbox) return { isOutbox, title: 'The mail is in a file', key: IN_A_FILE, link: IN_A_FILE };
  return {
    isOutbox,
    title: 'Check your inbox',
    key: 'A mail is on its way to this address. Check the spam folder too.',
    link: 'If the address has an account, a link to its keys is on its way.',
  };
}

/** `GET /signup/sent` and `/keys/sent`: what comes next. */
export async function sentPages(
  app: FastifyInstance,
  { layout, texts }: { layout: Layout; texts: SentTexts },
): Promise<void> {
  const { isOutbox, title, key, link } = texts;

  const keySent = html`<h1>${title}</h1>
<p class="lead" role="status">${key}</p>
<p>The mail has your key and a <code>curl</code> command to try it. Meanwhile: <a href="/docs">the reference</a>, <a href="/explore">the map</a>.</p>
${
  !isOutbox &&
  html`<h2>No mail after five minutes?</h2>
<ul>
<li>Check the address for typing errors, then <a href="/signup">sign up again</a>.</li>
<li>Some mail servers delay the first mail from a new sender for about 15 minutes.</li>
</ul>`
}`;
  const linkSent = html`<h1>${title}</h1>
<p class="lead" role="status">${link}</p>
<p>The link works once, within ${LINK_MINUTES} minutes.</p>`;
  app.get(
    '/signup/sent',
    fixedPage(() => layout({ title, body: keySent })),
  );
  app.get(
    '/keys/sent',
    fixedPage(() => layout({ title, path: '/keys', body: linkSent })),
  );
}
