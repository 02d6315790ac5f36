import type { FastifyRequest } from 'fastify';
import { createSigner, type Secrets } from '../core/signer.ts';
import { type Grant, grantSchema } from './grant.ts';
import type { ApiKey, KeyKind } from './keys.ts';

/** The route from which the page on the wall gets its departures. */
export const WALL_DATA_PATH = '/board/:stop/departures';

export type SignedKeys = ReturnType<typeof createSignedKeys>;

const SCHEME = 'Screen ';
export const TOKEN_PREFIX = 'tis_tok_';
const SIGNED = /^(\w{1,20})\.([0-9a-f]{64})\.([\w-]{43})$/;

/**
 * Stand in for a key without showing it, as long as the key works: links to a board on a wall, and tokens that a backend
 * hands to its app. Nothing is stored: each holds the account id and the SHA-256 of the key, signed with what it is for.
 */
export function createSignedKeys({ secrets, kind }: { secrets: Secrets; kind: KeyKind }) {
  const { sign, isSigned } = createSigner(secrets);
  const boardAt = (stop: string) => `board ${stop.toUpperCase()}`;

  function signKey(purpose: string, { accountId, hash }: Pick<ApiKey, 'accountId' | 'hash'>): string {
    return `${accountId}.${hash}.${sign(`${purpose} ${accountId} ${hash}`)}`;
  }

  function readSigned(purpose: string, text: string): ApiKey | null {
    const [, accountId, hash, signature] = SIGNED.exec(text) ?? [];
    if (!accountId || !hash || !signature) return null;
    return isSigned(`${purpose} ${accountId} ${hash}`, signature) ? { kind, accountId, hash, lastFour: '' } : null;
  }

  return {
    /** The part behind the `#` of the page's address, which browsers send to no server. It lets in to one stop. */
    createWallLink: (stop: string, key: Pick<ApiKey, 'accountId' | 'hash'>) => signKey(boardAt(stop), key),
    createToken(grant: Grant, key: Pick<ApiKey, 'accountId' | 'hash'>): string {
      const written = Buffer.from(JSON.stringify(grant)).toString('base64url');
      return `${TOKEN_PREFIX}${written}.${signKey(`token ${written}`, key)}`;
    },
    /** The key of a request for the departures of a board, from `Authorization: Screen LINK`; null for any other request. */
    readWallLink(request: FastifyRequest): ApiKey | null {
      const { authorization } = request.headers;
      // Looked at first, because reading the options of a route is slow.
      if (!authorization?.startsWith(SCHEME) || request.routeOptions.url !== WALL_DATA_PATH) return null;
      const { stop } = request.params as { stop: string };
      return readSigned(boardAt(stop), authorization.slice(SCHEME.length));
    },
    /** The key behind a token, with what the token may be used for; null when it is not whole or not ours. */
    readToken(text: string): ApiKey | null {
      const end = text.indexOf('.');
      if (!text.startsWith(TOKEN_PREFIX) || end < 0) return null;
      const written = text.slice(TOKEN_PREFIX.length, end);
      const key = readSigned(`token ${written}`, text.slice(end + 1));
      // A text that was signed here is always JSON; a newer version may have written more into it.
      return key && { ...key, grant: grantSchema.parse(JSON.parse(Buffer.from(written, 'base64url').toString())) };
    },
  };
}
