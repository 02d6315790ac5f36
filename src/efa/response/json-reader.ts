import { nextTurn } from '../../core/event-loop-turn.ts';

/**
 * Limits of one response. The largest real response had 2.3 MB, 190,000 values and a depth of 12; the longest list had 340
 * records.
 */
export const RESPONSE_LIMITS = {
  bytes: 6_000_000,
  /** Lists and objects within each other. */
  depth: 64,
  /** Everything that is built: objects, lists, and what stands in them. */
  values: 750_000,
  /** In the lists at the top of the response: departures, places, journeys. */
  records: 5000,
} as const;

/** A text up to this size cannot hold too many values, and `JSON.parse` reads lists at any depth. */
const SMALL_BYTES = 256_000;

/** The response exceeds one of the limits. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/** The value of a JSON text in UTF-8. Throws `LimitError`, or `SyntaxError` when the text is not JSON. */
export async function readJson(received: Buffer): Promise<unknown> {
  const bytes = withoutByteOrderMark(received);
  if (bytes.length > SMALL_BYTES) {
    checkSize(bytes);
    await nextTurn();
  }
  const value: unknown = JSON.parse(bytes.toString('utf8'));
  const lists = typeof value === 'object' && value !== null ? Object.values(value).filter(Array.isArray) : [];
  if (lists.reduce((sum, list) => sum + list.length, 0) > RESPONSE_LIMITS.records) {
    throw new LimitError('the response has too many records');
  }
  return value;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
/** Between them are digits, the minus, the point and the colon: most of what stands outside of texts. */
const [FIRST_PLAIN, LAST_PLAIN] = [0x2d, 0x5a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Throws `LimitError` before anything is built: parsing three million nested lists takes most of a second. It does not
 * check the grammar, as parsing will.
 */
function checkSize(bytes: Buffer): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte >= FIRST_PLAIN && byte <= LAST_PLAIN) continue;
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA) values++;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++;
      if (++depth > RESPONSE_LIMITS.depth) throw new LimitError('lists or objects are nested too deeply');
    }
  }
  if (values > RESPONSE_LIMITS.values) throw new LimitError('the response has too many values');
}

/** The place of the closing quotation mark. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
