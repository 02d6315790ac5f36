import { nextTurn } from '../../event-loop-turn.ts';

/** After so much text other work gets its turn. */
const SLICE_BYTES = 512_000;

/**
 * Limits of one answer. The largest real answer had 2.3 MB, 190,000 values, a depth of 12, and records of 90 KB; the
 * longest list had 340 records.
 */
export const ANSWER_LIMITS = {
  bytes: 6_000_000,
  /** Lists and objects within each other. */
  depth: 64,
  /** Everything that is built: objects, lists, and what stands in them. */
  values: 750_000,
  /** In the lists at the top of the answer: departures, places, journeys. */
  records: 5000,
  recordBytes: 512_000,
} as const;

/** The answer exceeds one of the limits. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

export function tooManyRecords(): LimitError {
  return new LimitError('the answer has too many records');
}

/** A part of the text: its first byte, and the byte behind it. */
export interface Span {
  start: number;
  end: number;
}

/** A list at the top of the answer, between its brackets, and its records. */
export interface ListSpan extends Span {
  records: Span[];
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
/** Between them are digits, the minus, the point and the colon: most of what stands outside of texts. */
const [FIRST_PLAIN, LAST_PLAIN] = [0x2d, 0x5a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The state of the scan between two slices of the text. */
interface Outline {
  lists: ListSpan[];
  /** The list that is not yet at its end. */
  list: ListSpan | null;
  recordStart: number;
  depth: number;
  values: number;
  records: number;
}

/**
 * Finds the lists at the top of a JSON object and the places of their records, in one pass that builds nothing else.
 * Throws `LimitError` when the answer exceeds a limit. It does not check the grammar: parts of a text that is not JSON
 * are not JSON either, so that parsing them fails.
 */
export async function outlineJson(bytes: Uint8Array): Promise<ListSpan[]> {
  const outline: Outline = { lists: [], list: null, recordStart: 0, depth: 0, values: 0, records: 0 };
  let at = 0;
  while (at < bytes.length) {
    at = readOn(outline, bytes, at, Math.min(at + SLICE_BYTES, bytes.length));
    if (outline.values > ANSWER_LIMITS.values) throw new LimitError('the answer has too many values');
    if (at < bytes.length) await nextTurn();
  }
  if (outline.list) throw new SyntaxError('a list has no end');
  return outline.lists;
}

/** Returns how far it read. Not async: inside an async function the loop takes twice as long. */
function readOn(outline: Outline, bytes: Uint8Array, from: number, until: number): number {
  let { depth, values } = outline;
  let at = from;
  for (; at < until; at++) {
    const byte = bytes[at] as number;
    if (byte >= FIRST_PLAIN && byte <= LAST_PLAIN) continue;
    if (byte === QUOTE) {
      at = endOfText(bytes, at);
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth++;
      values++;
      if (depth > ANSWER_LIMITS.depth) throw new LimitError('lists or objects are nested too deeply');
      if (depth === 2 && byte === OPEN_LIST) openList(outline, at);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth--;
      if (depth === 1 && byte === CLOSE_LIST) closeList(outline, at);
    } else if (byte === COMMA) {
      values++;
      if (depth === 2) endRecord(outline, at);
    }
  }
  Object.assign(outline, { depth, values });
  return at;
}

function openList(outline: Outline, at: number): void {
  if (outline.list) return;
  outline.list = { start: at + 1, end: at + 1, records: [] };
  outline.recordStart = at + 1;
}

function closeList(outline: Outline, at: number): void {
  if (!outline.list) return;
  endRecord(outline, at);
  outline.lists.push({ ...outline.list, end: at });
  outline.list = null;
}

function endRecord(outline: Outline, at: number): void {
  if (!outline.list) return;
  outline.list.records.push({ start: outline.recordStart, end: at });
  outline.recordStart = at + 1;
  outline.records++;
  if (outline.records > ANSWER_LIMITS.records) throw tooManyRecords();
}

/** The place of the closing quotation mark. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
