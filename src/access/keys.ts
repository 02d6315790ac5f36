import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type KeyRecord, MAX_LIVE_KEYS } from './account.ts';
import type { Grant } from './grant.ts';
import type { Accounts } from './store.ts';

/**
 * The alphabet of account IDs and secrets. A key is `tis_live_`, `tis_test_` or `tis_pub_`, the account ID (8 characters), the
 * secret (27) and a checksum (6). The account ID determines the cluster node with the records. The checksum reveals cut or
 * mistyped keys without a lookup. The prefix lets secret scanners find keys.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ACCOUNT_LENGTH = 8;
/** 27 characters out of 62 are 160.8 bits. */
const SECRET_LENGTH = 27;
const CHECKSUM_LENGTH = 6;

const KEY = /^tis_(live|test|pub)_([0-9A-Za-z]{8})[0-9A-Za-z]{33}$/;
/** The start of a key or, with `tok`, of a token, which is hidden like a key. */
const KEY_PREFIX = /tis_(live|test|pub|tok)_/i;
const MAY_HOLD_KEY = /tis|%/i;
const KEY_IN_URL = /tis(?:_|%5f)(?:live|test|pub|tok)(?:_|%5f)[^/?&#\s]*/gi;

/** `test` keys work only in the sandbox; `pub` keys are for pages and apps, where anyone can read them. */
export type KeyKind = 'live' | 'test' | 'pub';

/** Identifies a key in stores. */
export interface KeyReference {
  accountId: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
}

/** What a key's text contains. The text itself is not passed on. */
export interface ApiKey extends KeyReference {
  kind: KeyKind;
  lastFour: string;
  /** What a token allows; absent for keys. */
  grant?: Grant;
}

export function generateKey(kind: KeyKind, accountId: string): string {
  const body = `tis_${kind}_${accountId}${randomText(SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** Parses a key; null if the text is not a complete key of this service. */
export function parseKey(text: string): ApiKey | null {
  const [, kind, accountId] = KEY.exec(text) ?? [];
  if (!kind || !accountId) return null;
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return null;
  return { kind: kind as KeyKind, accountId, hash: hash('sha256', text), lastFour: text.slice(-4) };
}

/** Whether a text contains a key of this service, even an incomplete one. */
export function looksLikeKey(text: string): boolean {
  return KEY_PREFIX.test(text);
}

/** False for a URL that certainly contains no key. */
export function mayHoldKey(url: string): boolean {
  return MAY_HOLD_KEY.test(url);
}

/** No legitimate text is encoded more often. */
const MAX_ENCODINGS = 5;

/** The URL without keys, for the log. */
export function hideKeys(url: string): string {
  if (!mayHoldKey(url)) return url;
  const hidden = url.replace(KEY_IN_URL, 'tis_…');
  // A key may be percent-encoded several times.
  let text = hidden;
  for (let round = 0; round <= MAX_ENCODINGS; round++) {
    const next = decodePercents(text);
    if (next === text) return looksLikeKey(text) ? text.replace(KEY_IN_URL, 'tis_…') : hidden;
    text = next;
  }
  return `${hidden.slice(0, hidden.indexOf('%'))}…`;
}

function decodePercents(url: string): string {
  return url.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export function generateAccountId(): string {
  return randomText(ACCOUNT_LENGTH);
}

/** The public name of a key. It contains the account ID, so the key can be looked up by it. */
export function keyId({ accountId, hash }: KeyReference): string {
  return `${accountId}-${hash.slice(0, 8)}`;
}

function checksum(body: string): string {
  let crc = crc32(body);
  let text = '';
  while (text.length < CHECKSUM_LENGTH) {
    text = ALPHABET.charAt(crc % ALPHABET.length) + text;
    crc = Math.floor(crc / ALPHABET.length);
  }
  return text;
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/**
 * Creates and stores a key; null if the account already has the maximum of valid keys. The text is not stored, so it must be
 * shown or mailed now.
 */
export async function issueKey(
  { addKey }: { addKey: Accounts['addKey'] },
  options: {
    account: { id: string };
    kind: KeyKind;
    label: string;
    now: number;
    maxLive?: number;
    /** Makes the key publishable. */
    grant?: Grant | null;
  },
): Promise<{ text: string; record: KeyRecord } | null> {
  const { account, label, now, maxLive = MAX_LIVE_KEYS, grant = null } = options;
  const text = generateKey(grant ? 'pub' : options.kind, account.id);
  const key = parseKey(text);
  if (!key) throw new Error('a generated key is always well-formed');
  const { accountId, hash, lastFour } = key;
  const record = { accountId, hash, lastFour, label, createdAt: new Date(now).toISOString(), grant };
  if (!(await addKey(record, maxLive))) return null;
  return { text, record: { ...record, revokedAt: null, lastUsedOn: null } };
}
