import formbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import type { Restrictions } from '../access/restrictions.ts';
import type { SignedKeys } from '../access/signed-keys.ts';
import type { Accounts } from '../access/store.ts';
import type { Layout } from '../site/layout.ts';
import { failAsUnavailable } from './accounts.ts';
import { boardLink, type FindStops } from './board-link.ts';
import { refuseCrossSiteForm } from './form.ts';
import { createKeyService } from './key-service.ts';
import { keysPage } from './keys-page.ts';
import { createMagicLinks, LINK_MINUTES } from './magic-link.ts';
import type { Mailer } from './mail/mailer.ts';
import { quotaMailsPage } from './quota-mails-page.ts';
import { sentPages, sentTexts } from './sent-pages.ts';
import { signupPage } from './signup-page.ts';
import { createThrottle, type MailLimits } from './throttle.ts';

export interface SignupOptions {
  layout: Layout;
  publicUrl: string;
  docsUrl: string;
  /** Whether the sandbox answers: signups then give `tis_test_` keys. */
  isSandbox: boolean;
  accounts: Accounts;
  mailer: Mailer;
  signedKeys: SignedKeys;
  /** Stops of such a name, the best match first. */
  findStops: FindStops;
  /** Which mail domains are suspended; none unless given. */
  restrictions?: Restrictions | null | undefined;
  /** Signs the links in mails. */
  linkSecrets: readonly [string, ...string[]];
  /** Replaces some of `MAIL_LIMITS`. */
  mailLimits?: Partial<MailLimits> | undefined;
  now: () => Date;
}

const MAIL_LIMITS = { perHour: 1000, perNetwork: 20, perAddress: 6 };
/**
 * Of the mails for signups, to one domain. Links and further keys have no such limit: strangers could use it up, and
 * keep the owners of a domain from their keys.
 */
const DOMAIN_SHARE = 0.1;
const LEAST_PER_DOMAIN = 10;
/** For new keys on the keys page. Higher, because that takes a magic link. They bound what a stolen link can do. */
const ACCOUNT_LIMITS = { perNetwork: 100, perAddress: 20 };
/**
 * What each purpose gets of `perHour`. A flood of signups must not stop owners from getting a link, and a flood of link
 * requests must not stop them from getting a new key on the keys page.
 */
const SHARES = { signup: 0.5, link: 0.25, account: 0.25 };

/** The signup form and the keys page. */
export async function signup(app: FastifyInstance, options: SignupOptions): Promise<void> {
  const { layout, publicUrl, docsUrl, isSandbox, mailer, linkSecrets, now } = options;
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
  });
  const texts = sentTexts(mailer);
  const limits = { ...MAIL_LIMITS, ...options.mailLimits };
  const perHour = (purpose: keyof typeof SHARES) => Math.ceil(limits.perHour * SHARES[purpose]);
  const perDomain = Math.max(LEAST_PER_DOMAIN, Math.ceil(perHour('signup') * DOMAIN_SHARE));
  const throttle = createThrottle({ perDomain, ...limits, perHour: perHour('signup') }, now);
  // The window is as long as a link is valid: when a link is refused, one in the inbox may still work.
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
  await app.register(signupPage, { ...options, keyService, throttle, texts });
  await app.register(boardLink, { ...options, accounts, links });
  await app.register(quotaMailsPage, { layout, accounts, links });
  await app.register(keysPage, { layout, accounts, keyService, links, linkThrottle, accountThrottle, texts, now });
}
