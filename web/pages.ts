import type { CreateExtension, Service } from '#src/http/extension.ts';
import { createErrorPage, createLayout } from './layout.ts';
import { pageSecurity } from './page-security.ts';
import { createMagicLinks } from './signup/magic-link.ts';
import type { Mailer } from './signup/mail/mailer.ts';
import { createRetryingMailer, type MailOutcome } from './signup/mail/retrying-mailer.ts';
import { createQuotaMails } from './signup/quota-mails.ts';
import { type SignupOptions, signup } from './signup/signup.ts';
import { type SiteOptions, site } from './site.ts';

/** Options of the pages, beyond what `Service` provides. */
export type PageOptions = Omit<SiteOptions & SignupOptions, keyof Service | 'layout' | 'searchStops' | 'mailer'> & {
  mailer: Mailer;
  countMail?: (outcome: MailOutcome) => void;
};

/** The web pages: documentation, explorer, status, sign-up and keys. */
export const pages =
  (options: PageOptions): CreateExtension =>
  (service) => {
    const { isSandbox, publicUrl, docsUrl, linkSecrets: secrets, now, sleep, log } = service;
    const layout = createLayout({ isSandbox, publicUrl });
    const mailer = createRetryingMailer({
      mailer: options.mailer,
      count: options.countMail ?? (() => {}),
      now,
      sleep,
      log,
    });
    const quotaMails = createQuotaMails({
      ...options,
      mailer,
      mailContext: { publicUrl, docsUrl, isSandbox },
      createLink: createMagicLinks({ ...options, secrets, publicUrl, now }).createQuotaMailsUrl,
      log,
    });
    /** Finds stops by name for forms, best match first. Uses upstream only while calls are plentiful, else the stop register. */
    const searchStops = async (q: string) =>
      (await service.runOperation('/v1/stops/search', { q, limit: '6' })).body.content().results;
    const page = { ...service, ...options, mailer, layout, searchStops };
    return {
      drawError: createErrorPage(layout),
      onCounted: quotaMails.record,
      addPages: async (app) => {
        await app.register(pageSecurity, page);
        await app.register(site, page);
        await app.register(signup, page);
      },
      close: mailer.close,
    };
  };
