/*
 * Writes the protobuf wire format (https://protobuf.dev/programming-guides/encoding/): the three kinds of fields that
 * GTFS-realtime needs, one behind the other into one buffer.
 */

export interface MessageWriter {
  /** A number or an enum. */
  number(field: number, value: number): void;
  text(field: number, text: string): void;
  /** `write` writes the fields of the nested message. */
  message(field: number, write: () => void): void;
  finish(): Buffer;
}

/** A field and its value take 15 bytes at most, beside the text. */
const MOST_BYTES = 15;
/** Characters of the Unicode planes take up to three bytes for each unit of UTF-16. */
const BYTES_PER_UNIT = 3;

export function createMessageWriter(): MessageWriter {
  let bytes = Buffer.alloc(64 * 1024);
  let length = 0;

  function reserve(count: number): void {
    if (length + count <= bytes.length) return;
    const longer = Buffer.alloc(2 * bytes.length + count);
    bytes.copy(longer, 0, 0, length);
    bytes = longer;
  }

  function varint(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[length++] = (rest % 0x80) | 0x80;
    bytes[length++] = rest;
  }

  /** Ten bytes, the two's complement in 64 bits, as `int32` and `int64` are encoded. */
  function negativeVarint(value: number): void {
    const bits = BigInt.asUintN(64, BigInt(value));
    for (let shift = 0n; shift < 63n; shift += 7n) bytes[length++] = Number((bits >> shift) & 0x7fn) | 0x80;
    bytes[length++] = 1;
  }

  /** The length of what is written since `start` is put before it. */
  function endMessage(start: number): void {
    const size = length - start;
    reserve(MOST_BYTES);
    const end = length;
    varint(size);
    const prefix = Buffer.from(bytes.subarray(end, length));
    bytes.copyWithin(start + prefix.length, start, end);
    prefix.copy(bytes, start);
  }

  return {
    number(field, value) {
      reserve(MOST_BYTES);
      varint(field * 8);
      if (value < 0) negativeVarint(value);
      else varint(value);
    },
    text(field, text) {
      reserve(MOST_BYTES + BYTES_PER_UNIT * text.length);
      varint(field * 8 + 2);
      varint(Buffer.byteLength(text));
      length += bytes.write(text, length);
    },
    message(field, write) {
      reserve(MOST_BYTES);
      varint(field * 8 + 2);
      const start = length;
      write();
      endMessage(start);
    },
    finish: () => bytes.subarray(0, length),
  };
}
