/*
 * The protobuf wire format (https://protobuf.dev/programming-guides/encoding/), read in place. Every function stops at
 * `end`, throws `MalformedMessage` and nothing else, and moves the cursor forward, so reading takes linear time.
 */

/** A message is truncated, a varint is too long, or a field has a wire type that GTFS-realtime does not use. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** A place in the bytes; reading moves it forward. */
export interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

const MAX_VARINT_BYTES = 10;
const MAX_FIELD = 2 ** 29 - 1;

/** One instance for all throws: a hostile feed of a million bad entities would otherwise cost a million stack traces. */
const malformed = new MalformedMessage('not a protobuf message');

/** The tag of a field whose value is a number, a boolean or an enum. */
export function varintTag(field: number): number {
  return field * 8 + VARINT;
}

/** The tag of a field whose value is a text or a message. */
export function lengthTag(field: number): number {
  return field * 8 + LENGTH_DELIMITED;
}

/** The tag of a field whose value is a float. */
export function floatTag(field: number): number {
  return field * 8 + FIXED32;
}

/** A field's number and wire type, comparable with `varintTag` and `lengthTag`. */
export function readTag(cursor: Cursor, end: number): number {
  const tag = readVarint(cursor, end);
  if (tag < 8 || tag >= (MAX_FIELD + 1) * 8) throw malformed;
  return tag;
}

/** Signed, as `int32` and `int64` are encoded. A number beyond 2^53 loses its last digits. */
export function readVarint(cursor: Cursor, end: number): number {
  const { bytes } = cursor;
  const first = cursor.at < end ? (bytes[cursor.at] as number) : 0xff;
  if (first < 0x80) {
    cursor.at++;
    return first;
  }
  const limit = Math.min(end, cursor.at + MAX_VARINT_BYTES);
  let low = 0;
  let high = 0;
  for (let shift = 0; cursor.at < limit; shift += 7) {
    const byte = bytes[cursor.at++] as number;
    const bits = byte & 0x7f;
    if (shift < 28) low |= bits << shift;
    else if (shift === 28) {
      low |= bits << 28;
      high |= bits >>> 4;
    } else high |= bits << (shift - 32);
    if (byte < 0x80) return high * 2 ** 32 + (low >>> 0);
  }
  throw malformed;
}

/** The end of a nested message or text whose length is read here; the cursor then stands at its first byte. */
export function readLength(cursor: Cursor, end: number): number {
  const length = readVarint(cursor, end);
  if (length < 0 || length > end - cursor.at) throw malformed;
  return cursor.at + length;
}

export function readFloat(cursor: Cursor, end: number): number {
  const { at } = cursor;
  skipBytes(cursor, 4, end);
  return cursor.bytes.readFloatLE(at);
}

/** UTF-8; bytes that are not UTF-8 become U+FFFD. */
export function readText(cursor: Cursor, end: number): string {
  const textEnd = readLength(cursor, end);
  const text = cursor.bytes.toString('utf8', cursor.at, textEnd);
  cursor.at = textEnd;
  return text;
}

/** Passes over the value of a field. Groups are refused: GTFS-realtime has none and they nest without a length. */
export function skipField(cursor: Cursor, tag: number, end: number): void {
  const wireType = tag % 8;
  if (wireType === VARINT) readVarint(cursor, end);
  else if (wireType === LENGTH_DELIMITED) cursor.at = readLength(cursor, end);
  else if (wireType === FIXED64) skipBytes(cursor, 8, end);
  else if (wireType === FIXED32) skipBytes(cursor, 4, end);
  else throw malformed;
}

function skipBytes(cursor: Cursor, count: number, end: number): void {
  if (count > end - cursor.at) throw malformed;
  cursor.at += count;
}
