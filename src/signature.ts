import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs with the first secret. Signatures of the others count too, so that links stay valid while a secret is replaced. */
export function createSigner(secrets: readonly [string, ...string[]]) {
  const signWith = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('base64url');
  return {
    /** 43 characters, base64url. */
    sign: (text: string) => signWith(secrets[0], text),
    isSigned(text: string, signature: string): boolean {
      const given = Buffer.from(signature);
      return secrets.some((secret) => {
        const wanted = Buffer.from(signWith(secret, text));
        return wanted.length === given.length && timingSafeEqual(wanted, given);
      });
    },
  };
}
