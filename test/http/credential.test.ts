import { describe, expect, it } from 'vitest';
import { parseCredential } from '#src/access/credential.ts';
import { generateKey } from '#src/access/keys.ts';
import { ApiError } from '#src/errors/api-error.ts';

const KEY = generateKey('live', 'Account1');

const read = (authorization: string) => parseCredential({ headers: { authorization }, url: '/', query: {} });

function refusalOf(authorization: string): ApiError {
  try {
    read(authorization);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('the header was not refused');
}

describe('the Authorization header', () => {
  it.each([`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER   ${KEY}`, `Bearer\t${KEY}`, `Bearer ${KEY}  `])(
    'the Authorization header holds a key after the scheme and blanks: %j',
    (authorization) => {
      expect(read(authorization)).toMatchObject({ kind: 'live', accountId: 'Account1' });
    },
  );

  it.each([
    ['', 'No API key was sent.'],
    ['Bearer', 'contains no key'],
    ['Bearer ', 'contains no key'],
    [`Basic ${KEY}`, 'not use the Bearer scheme'],
    [KEY, 'not use the Bearer scheme'],
    [` Bearer ${KEY}`, 'not use the Bearer scheme'],
    [`Bearer ${KEY} ${KEY}`, 'not a complete API key'],
    [`Bearer ${KEY}x`, 'not a complete API key'],
  ])('the Authorization header %j is refused with the reason', (authorization, reason) => {
    expect(refusalOf(authorization)).toMatchObject({ code: 'UNAUTHORIZED', message: expect.stringContaining(reason) });
  });

  it.each(['x-api-key', 'apikey'])('a key sent in %s is refused with a hint to the Authorization header', (name) => {
    const headers = { [name]: KEY };
    expect(() => parseCredential({ headers, url: '/', query: {} })).toThrow(
      'Send your API key in the Authorization header',
    );
  });

  it.each([
    ['blanks without end', `a${' '.repeat(15_000)}\xa0`],
    ['blanks before the key', `Bearer${' '.repeat(15_000)}${KEY}`],
    ['a key without end', `Bearer ${KEY.repeat(300)}`],
  ])('an Authorization header too long for a key is refused unread: %s', (_name, authorization) => {
    expect(refusalOf(authorization).message).toContain('longer than');
  });
});
