import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateAccountId, generateKey, hideKeys, keyId, looksLikeKey, parseKey } from '#src/access/keys.ts';

describe('a URL for the log', () => {
  const key = generateKey('live', generateAccountId());
  it.each([
    ['plain', `/v1/${key}`],
    ['with an encoded letter', `/v1/%74is_live_${key.slice(9)}`],
    ['with encoded underscores', `/v1/tis%5Flive%5f${key.slice(9)}`],
    ['encoded twice', `/v1/%2574is%255flive_${key.slice(9)}`],
    ['encoded five times, unevenly', `/v1/%2525252574is%2%35255f%256cive_${key.slice(9)}`],
    ['all encoded', `/v1/${[...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')}`],
  ])('a logged URL contains no key: %s', (_name, url) => {
    expect(decodeURIComponent(hideKeys(url))).toBe('/v1/tis_…');
  });

  it('a logged URL is cut before text that is encoded many times over', () => {
    expect(hideKeys(`/v1/stops/%${'25'.repeat(20_000)}74is_live_${key.slice(9)}`)).toBe('/v1/stops/…');
  });

  it('a logged URL keeps encoded text without a key', () => {
    expect(hideKeys('/v1/stops/%2541%zz%c3%a9')).toBe('/v1/stops/%2541%zz%c3%a9');
  });
});

describe('keys', () => {
  it('a key contains its kind, its account and at least 160 random bits', () => {
    const accountId = generateAccountId();
    const text = generateKey('live', accountId);
    expect(text).toMatch(new RegExp(`^tis_live_${accountId}[0-9A-Za-z]{33}$`));
    expect(27 * Math.log2(62)).toBeGreaterThanOrEqual(160);
    expect(parseKey(text)).toMatchObject({ kind: 'live', accountId, lastFour: text.slice(-4) });
    expect(parseKey(generateKey('test', accountId))).toMatchObject({ kind: 'test' });
  });

  it('no two generated keys are equal', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => generateKey('live', 'AAAAAAAA'))).size).toBe(10_000);
  });

  it('the SHA-256 that identifies a key does not reveal it', () => {
    const text = generateKey('live', generateAccountId());
    const key = parseKey(text);
    expect(key?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(key)).not.toContain(text.slice(17, -6));
    expect(key && keyId(key)).toBe(`${key?.accountId}-${key?.hash.slice(0, 8)}`);
  });

  it('a key is refused if any one letter is changed, missing or added', () => {
    const text = generateKey('live', generateAccountId());
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.stringMatching(/^[0-9A-Za-z_]$/), (at, letter) => {
        const [before, after] = [text.slice(0, at), text.slice(at + 1)];
        if (text[at] !== letter) expect(parseKey(before + letter + after)).toBeNull();
        expect(parseKey(before + after)).toBeNull();
        expect(parseKey(before + letter + text.slice(at))).toBeNull();
      }),
    );
  });

  it('a key is refused with another prefix, in another case, or with anything around it', () => {
    const text = generateKey('live', generateAccountId());
    for (const other of [
      text.replace('live', 'test'),
      text.toLowerCase(),
      ` ${text}`,
      `${text}\n`,
      `${text}${text}`,
      '',
    ]) {
      expect(parseKey(other)).toBeNull();
    }
  });

  it('a key is detected within other text, complete or not', () => {
    expect(looksLikeKey('see tis_live_abc')).toBe(true);
    expect(looksLikeKey('TIS_TEST_')).toBe(true);
    expect(looksLikeKey('tis_dead_abc')).toBe(false);
  });
});
