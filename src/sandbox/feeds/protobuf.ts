/*
 * Writes the protobuf wire format (https://protobuf.dev/programming-guides/encoding/): the three kinds of fields that
 * GTFS-realtime needs. A message is the fields of it, one behind the other.
 */

/** A number or an enum; negative ones take ten bytes, as `int32` and `int64` are encoded. */
export function numberField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

export function textField(field: number, text: string): Buffer {
  return messageField(field, [Buffer.from(text)]);
}

export function messageField(field: number, content: readonly Buffer[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([varint(field * 8 + 2), varint(length), ...content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value < 0 ? BigInt.asUintN(64, BigInt(value)) : BigInt(value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
