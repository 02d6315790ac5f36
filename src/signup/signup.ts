import formbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import { toApiError } from '../http/error-answer.ts';
import { answerError } from '../http/error-handler.ts';
import { html } from '../site/html.ts';
import type { Layout } from '../site/layout.ts';
import { sendPage } from '../site/page-answer.ts';
import { type Accounts, failAsUnavailable } from './accounts.ts';
import { refuseCrossSiteForm, wantsPage } from './form.ts';
import { createKeyService } from './key-service.ts';
import { keysPage } from './keys-page.ts';
import { createMagicLinks, LINK_MINUTES } from './magic-link.ts';
import type { Mailer } from './mailer.ts';
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
  /** Signs the links in mails. */
  linkSecret: string;
  /** Replaces some of `MAIL_LIMITS`. */
  mailLimits?: Partial<MailLimits> | undefined;
  now: () => Date;
}

const MAX_FORM_BYTES = 16 * 1024;
const MAIL_LIMITS = { perHour: 1000, perNetwork: 20, perAddress: 6 };
/** For new keys on the keys page. Higher, because that takes a magic link. They bound what a stolen link can do. */
const ACCOUNT_LIMITS = { perNetwork: 100, perAddress: 20 };
/**
 * What each purpose gets of `perHour`. A flood of signups must not stop owners from getting a link, and a flood of link
 * requests must not stop them from getting a new key on the keys page.
 */
const SHARES = { signup: 0.5, link: 0.25, account: 0.25 };

/** The signup form and the keys page. */
export async function signup(app: FastifyInstance, options: SignupOptions): Promise<void> {
  const { layout, publicUrl, docsUrl, isSandbox, mailer, linkSecret, now } = options;
  const accounts = failAsUnavailable(options.accounts);
  const links = createMagicLinks({ secret: linkSecret, publicUrl, now });
  const mailContext = { publicUrl, docsUrl, isSandbox };
  const keyService = createKeyService({
    accounts,
    mailer,
    mailContext,
    keyKind: isSandbox ? 'test' : 'live',
    createLink: links.createUrl,
    now,
  });
  const limits = { ...MAIL_LIMITS, ...options.mailLimits };
  const perHour = (purpose: keyof typeof SHARES) => Math.ceil(limits.perHour * SHARES[purpose]);
  const throttle = createThrottle({ ...limits, perHour: perHour('signup') }, now);
  // The window is as long as a link is valid: when a link is refused, an earlier one in the inbox still works.
  const linkLimits = { ...limits, perHour: perHour('link'), addressWindowMinutes: LINK_MINUTES };
  const linkThrottle = createThrottle(linkLimits, now);
  const accountThrottle = createThrottle({ ...ACCOUNT_LIMITS, perHour: perHour('account') }, now);

  answerErrorsWithPages(app, { layout, docsUrl });
  await app.register(formbody, { bodyLimit: MAX_FORM_BYTES });
  app.addHook('preValidation', async (request) => {
    if (request.method === 'POST') refuseCrossSiteForm(request, publicUrl);
  });
  await app.register(signupPage, { layout, keyService, throttle, isSandbox });
  await app.register(keysPage, { layout, accounts, keyService, links, linkThrottle, accountThrottle, now });
}

/** Errors of these routes are pages for browsers. Programs get the same JSON as everywhere. */
function answerErrorsWithPages(app: FastifyInstance, { layout, docsUrl }: { layout: Layout; docsUrl: string }): void {
  app.setErrorHandler((error, request, reply) => {
    if (!wantsPage(request)) return answerError(error, request, reply, docsUrl);
    const { code, message, headers, statusCode, cause } = toApiError(error);
    if (statusCode >= 500) request.log.warn({ err: cause ?? error, code }, message);
    const body = html`<h1>That did not work</h1>
<p class="notice bad" role="alert">${message}</p>
<p class="quiet"><span class="status-code">${statusCode}</span> <a href="/docs/errors/${code}"><code>${code}</code></a></p>
<p><a href="/signup">Get a key</a> or <a href="/keys">see your keys</a></p>`;
    sendPage(reply.code(statusCode).headers(headers), layout({ title: 'That did not work', body }));
  });
}
