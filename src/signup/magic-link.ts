import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Links that open the keys of an account without a password. They are sent by mail only. */
export interface MagicLinks {
  createUrl(accountId: string): string;
  /** The id of the account that a token opens; null when the token is forged or has expired. */
  verify(token: string): string | null;
  /** To the switch for mails about the daily limit. Does not expire, and opens nothing else. */
  createQuotaMailsUrl(accountId: string): string;
  verifyQuotaMails(token: string): string | null;
}

export const LINK_MINUTES = 30;

/** A token is account id, expiry and an HMAC of both. Nothing is stored. */
export function createMagicLinks(options: { secret: string; publicUrl: string; now: () => Date }): MagicLinks {
  const { secret, publicUrl, now } = options;
  const sign = (purpose: 'keys' | 'quota-mails', text: string) =>
    createHmac('sha256', secret).update(`${purpose} ${text}`).digest('base64url');
  const isSigned = (signature: string, wanted: string) => timingSafeEqual(Buffer.from(wanted), Buffer.from(signature));

  return {
    createUrl(accountId) {
      const expiresAt = Math.floor(now().getTime() / 1000) + LINK_MINUTES * 60;
      const text = `${accountId}.${expiresAt}`;
      return `${publicUrl}/keys?token=${text}.${sign('keys', text)}`;
    },
    verify(token) {
      const [, text, accountId, expiresAt, signature] = /^((\w{1,20})\.(\d{1,12}))\.([\w-]{43})$/.exec(token) ?? [];
      if (!text || !accountId || !signature) return null;
      if (!isSigned(signature, sign('keys', text))) return null;
      return Number(expiresAt) * 1000 > now().getTime() ? accountId : null;
    },
    createQuotaMailsUrl: (accountId) =>
      `${publicUrl}/keys/quota-mails?token=${accountId}.${sign('quota-mails', accountId)}`,
    verifyQuotaMails(token) {
      const [, accountId, signature] = /^(\w{1,20})\.([\w-]{43})$/.exec(token) ?? [];
      if (!accountId || !signature) return null;
      return isSigned(signature, sign('quota-mails', accountId)) ? accountId : null;
    },
  };
}

/** The signing secret in the data directory, created on first use. Links stay valid across restarts. */
export async function readLinkSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, 'link-secret');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  try {
    // The flag "wx" fails when the file exists: of several starting processes one writes and all read the same secret.
    await writeFile(path, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return (await readFile(path, 'utf8')).trim();
}
