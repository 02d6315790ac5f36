import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.ts';
import { missingKey, unauthorized } from '../errors/messages.ts';
import { type ApiKey, looksLikeKey, mayHoldKey, parseKey } from './keys.ts';
import { type SignedKeys, TOKEN_PREFIX } from './signed-keys.ts';

/** Names that callers give to keys in a query string. */
const KEY_PARAMETERS = ['key', 'api_key', 'apikey', 'access_token', 'token'];

/** Headers in which other APIs accept a key. */
const KEY_HEADERS = ['x-api-key', 'api-key', 'apikey'];

const BEARER = 'bearer';
/** The maximum length of the header with a key. It is five times that of a key: a longer header is no mistyped key. */
const MAX_LENGTH = 256;
const MAX_TOKEN_LENGTH = 4096;

/** The last Authorization header of each connection with its key; most clients resend it unchanged. */
const latest = new WeakMap<object, { header: string; key: ApiKey }>();

/** `EventSource` cannot send headers, so streams accept a publishable key or token in this parameter. */
export const STREAM_KEY_PARAMETER = 'access_token';
const STREAM_KEY = /^tis_(?:tok|pub)_/;

/** Reads the key of a request, or the key behind its token or wall link. Throws `UNAUTHORIZED`. */
export function createKeyReader({
  acceptsTestKeys,
  signedKeys,
}: {
  acceptsTestKeys: boolean;
  signedKeys?: SignedKeys;
}) {
  const parseToken = signedKeys?.parseToken ?? (() => null);
  return (request: FastifyRequest): ApiKey => {
    const inQuery = splitStreamKey(request);
    const key =
      inQuery === null
        ? (signedKeys?.parseWallLink(request) ?? parseCredential(request, parseToken))
        : parseStreamKey(inQuery, parseToken);
    if (key.kind === 'test' && !acceptsTestKeys) throw testKeyOnly();
    return key;
  };
}

/**
 * Removes a publishable key or token from the query, so that nothing else sees it. Null if there is none or it is not accepted.
 */
function splitStreamKey({ headers, query, routeOptions }: FastifyRequest): string | null {
  const parameters = query as Record<string, unknown>;
  const text = parameters[STREAM_KEY_PARAMETER];
  if (headers.authorization !== undefined || typeof text !== 'string' || !STREAM_KEY.test(text)) return null;
  if (!routeOptions.url?.endsWith('/stream')) return null;
  delete parameters[STREAM_KEY_PARAMETER];
  return text;
}

/** The parts of a request that may hold a key. `raw` has the connection, whose last key is cached. */
interface CredentialRequest {
  headers: IncomingHttpHeaders;
  url: string;
  query: unknown;
  raw?: { socket: object };
}

/**
 * The well-formed key of a request, or the key behind its token. Throws `UNAUTHORIZED` otherwise. Messages never repeat what
 * was sent.
 */
export function parseCredential(
  { headers, url, query, raw }: CredentialRequest,
  parseToken: SignedKeys['parseToken'] = () => null,
): ApiKey {
  const { authorization } = headers;
  const isOnlyKey = authorization === undefined;
  if ((isOnlyKey || mayHoldKey(url)) && hasKeyInQuery(query as Record<string, unknown>, isOnlyKey)) {
    throw unauthorized(
      'A key in the URL ends up in logs and histories. Move it to the Authorization header, and rotate it if it was shared. Only streams accept access_token, with a publishable key or token.',
      { wasKeySent: true, logged: 'key in the URL' },
    );
  }
  if (!authorization) {
    if (!KEY_HEADERS.some((name) => headers[name] !== undefined)) throw missingKey();
    throw unauthorized('Keys in X-API-Key are ignored.', {
      wasKeySent: true,
      logged: 'key in X-API-Key',
    });
  }
  const before = raw && latest.get(raw.socket);
  if (before?.header === authorization) return before.key;
  const isToken = authorization.slice(BEARER.length + 1, BEARER.length + 1 + TOKEN_PREFIX.length) === TOKEN_PREFIX;
  if (authorization.length > (isToken ? MAX_TOKEN_LENGTH : MAX_LENGTH)) {
    throw unauthorized('The Authorization header is longer than any API key.', {
      wasKeySent: true,
      logged: 'malformed',
    });
  }
  const [scheme = ''] = authorization.split(/\s/, 1);
  const token = authorization.slice(scheme.length).trim();
  if (scheme.toLowerCase() !== BEARER) {
    throw unauthorized('The Authorization header does not use the Bearer scheme.', {
      wasKeySent: false,
      logged: 'no Bearer',
    });
  }
  if (!token) throw unauthorized('The Authorization header contains no key.', { wasKeySent: false, logged: 'missing' });
  if (isToken) return parseToken(token) ?? rejectIncomplete('token');
  const key = parseKey(token) ?? rejectIncomplete('API key');
  if (raw) latest.set(raw.socket, { header: authorization, key });
  return key;
}

/** The key in the query of a stream, or the key behind its token. */
function parseStreamKey(text: string, parseToken: SignedKeys['parseToken']): ApiKey {
  if (text.length > MAX_TOKEN_LENGTH) rejectIncomplete('token');
  return parseKey(text) ?? parseToken(text) ?? rejectIncomplete('token');
}

function rejectIncomplete(what: string): never {
  throw unauthorized(`This is not a complete ${what}: it was cut off, mistyped or not issued here.`, {
    wasKeySent: true,
    logged: 'malformed',
  });
}

/** The same error for unknown and revoked keys, so that callers cannot tell them apart. The log can. */
export function invalidKey(logged: 'unknown' | 'revoked'): ApiError {
  return unauthorized('This API key is invalid: it is unknown or was revoked.', { wasKeySent: true, logged });
}

function testKeyOnly(): ApiError {
  return unauthorized('This is a test key, which works only in the sandbox.', {
    wasKeySent: true,
    logged: 'test key',
  });
}

/** If a key was sent properly, a query parameter that merely has the name of a key is ignored like any unknown parameter. */
function hasKeyInQuery(query: Record<string, unknown>, isOnlyKey: boolean): boolean {
  for (const name in query) {
    if (isOnlyKey && KEY_PARAMETERS.includes(name.toLowerCase())) return true;
    // A repeated parameter is a list; converted to text, it contains all values.
    if (looksLikeKey(name) || looksLikeKey(String(query[name]))) return true;
  }
  return false;
}
