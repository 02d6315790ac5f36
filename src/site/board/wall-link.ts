import type { FastifyRequest } from 'fastify';
import type { ApiKey, KeyKind } from '../../access/keys.ts';
import { createSigner } from '../../signature.ts';

/** The route from which the page on the wall gets its departures. */
export const WALL_DATA_PATH = '/board/:stop/departures';

/** Links to a board on a wall. A link lets in to one stop with one key, as long as that key works; the key is not in it. */
export interface WallLinks {
  /** The part behind the `#` of the page's address, which browsers send to no server. */
  createToken(stop: string, key: Pick<ApiKey, 'accountId' | 'hash'>): string;
  /** The key of a request for the departures of a board, from `Authorization: Screen TOKEN`; null for any other request. */
  readKey(request: FastifyRequest): ApiKey | null;
}

const SCHEME = 'Screen ';
const TOKEN = /^(\w{1,20})\.([0-9a-f]{64})\.([\w-]{43})$/;

/** A token is account id, SHA-256 of the key, and an HMAC of these and the stop. Nothing is stored. */
export function createWallLinks({
  secrets,
  kind,
}: {
  secrets: readonly [string, ...string[]];
  kind: KeyKind;
}): WallLinks {
  const { sign, isSigned } = createSigner(secrets);
  const textOf = (stop: string, accountId: string, hash: string) => `board ${stop.toUpperCase()} ${accountId} ${hash}`;

  return {
    createToken: (stop, { accountId, hash }) => `${accountId}.${hash}.${sign(textOf(stop, accountId, hash))}`,
    readKey(request) {
      const { authorization } = request.headers;
      // Looked at first, because reading the options of a route is slow.
      if (!authorization?.startsWith(SCHEME) || request.routeOptions.url !== WALL_DATA_PATH) return null;
      const { stop } = request.params as { stop: string };
      const [, accountId, hash, signature] = TOKEN.exec(authorization.slice(SCHEME.length)) ?? [];
      if (!accountId || !hash || !signature) return null;
      return isSigned(textOf(stop, accountId, hash), signature) ? { kind, accountId, hash, lastFour: '' } : null;
    },
  };
}
