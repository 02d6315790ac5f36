import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/*
 * A key: `tis_live_` or `tis_test_`, the account it belongs to (8), the secret (27), a checksum (6).
 * The account is in the key so that its records can be found in one place of a cluster; the checksum tells a key
 * that was cut off or mistyped without asking anybody; the prefix lets secret scanners find it.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ACCOUNT_LENGTH = 8;
/** 27 of 62 letters are 160.8 bits. */
const SECRET_LENGTH = 27;
const CHECKSUM_LENGTH = 6;

const KEY = /^tis_(live|test)_([0-9A-Za-z]{8})[0-9A-Za-z]{33}$/;
const KEY_PREFIX = /tis_(live|test)_/i;
const KEY_IN_URL = /tis(?:_|%5f)(?:live|test)(?:_|%5f)[^/?&#\s]*/gi;

/** `test` keys are for the sandbox only. */
export type KeyKind = 'live' | 'test';

/** What is known of a key from its text alone. The text itself goes no further. */
export interface ApiKey {
  kind: KeyKind;
  accountId: string;
  /** SHA-256, hexadecimal: what stores know a key by. */
  hash: string;
  lastFour: string;
}

export function generateKey(kind: KeyKind, accountId: string): string {
  const body = `tis_${kind}_${accountId}${randomText(SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** Null when it is not a key of ours, or not a whole one. */
export function parseKey(text: string): ApiKey | null {
  const [, kind, accountId] = KEY.exec(text) ?? [];
  if (!kind || !accountId) return null;
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return null;
  return { kind: kind as KeyKind, accountId, hash: hash('sha256', text), lastFour: text.slice(-4) };
}

/** Whether a text holds what may be a key of ours, whole or not. */
export function looksLikeKey(text: string): boolean {
  return KEY_PREFIX.test(text);
}

/** A URL as it may be logged: somebody will put a key there one day. */
export function hideKeys(url: string): string {
  const hidden = url.replace(KEY_IN_URL, 'tis_…');
  // Percent-encoded, it is no less of a key.
  return looksLikeKey(decoded(hidden)) ? decoded(hidden).replace(KEY_IN_URL, 'tis_…') : hidden;
}

function decoded(url: string): string {
  return url.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export function generateAccountId(): string {
  return randomText(ACCOUNT_LENGTH);
}

/** What people call a key by. It names the account, so that the key can be found. */
export function keyId({ accountId, hash }: Pick<ApiKey, 'accountId' | 'hash'>): string {
  return `${accountId}-${hash.slice(0, 8)}`;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  while (text.length < CHECKSUM_LENGTH) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}
