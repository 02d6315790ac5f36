import { createHmac, timingSafeEqual } from 'node:crypto';

export interface KeyLinks {
  /** The address of somebody's keys, good for a while. */
  make(accountId: string): string;
  /** Whose keys a token opens; null when it is not ours or its time is over. */
  read(token: string): string | null;
}

export const LINK_MINUTES = 30;

/** A token is account, end and signature: nothing is kept of it, and nobody can make one without the secret. */
export function createKeyLinks(options: { secret: string; publicUrl: string; now: () => Date }): KeyLinks {
  const { secret, publicUrl, now } = options;
  const sign = (text: string) => createHmac('sha256', secret).update(`keys ${text}`).digest('base64url');

  return {
    make(accountId) {
      const endsAt = Math.floor(now().getTime() / 1000) + LINK_MINUTES * 60;
      const text = `${accountId}.${endsAt}`;
      return `${publicUrl}/keys?token=${text}.${sign(text)}`;
    },
    read(token) {
      const [, text, accountId, endsAt, signature] = /^((\w{1,20})\.(\d{1,12}))\.([\w-]{43})$/.exec(token) ?? [];
      if (!text || !accountId || !signature) return null;
      if (!timingSafeEqual(Buffer.from(sign(text)), Buffer.from(signature))) return null;
      return Number(endsAt) * 1000 > now().getTime() ? accountId : null;
    },
  };
}
