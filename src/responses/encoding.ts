import type { Transform } from 'node:stream';
import { createBrotliCompress, createGzip, createZstdCompress, constants as zlib } from 'node:zlib';
import { pipeThrough } from '../compression.ts';

/** Content encodings, the preferred one first. The level of each costs about the same, once per body. */
const ENCODERS = {
  zstd: () => createZstdCompress(),
  br: () => createBrotliCompress({ params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: () => createGzip(),
} as const satisfies Record<string, () => Transform>;

export type Encoding = keyof typeof ENCODERS | 'identity';

export const ENCODINGS = Object.keys(ENCODERS) as (keyof typeof ENCODERS)[];

export function encode(body: Buffer, encoding: keyof typeof ENCODERS): Promise<Buffer> {
  return pipeThrough(ENCODERS[encoding](), body);
}
