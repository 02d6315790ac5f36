import type { FastifyBaseLogger } from 'fastify';
import type { Admission } from '../access/admission.ts';
import type { UtcDay } from '../access/day.ts';
import { PLANS } from '../access/plan.ts';
import type { Accounts } from '../access/store.ts';
import { createBoundedMap } from '../own-memory.ts';
import type { MailContext } from './mail/mail-messages.ts';
import type { Mailer } from './mail/mailer.ts';
import { quotaMail } from './mail/quota-message.ts';

const FIRST_PERCENT = 80;
const LAST_PERCENT = 100;
const MAX_REMEMBERED = 20_000;
/** Accounts that nobody reads mails of, as the sandbox's own (RFC 2606). */
const NOBODY = '.invalid';

export interface QuotaMails {
  /** Takes note of a counted request. At 80 % and at 100 % of a day's limit a mail is sent, each at most once a day. */
  note(admission: Admission): void;
}

/** Mails that fail are not repeated: the claim in the store, which keeps other processes from mailing too, stays. */
export function createQuotaMails(options: {
  accounts: Pick<Accounts, 'findAccount' | 'claimQuotaMail'>;
  mailer: Mailer;
  mailContext: MailContext;
  createLink: (accountId: string) => string;
  log: Pick<FastifyBaseLogger, 'warn'>;
}): QuotaMails {
  const { accounts, mailer, mailContext, createLink, log } = options;
  /** What this process has asked the store about already. */
  const noted = createBoundedMap<true>('quota mails', MAX_REMEMBERED);

  async function send(accountId: string, day: UtcDay, percent: number): Promise<void> {
    const account = await accounts.findAccount(accountId);
    if (!account || account.email.endsWith(NOBODY)) return;
    if (!(await accounts.claimQuotaMail(accountId, day, percent))) return;
    await mailer.send(
      account.email,
      quotaMail(mailContext, { plan: account.plan, percent, link: createLink(accountId) }),
    );
  }

  return {
    note({ caller: { accountId, plan }, day, used }) {
      const { dailyLimit } = PLANS[plan];
      if (dailyLimit === null || used * LAST_PERCENT < dailyLimit * FIRST_PERCENT) return;
      const percent = used >= dailyLimit ? LAST_PERCENT : FIRST_PERCENT;
      const name = `${accountId} ${day} ${percent}`;
      if (noted.has(name)) return;
      noted.set(name, true);
      send(accountId, day, percent).catch((err: Error) => log.warn({ err }, 'a mail about a daily limit was not sent'));
    },
  };
}
