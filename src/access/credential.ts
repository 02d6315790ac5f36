import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { type ApiKey, looksLikeKey, parseKey } from './keys.ts';

const SEND_IT = 'Send your API key in the Authorization header as a Bearer token: "Authorization: Bearer YOUR_KEY".';

/** Names that people give a key in a query string. */
const KEY_PARAMETERS = ['key', 'api_key', 'apikey', 'access_token', 'token'];

/** The key of a request, whole and well-formed. Throws `UNAUTHORIZED` otherwise. Messages never repeat what was sent. */
export function readKey({ headers, query }: Pick<FastifyRequest, 'headers' | 'query'>): ApiKey {
  const { authorization } = headers;
  if (isKeyInQuery(query as Record<string, unknown>, authorization === undefined)) {
    throw unauthorized(
      `A key in the URL ends up in logs and histories. Move it to the Authorization header, and have it replaced if it was shared. ${SEND_IT}`,
      'token-sent',
    );
  }
  if (!authorization) throw unauthorized(`No API key was sent. ${SEND_IT}`);

  const [, scheme, token] = /^(\S+)(?:\s+(.*\S))?\s*$/s.exec(authorization) ?? [];
  if (scheme?.toLowerCase() !== 'bearer')
    throw unauthorized(`The Authorization header is not of the Bearer scheme. ${SEND_IT}`);
  if (!token) throw unauthorized(`The Authorization header holds no key. ${SEND_IT}`);
  const key = parseKey(token);
  if (!key) {
    throw unauthorized(
      `This is not a whole API key: it was cut off, mistyped or is not one of ours. ${SEND_IT}`,
      'token-sent',
    );
  }
  return key;
}

/** The one answer for unknown and revoked keys: it says nothing about which of them it is. */
export function invalidKey(): ApiError {
  return unauthorized(`This API key is not valid: it is unknown or was revoked. ${SEND_IT}`, 'token-sent');
}

export function testKeyOnly(): ApiError {
  return unauthorized(`This is a test key; it is valid only where the sandbox answers. ${SEND_IT}`, 'token-sent');
}

/** A parameter that is only called like a key is ignored, as any unknown one, where a key was sent properly. */
function isKeyInQuery(query: Record<string, unknown>, isOnlyKey: boolean): boolean {
  return Object.entries(query ?? {}).some(
    ([name, value]) =>
      (isOnlyKey && KEY_PARAMETERS.includes(name.toLowerCase())) ||
      [name, value].flat().some((text) => looksLikeKey(String(text))),
  );
}

function unauthorized(message: string, sent?: 'token-sent'): ApiError {
  const challenge = 'Bearer realm="transit"';
  return new ApiError('UNAUTHORIZED', message, {
    headers: { 'www-authenticate': sent ? `${challenge}, error="invalid_token"` : challenge },
  });
}
