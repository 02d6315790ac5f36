import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from '#src/access/account.ts';
import type { Accounts } from '#src/access/store.ts';
import { MINUTE_MS } from '#src/core/clock.ts';
import { makePrivateFolder } from '#src/core/durable-file.ts';
import { createSigner, type Secrets } from '#src/core/signer.ts';

export const LINK_MINUTES = 30;
const TOKEN = /^(\w{1,20})\.([1-9]\d{12})\.([\w-]{43})$/;

/** Permission to see and change an account's keys, for half an hour after a link was used or until a key is revoked. */
export interface KeysVisit {
  account: Account;
  /** Milliseconds since 1970. */
  since: number;
}

export type MagicLinks = ReturnType<typeof createMagicLinks>;

/**
 * Creates and verifies links that open an account's keys without a password. They are sent only by mail, and each works once.
 * The pages they open carry a separate kind of token in their forms, never in an address.
 *
 * A token contains account ID, timestamp, and an HMAC of both and of all revocations, so revoking a key ends all earlier links
 * and pages.
 */
export function createMagicLinks(options: {
  secrets: Secrets;
  publicUrl: string;
  accounts: Accounts;
  now: () => number;
}) {
  const { secrets, publicUrl, accounts, now } = options;
  const { sign, isSigned } = createSigner(secrets);

  async function textToSign(purpose: 'link' | 'visit', accountId: string, since: number): Promise<string> {
    const keys = await accounts.listKeys(accountId);
    const revocations = keys.filter(({ revokedAt }) => revokedAt !== null);
    const state = revocations.map(({ hash, revokedAt }) => `${hash} ${revokedAt}`).join();
    return `${purpose} ${accountId} ${since} ${state}`;
  }

  async function createToken(purpose: 'link' | 'visit', accountId: string, since: number): Promise<string> {
    return `${accountId}.${since}.${sign(await textToSign(purpose, accountId, since))}`;
  }

  /** Returns null when the token is forged, expired, or older than a revocation. */
  async function verify(purpose: 'link' | 'visit', token: string): Promise<KeysVisit | null> {
    const [, accountId = '', moment, signature = ''] = TOKEN.exec(token) ?? [];
    const since = Number(moment);
    if (!moment || now() >= since + LINK_MINUTES * MINUTE_MS) return null;
    if (!isSigned(await textToSign(purpose, accountId, since), signature)) return null;
    const account = await accounts.loadAccount(accountId);
    return account && { account, since };
  }

  return {
    createUrl: async (accountId: string) => `${publicUrl}/keys?token=${await createToken('link', accountId, now())}`,
    /** Checks a link, except whether it was used. Changes nothing, because mail scanners open links. */
    isValid: async (token: string) => (await verify('link', token)) !== null,
    /** Uses a link. Returns null when it is invalid, or when it or a later one of the account was used. */
    async use(token: string): Promise<KeysVisit | null> {
      const link = await verify('link', token);
      if (!link || !(await accounts.useLink(link.account.id, link.since))) return null;
      return { account: link.account, since: now() };
    },
    createVisitToken: ({ account, since }: KeysVisit) => createToken('visit', account.id, since),
    verifyVisit: (token: string) => verify('visit', token),
    /** Link to the switch for quota mails. It does not expire, and opens nothing else. */
    createQuotaMailsUrl: (accountId: string) =>
      `${publicUrl}/keys/quota-mails?token=${accountId}.${sign(`quota-mails ${accountId}`)}`,
    verifyQuotaMails(token: string): string | null {
      const [, accountId, signature] = /^(\w{1,20})\.([\w-]{43})$/.exec(token) ?? [];
      if (!accountId || !signature) return null;
      return isSigned(`quota-mails ${accountId}`, signature) ? accountId : null;
    },
  };
}

/** Reads the signing secret from the data directory, or creates it, so that links stay valid across restarts. */
export async function loadLinkSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, 'link-secret');
  await makePrivateFolder(dataDir);
  try {
    // The flag "wx" fails if the file exists, so of several starting processes one writes and all read the same secret.
    await writeFile(path, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return (await readFile(path, 'utf8')).trim();
}
