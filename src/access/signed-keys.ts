import type { FastifyRequest } from 'fastify';
import { createSigner, type Secrets } from '../core/signer.ts';
import { type Grant, grantSchema } from './grant.ts';
import type { ApiKey, KeyKind, KeyReference } from './keys.ts';

/** The route that serves departures to the wall board. */
export const WALL_DATA_PATH = '/board/:stop/departures';

export type SignedKeys = ReturnType<typeof createSignedKeys>;

const SCHEME = 'Screen ';
export const TOKEN_PREFIX = 'tis_tok_';
const SIGNED = /^(\w{1,20})\.([0-9a-f]{64})\.([\w-]{43})$/;

/**
 * Wall board links and app tokens, which stand in for a key without revealing it, as long as the key works. They are not
 * stored: each contains the account ID and the key's SHA-256, signed together with its purpose.
 */
export function createSignedKeys({ secrets, kind }: { secrets: Secrets; kind: KeyKind }) {
  const { sign, isSigned } = createSigner(secrets);
  const boardAt = (stop: string) => `board ${stop.toUpperCase()}`;

  function signKey(purpose: string, { accountId, hash }: KeyReference): string {
    return `${accountId}.${hash}.${sign(`${purpose} ${accountId} ${hash}`)}`;
  }

  function parseSigned(purpose: string, text: string): ApiKey | null {
    const [, accountId, hash, signature] = SIGNED.exec(text) ?? [];
    if (!accountId || !hash || !signature) return null;
    return isSigned(`${purpose} ${accountId} ${hash}`, signature) ? { kind, accountId, hash, lastFour: '' } : null;
  }

  return {
    /** The part after the `#` of the page's address, which browsers send to no server. It grants access to one stop. */
    createWallLink: (stop: string, key: KeyReference) => signKey(boardAt(stop), key),
    createToken(grant: Grant, key: KeyReference): string {
      const encoded = Buffer.from(JSON.stringify(grant)).toString('base64url');
      return `${TOKEN_PREFIX}${encoded}.${signKey(`token ${encoded}`, key)}`;
    },
    /** The key of a wall board's request, from `Authorization: Screen LINK`; null for any other request. */
    parseWallLink(request: FastifyRequest): ApiKey | null {
      const { authorization } = request.headers;
      // Checked first, because reading a route's options is slow.
      if (!authorization?.startsWith(SCHEME) || request.routeOptions.url !== WALL_DATA_PATH) return null;
      const { stop } = request.params as { stop: string };
      return parseSigned(boardAt(stop), authorization.slice(SCHEME.length));
    },
    /** The key behind a token, with the token's grant; null if the token is incomplete or not ours. */
    parseToken(text: string): ApiKey | null {
      const end = text.indexOf('.');
      if (!text.startsWith(TOKEN_PREFIX) || end < 0) return null;
      const encoded = text.slice(TOKEN_PREFIX.length, end);
      const key = parseSigned(`token ${encoded}`, text.slice(end + 1));
      // A signed text is always JSON; a newer version may have added fields.
      return key && { ...key, grant: grantSchema.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString())) };
    },
  };
}
