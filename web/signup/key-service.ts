import { type Account, type KeyRecord, MAX_LIVE_KEYS } from '#src/access/account.ts';
import { endOfDay, quotaDayFrom } from '#src/access/day.ts';
import type { Grant } from '#src/access/grant.ts';
import { issueKey, type KeyKind } from '#src/access/keys.ts';
import type { Accounts } from '#src/access/store.ts';
import { DAY_MS, SECOND_MS } from '#src/core/clock.ts';
import { ApiError } from '#src/errors/api-error.ts';
import {
  keyLimitMail,
  type MailContext,
  magicLinkMail,
  newKeyMail,
  type ReplacedKey,
  revocationMail,
  unknownAddressMail,
} from './mail/mail-messages.ts';
import type { MailMessage } from './mail/mailer.ts';
import type { Retries, RetryingMailer } from './mail/retrying-mailer.ts';

function oldKeyLeft(cause: unknown): never {
  throw new ApiError(
    'SERVICE_UNAVAILABLE',
    'The new key was mailed, but the account store is not responding, and the old key may still work. Check it at /keys in a few minutes.',
    { cause, headers: { 'retry-after': '300' }, unavailable: 'store' },
  );
}

export type KeyService = ReturnType<typeof createKeyService>;

/** Returns when a replaced key stops working: now, or at the end of the quota day `overlapDays` from today. */
export function overlapEnd(now: number, overlapDays: number): number {
  return overlapDays === 0 ? now : endOfDay(quotaDayFrom(now, overlapDays));
}

const REVOKE_AGAIN_MS = 5 * SECOND_MS;

/** Issues and revokes keys. A key is mailed to its account's address and shown nowhere else. */
export function createKeyService(options: {
  accounts: Accounts;
  mailer: Pick<RetryingMailer, 'send' | 'sendOrRetry'>;
  mailContext: MailContext;
  keyKind: KeyKind;
  createLink: (accountId: string) => Promise<string>;
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
}) {
  const { accounts, mailer, mailContext, keyKind, createLink, now, sleep } = options;

  const oneDayFromNow = () => now() + DAY_MS;

  /** Returns null when the account already has `maxLive` valid keys. With `canWait` the mail may be sent later. */
  async function issueAndMail(
    account: Account,
    label: string,
    maxLive: number,
    {
      replaced,
      grant = null,
      canWait = false,
    }: { replaced?: ReplacedKey; grant?: Grant | null; canWait?: boolean } = {},
  ): Promise<{ isSent: boolean } | null> {
    const addKey: Accounts['addKey'] = (key, max) =>
      accounts.addKey(key, max).catch((error) => {
        // A store that did not reply in time may still add the key.
        void revokeUnsent(account.id, key.hash);
        throw error;
      });
    const issued = await issueKey({ addKey }, { account, kind: keyKind, label, now: now(), maxLive, grant });
    if (!issued) return null;
    const { text: key, record } = issued;
    const message = newKeyMail(mailContext, { key, plan: account.plan, replaced, isPublishable: grant !== null });
    const giveUp = () => accounts.revokeKey(account.id, record.hash, now());
    try {
      return { isSent: await mail(account.email, message, canWait ? { until: oneDayFromNow(), giveUp } : null) };
    } catch (error) {
      await revokeUnsent(account.id, record.hash);
      throw error;
    }
  }

  /**
   * Revokes a key that was not mailed: its text is lost, and it would only occupy one of the account's five places. Resolves
   * after the first attempt, and goes on until the store responds.
   */
  async function revokeUnsent(accountId: string, hash: string): Promise<void> {
    try {
      await accounts.revokeKey(accountId, hash, now());
    } catch {
      void sleep(REVOKE_AGAIN_MS).then(() => revokeUnsent(accountId, hash));
    }
  }

  /** Returns true if the mail was sent, false if it is being retried. */
  async function mail(to: string, message: MailMessage, retries: Retries | null = null): Promise<boolean> {
    try {
      if (retries) return await mailer.sendOrRetry(to, message, retries);
      await mailer.send(to, message);
      return true;
    } catch (cause) {
      throw new ApiError(
        'SERVICE_UNAVAILABLE',
        'The mail could not be sent, and nothing was changed. Check the address and try again in a few minutes. If a mail with a key still arrives, that key does not work.',
        { cause, headers: { 'retry-after': '300' } },
      );
    }
  }

  return {
    /**
     * Mails a new key of the free plan. Returns true if the mail was sent, false if it is retried for a day, for known and
     * unknown addresses alike.
     */
    async signUp(email: string, label: string): Promise<boolean> {
      const account = await accounts.openAccount({ email, plan: 'free', createdAt: new Date(now()).toISOString() });
      const issued = await issueAndMail(account, label, MAX_LIVE_KEYS, { canWait: true });
      return issued?.isSent ?? (await mail(email, keyLimitMail(mailContext), { until: oneDayFromNow() }));
    },
    /** Mails a magic link to the address's keys, or a notice that it has none. */
    async sendLink(email: string): Promise<void> {
      const account = await accounts.loadAccountByEmail(email);
      await mail(email, account ? magicLinkMail(await createLink(account.id)) : unknownAddressMail(mailContext));
    },
    /** Mails another key, publishable if it has a grant. Returns false when the account has the maximum number of keys. */
    add: async (account: Account, label: string, grant: Grant | null = null) =>
      (await issueAndMail(account, label, MAX_LIVE_KEYS, { grant })) !== null,
    /**
     * Mails a new key to replace `old`, which stays valid until `overlapEnd`. Returns false and changes nothing when the
     * account has too many valid keys, for example because another one is being replaced.
     */
    async rotate(account: Account, old: KeyRecord, overlapDays: number): Promise<boolean> {
      const revokedAt = overlapEnd(now(), overlapDays);
      const worksUntil = overlapDays === 0 ? null : revokedAt;
      // The old key still counts while the new one is issued, so one more key is allowed.
      const replaced = { lastFour: old.lastFour, worksUntil };
      const issued = await issueAndMail(account, old.label, MAX_LIVE_KEYS + 1, { replaced, grant: old.grant });
      if (issued) await accounts.revokeKey(account.id, old.hash, revokedAt, now()).catch(oldKeyLeft);
      return issued !== null;
    },
    revoke: async (account: Account, key: KeyRecord) => void (await accounts.revokeKey(account.id, key.hash, now())),
    /** Mails the owner that the key was revoked, so that a revocation by someone else is noticed. Retries for a day. */
    mailRevocation: (account: Account, { lastFour }: KeyRecord) =>
      mail(account.email, revocationMail(mailContext, lastFour), { until: oneDayFromNow() }),
  };
}
