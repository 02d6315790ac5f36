import { nextTurn } from '../../core/event-loop-turn.ts';

/** Limits of one response. The largest real response had 2.3 MB and a nesting depth of 12; the longest list had 340 records. */
export const RESPONSE_LIMITS = {
  bytes: 6_000_000,
  /** The depth of nested lists; checked only in large responses. */
  depth: 64,
  /** In top-level lists: departures, places, journeys. */
  records: 5000,
} as const;

/** Before a larger text is parsed, other requests get their turn. */
const SMALL_BYTES = 256_000;
/**
 * Nesting that is refused: `JSON.parse` takes two seconds for three million nested lists. Anything else of 6 MB takes at most 0.3
 * seconds.
 */
const TOO_DEEP = '['.repeat(RESPONSE_LIMITS.depth);

/** The response exceeds one of the limits. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/** Parses UTF-8 JSON. Throws `LimitError`, or `SyntaxError` if the text is not JSON. */
export async function parseJson(responseBytes: Buffer): Promise<unknown> {
  const bytes = withoutByteOrderMark(responseBytes);
  if (bytes.length > SMALL_BYTES) {
    if (bytes.includes(TOO_DEEP)) throw new LimitError('lists are nested too deeply');
    await nextTurn();
  }
  const value: unknown = JSON.parse(bytes.toString('utf8'));
  const lists = typeof value === 'object' && value !== null ? Object.values(value).filter(Array.isArray) : [];
  if (lists.reduce((sum, list) => sum + list.length, 0) > RESPONSE_LIMITS.records) {
    throw new LimitError('the response has too many records');
  }
  return value;
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
