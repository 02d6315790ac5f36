import { createHmac, timingSafeEqual } from 'node:crypto';

/** The first secret signs. Signatures made with the others are also valid, so that a secret can be replaced. */
export type Secrets = readonly [string, ...string[]];

/** Signs texts with HMAC-SHA-256, cut to `bytes`. A full signature has 43 base64url characters. */
export function createSigner(secrets: Secrets, bytes = 32) {
  const signWith = (secret: string, text: string) =>
    createHmac('sha256', secret).update(text).digest().toString('base64url', 0, bytes);
  return {
    sign: (text: string) => signWith(secrets[0], text),
    isSigned(text: string, signature: string): boolean {
      const receivedBytes = Buffer.from(signature);
      return secrets.some((secret) => {
        const expected = Buffer.from(signWith(secret, text));
        return expected.length === receivedBytes.length && timingSafeEqual(expected, receivedBytes);
      });
    },
  };
}

type IdKind = 'run' | 'journey' | 'cursor';
/** Signs IDs, so that an invented one causes no upstream calls. */
export interface IdSigner {
  /** The content followed by its signature. */
  sign(kind: IdKind, content: string): string;
  isSigned(kind: IdKind, id: string): boolean;
}

const ID_SIGNATURE_BYTES = 8;
/** In base64url characters. */
const ID_SIGNATURE_LENGTH = 11;

export function createIdSigner(secrets: Secrets): IdSigner {
  const { sign, isSigned } = createSigner(secrets, ID_SIGNATURE_BYTES);
  return {
    sign: (kind: IdKind, content: string) => content + sign(`${kind} ${content}`),
    isSigned: (kind: IdKind, id: string) => isSigned(`${kind} ${contentOf(id)}`, id.slice(-ID_SIGNATURE_LENGTH)),
  };
}

/** The content of a signed ID, whether or not its signature is valid. */
export function contentOf(id: string): string {
  return id.slice(0, -ID_SIGNATURE_LENGTH);
}
