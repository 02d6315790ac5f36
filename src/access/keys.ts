import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Account, type KeyRecord, MAX_LIVE_KEYS } from './account.ts';
import type { Grant } from './grant.ts';
import type { Accounts } from './store.ts';

/*
 * A key: `tis_live_`, `tis_test_` or `tis_pub_`, the account id (8), the secret (27), a checksum (6).
 * The account id says which node of a cluster has the records. The checksum shows that a key was cut off or mistyped,
 * without asking the store. The prefix lets secret scanners find keys.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ACCOUNT_LENGTH = 8;
/** 27 of 62 letters are 160.8 bits. */
const SECRET_LENGTH = 27;
const CHECKSUM_LENGTH = 6;

const KEY = /^tis_(live|test|pub)_([0-9A-Za-z]{8})[0-9A-Za-z]{33}$/;
/** Tokens are hidden as keys are. */
const KEY_PREFIX = /tis_(live|test|pub|tok)_/i;
const MAY_HOLD_KEY = /tis|%/i;
const KEY_IN_URL = /tis(?:_|%5f)(?:live|test|pub|tok)(?:_|%5f)[^/?&#\s]*/gi;

/** `test` keys are for the sandbox only; `pub` keys are for pages and apps, where everybody can read them. */
export type KeyKind = 'live' | 'test' | 'pub';

/** The facts in the text of a key. The text itself is not passed on. */
export interface ApiKey {
  kind: KeyKind;
  accountId: string;
  /** SHA-256, hexadecimal; stores know a key by it. */
  hash: string;
  lastFour: string;
  /** Set on a token: the uses that it is for. */
  grant?: Grant;
}

export function generateKey(kind: KeyKind, accountId: string): string {
  const body = `tis_${kind}_${accountId}${randomText(SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** Null when the text is not a complete key of this service. */
export function parseKey(text: string): ApiKey | null {
  const [, kind, accountId] = KEY.exec(text) ?? [];
  if (!kind || !accountId) return null;
  if (checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return null;
  return { kind: kind as KeyKind, accountId, hash: hash('sha256', text), lastFour: text.slice(-4) };
}

/** Whether a text contains a key of this service, complete or not. */
export function looksLikeKey(text: string): boolean {
  return KEY_PREFIX.test(text);
}

/** False for a URL without any key. */
export function mayHoldKey(url: string): boolean {
  return MAY_HOLD_KEY.test(url);
}

/** Decoding more often than this finds no honest text. */
const MAX_ENCODINGS = 5;

/** The URL without keys, for the log. */
export function hideKeys(url: string): string {
  if (!mayHoldKey(url)) return url;
  const hidden = url.replace(KEY_IN_URL, 'tis_…');
  // A key may be percent-encoded, several times over.
  let text = hidden;
  for (let round = 0; round <= MAX_ENCODINGS; round++) {
    const next = decoded(text);
    if (next === text) return looksLikeKey(text) ? text.replace(KEY_IN_URL, 'tis_…') : hidden;
    text = next;
  }
  return `${hidden.slice(0, hidden.indexOf('%'))}…`;
}

function decoded(url: string): string {
  return url.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export function generateAccountId(): string {
  return randomText(ACCOUNT_LENGTH);
}

/** The public name of a key. It contains the account id, so that the key can be looked up. */
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

/**
 * Makes and stores a new key; null when the account already has as many valid keys as it may. Its text is not stored: it can be
 * shown or mailed now or never.
 */
export async function issueKey(
  register: Pick<Accounts, 'addKey'>,
  options: {
    account: Pick<Account, 'id'>;
    kind: KeyKind;
    label: string;
    now: Date;
    maxLive?: number;
    /** Makes the key a publishable one. */
    grant?: Grant | null;
  },
): Promise<{ text: string; record: KeyRecord } | null> {
  const { account, label, now, maxLive = MAX_LIVE_KEYS, grant = null } = options;
  const text = generateKey(grant ? 'pub' : options.kind, account.id);
  const key = parseKey(text);
  if (!key) throw new Error('a generated key is always well-formed');
  const { accountId, hash, lastFour } = key;
  const record = { accountId, hash, lastFour, label, createdAt: now.toISOString(), grant };
  if (!(await register.addKey(record, maxLive))) return null;
  return { text, record: { ...record, revokedAt: null, lastUsedOn: null } };
}
