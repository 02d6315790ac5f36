import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib, zstdCompress } from 'node:zlib';

/** Content encodings, the preferred one first. The level of each costs about the same, once per body. */
const ENCODERS = {
  zstd: promisify(zstdCompress),
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip),
} as const satisfies Record<string, (body: Buffer) => Promise<Buffer>>;

export type Encoding = keyof typeof ENCODERS | 'identity';

export const ENCODINGS = Object.keys(ENCODERS) as (keyof typeof ENCODERS)[];

/** The encoded body in memory of its own: an encoder returns a small view of a large buffer, which the view keeps alive. */
export async function encode(body: Buffer, encoding: keyof typeof ENCODERS): Promise<Buffer> {
  const { buffer, byteOffset, length } = await ENCODERS[encoding](body);
  return Buffer.from(buffer.slice(byteOffset, byteOffset + length));
}

/** The text in memory of its own: `Buffer.from` returns a view of a pool of 64 KB, which the view keeps alive. */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
