import { type Account, type KeyRecord, MAX_LIVE_KEYS } from '../access/account.ts';
import { endOfDay, utcDayFrom } from '../access/day.ts';
import { type IssuedKey, issueKey } from '../access/keys.ts';
import type { Plan } from '../access/plan.ts';
import type { Register } from '../access/store.ts';
import { ApiError } from '../errors.ts';
import { fullLetter, keyLetter, type LetterFacts, linkLetter, noAccountLetter } from './letters.ts';
import type { Letter, Postman } from './postman.ts';

export interface Desk {
  /** A key of the free plan, mailed to its owner. Ends the same way whether or not the address is known. */
  signUp(email: string, label: string): Promise<void>;
  /** Mails the way to the keys, or that there are none. */
  sendLink(email: string): Promise<void>;
  /** Mails a key that stands in for another, which works for so many days more. */
  rotate(account: Account, old: KeyRecord, overlapDays: number): Promise<void>;
  revoke(account: Account, key: KeyRecord): Promise<void>;
}

export interface DeskOptions {
  register: Register;
  postman: Postman;
  facts: LetterFacts;
  makeLink: (accountId: string) => string;
  linkMinutes: number;
  now: () => Date;
}

/** Where keys are given out and taken back. A key leaves by mail only. */
export function createDesk({ register, postman, facts, makeLink, linkMinutes, now }: DeskOptions): Desk {
  async function issueAndMail(
    account: Account,
    label: string,
    maxLive: number,
    replaces?: { lastFour: string; until: string | null },
  ): Promise<IssuedKey | null> {
    const issued = await issueKey(register, { account, kind: 'live', label, now: now(), maxLive });
    if (!issued) return null;
    try {
      await mail(account.email, keyLetter(facts, { key: issued.text, plan: account.plan, replaces }));
    } catch (error) {
      // Nobody has it and nobody will: it must not take up a place.
      await register.revokeKey(account.id, issued.record.hash, now());
      throw error;
    }
    return issued;
  }

  async function mail(to: string, letter: Letter): Promise<void> {
    try {
      await postman.send(to, letter);
    } catch (cause) {
      throw new ApiError(
        'SERVICE_UNAVAILABLE',
        'The mail could not be sent, and nothing was changed. Check the address and try again in a few minutes.',
        { cause, headers: { 'retry-after': '300' } },
      );
    }
  }

  return {
    async signUp(email, label) {
      const plan: Plan = 'free';
      const account = await register.openAccount({ email, plan, createdAt: now().toISOString() });
      if (!(await issueAndMail(account, label, MAX_LIVE_KEYS))) await mail(email, fullLetter(facts));
    },
    async sendLink(email) {
      const account = await register.findAccountByEmail(email);
      await mail(email, account ? linkLetter(makeLink(account.id), linkMinutes) : noAccountLetter(facts));
    },
    async rotate(account, old, overlapDays) {
      const revokedAt = overlapDays === 0 ? now() : endOfDay(utcDayFrom(now(), overlapDays));
      const until = overlapDays === 0 ? null : `${revokedAt.toISOString().slice(0, 10)} 00:00 UTC`;
      // The old key makes room for the new one only once that is on its way.
      await issueAndMail(account, old.label, MAX_LIVE_KEYS + 1, { lastFour: old.lastFour, until });
      await register.revokeKey(account.id, old.hash, revokedAt);
    },
    revoke: async (account, key) => void (await register.revokeKey(account.id, key.hash, now())),
  };
}
