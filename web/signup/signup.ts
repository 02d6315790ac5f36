import formbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import type { Restrictions } from '#src/access/restrictions.ts';
import type { SignedKeys } from '#src/access/signed-keys.ts';
import type { Accounts } from '#src/access/store.ts';
import type { Secrets } from '#src/core/signer.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { html } from '../html.ts';
import { fixedPage, type Layout } from '../layout.ts';
import { refuseCrossSiteForm } from './form.ts';
import { createKeyService } from './key-service.ts';
import { type KeysPageOptions, keysPage } from './keys-page.ts';
import { createMagicLinks, LINK_MINUTES } from './magic-link.ts';
import type { RetryingMailer } from './mail/retrying-mailer.ts';
import { quotaMailsPage } from './quota-mails.ts';
import { signupPage } from './signup-page.ts';
import { createThrottle, type MailLimits } from './throttle.ts';

export interface SignupOptions {
  layout: Layout;
  publicUrl: string;
  docsUrl: string;
  /** In the sandbox, signups create `tis_test_` keys. */
  isSandbox: boolean;
  accounts: Accounts;
  mailer: RetryingMailer;
  signedKeys: SignedKeys;
  searchStops: KeysPageOptions['searchStops'];
  /** Suspended mail domains; none by default. */
  restrictions?: Restrictions | null | undefined;
  /** Signs the links in mails. */
  linkSecrets: Secrets;
  /** Overrides some of `MAIL_LIMITS`. */
  mailLimits?: Partial<MailLimits> | undefined;
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
}

const MAIL_LIMITS = { perHour: 1000, perNetwork: 20, perAddress: 6 };
/**
 * Maximum share of signup mails for one domain. Links and further keys have no such limit, because strangers could use it up
 * and lock a domain's owners out of their keys.
 */
const DOMAIN_SHARE = 0.1;
/**
 * Limits for new keys on the keys page. They are higher, because the page needs a magic link. They limit the damage of a stolen
 * link.
 */
const ACCOUNT_LIMITS = { perNetwork: 100, perAddress: 20 };
/**
 * Share of `perHour` for each purpose. A flood of signups must not stop owners from getting a link, and a flood of link
 * requests must not stop them from getting a new key.
 */
const SHARES = { signup: 0.5, link: 0.25, account: 0.25 };

/** The signup form and the keys page. */
export async function signup(app: FastifyInstance, options: SignupOptions): Promise<void> {
  const { layout, publicUrl, docsUrl, isSandbox, mailer, linkSecrets, now, sleep } = options;
  const accounts = failAsUnavailable(options.accounts);
  const links = createMagicLinks({ secrets: linkSecrets, publicUrl, accounts, now });
  const mailContext = { publicUrl, docsUrl, isSandbox };
  const keyService = createKeyService({
    accounts,
    mailer,
    mailContext,
    keyKind: isSandbox ? 'test' : 'live',
    createLink: links.createUrl,
    now,
    sleep,
  });
  const texts = sentTexts(mailer);
  const limits = { ...MAIL_LIMITS, ...options.mailLimits };
  const perHour = (purpose: keyof typeof SHARES) => Math.ceil(limits.perHour * SHARES[purpose]);
  const perDomain = Math.ceil(perHour('signup') * DOMAIN_SHARE);
  const throttle = createThrottle({ perDomain, ...limits, perHour: perHour('signup') }, now);
  // As long as a link is valid: when another link is refused, an earlier one in the inbox may still work.
  const linkLimits = {
    ...limits,
    perDomain: Number.POSITIVE_INFINITY,
    perHour: perHour('link'),
    addressWindowMinutes: LINK_MINUTES,
  };
  const linkThrottle = createThrottle(linkLimits, now);
  const accountThrottle = createThrottle({ ...ACCOUNT_LIMITS, perHour: perHour('account') }, now);

  await app.register(formbody);
  app.addHook('preValidation', async (request) => {
    if (request.method === 'POST') refuseCrossSiteForm(request, publicUrl);
  });
  await app.register(sentPages, { layout, texts });
  await app.register(signupPage, { ...options, keyService, throttle, sentText: texts.key, laterText: LATER });
  await app.register(quotaMailsPage, { layout, accounts, links });
  const throttles = { linkThrottle, accountThrottle };
  await app.register(keysPage, { ...options, ...throttles, accounts, keyService, links, sentText: texts.link });
}

const IN_A_FILE =
  'This server has no mail server. It writes each mail to a file in the folder “outbox” of its data directory.';

const LATER = 'Our mail server is not responding. We will retry for a day. If no mail arrives by then, sign up again.';

/** Texts shown after a mail was sent: `key` for a mail with a key, `link` for one with a link to the keys page. */
interface SentTexts {
  isOutbox: boolean;
  title: string;
  key: string;
  link: string;
}

function sentTexts({ isOutbox }: RetryingMailer): SentTexts {
  if (isOutbox) return { isOutbox, title: 'The mail was written to a file', key: IN_A_FILE, link: IN_A_FILE };
  return {
    isOutbox,
    title: 'Check your inbox',
    key: 'A mail is on its way to this address. Check the spam folder too.',
    link: 'If the address has an account, a link to its keys is on its way.',
  };
}

/** `GET /signup/sent`, `/signup/later` and `/keys/sent`: the next steps. */
async function sentPages(app: FastifyInstance, { layout, texts }: { layout: Layout; texts: SentTexts }): Promise<void> {
  const { isOutbox, title, key, link } = texts;
  const keySent = html`<h1>${title}</h1>
<p class="lead" role="status">${key}</p>
<p>The mail contains your key and a <code>curl</code> command to try it. Meanwhile, see <a href="/docs">the reference</a>, <a href="/explore">the map</a>.</p>
${
  !isOutbox &&
  html`<h2>No mail after five minutes?</h2>
<ul>
<li>Check the address for typos, then <a href="/signup">sign up again</a>.</li>
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
    '/signup/later',
    fixedPage(() =>
      layout({
        title: 'Your mail is delayed',
        body: html`<h1>Your mail is delayed</h1>
<p class="lead" role="status">${LATER}</p>`,
      }),
    ),
  );
  app.get(
    '/keys/sent',
    fixedPage(() => layout({ title, path: '/keys', body: linkSent })),
  );
}

const NOT_RESPONDING =
  'The account store is not responding. No key was mailed; another change may still be made later. Try again in a moment.';

/** Wraps the accounts so that every failure of the store becomes a 503. */
function failAsUnavailable(accounts: Accounts): Accounts {
  return new Proxy(accounts, {
    get: (store, name) => {
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        try {
          return await method.apply(store, args);
        } catch (cause) {
          throw new ApiError('SERVICE_UNAVAILABLE', NOT_RESPONDING, {
            cause,
            headers: { 'retry-after': '30' },
            unavailable: 'store',
          });
        }
      };
    },
  });
}
