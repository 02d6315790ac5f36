import { nextTurn } from '../../event-loop-turn.ts';
import { ANSWER_LIMITS, LimitError, type ListSpan, outlineJson, type Span, tooManyRecords } from './json-outline.ts';

/** A larger answer is read record by record. */
const WHOLE_BYTES = 256_000;
/** After so much text other work gets its turn. */
const SLICE_BYTES = 128_000;

/**
 * The value of a JSON text in UTF-8. A large answer is read record by record, so that other requests are served
 * meanwhile; a record that is too large is null. Throws `LimitError`, or `SyntaxError` when the text is not JSON.
 */
export async function readJson(received: Buffer): Promise<unknown> {
  const bytes = withoutByteOrderMark(received);
  if (bytes.length <= WHOLE_BYTES) return readWhole(bytes);
  const lists = await outlineJson(bytes);
  await nextTurn();
  const frame = JSON.parse(frameOf(bytes, lists));
  if (typeof frame !== 'object' || frame === null) return frame;
  const values = await readLists(bytes, lists);
  for (const [key, value] of Object.entries(frame)) {
    if (Array.isArray(value)) frame[key] = values[value[0]];
  }
  return frame;
}

/**
 * So much text cannot hold too many values, and `JSON.parse` reads lists at any depth. Only records are many already where
 * each of them is small.
 */
function readWhole(bytes: Buffer): unknown {
  const value: unknown = JSON.parse(textOf(bytes, { start: 0, end: bytes.length }));
  const lists = typeof value === 'object' && value !== null ? Object.values(value).filter(Array.isArray) : [];
  if (lists.reduce((sum, list) => sum + list.length, 0) > ANSWER_LIMITS.records) throw tooManyRecords();
  return value;
}

/** The text without its records: each list holds its own number instead. */
function frameOf(bytes: Buffer, lists: readonly ListSpan[]): string {
  let frame = '';
  let from = 0;
  for (const [number, { start, end }] of lists.entries()) {
    frame += textOf(bytes, { start: from, end: start }) + number;
    from = end;
  }
  if (frame.length + bytes.length - from > WHOLE_BYTES) throw new LimitError('the answer is JSON of another shape');
  return frame + textOf(bytes, { start: from, end: bytes.length });
}

async function readLists(bytes: Buffer, lists: readonly ListSpan[]): Promise<unknown[][]> {
  const values: unknown[][] = [];
  let bytesOfTurn = 0;
  for (const { records } of lists) {
    const list: unknown[] = [];
    for (const record of records) {
      const size = record.end - record.start;
      const text = size > ANSWER_LIMITS.recordBytes ? 'null' : textOf(bytes, record);
      const isEmptyList = records.length === 1 && text.trim() === '';
      if (!isEmptyList) list.push(JSON.parse(text));
      bytesOfTurn += size;
      if (bytesOfTurn < SLICE_BYTES) continue;
      bytesOfTurn = 0;
      await nextTurn();
    }
    values.push(list);
  }
  await nextTurn();
  return values;
}

function textOf(bytes: Buffer, { start, end }: Span): string {
  return bytes.toString('utf8', start, end);
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
