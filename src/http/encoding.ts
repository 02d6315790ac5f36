import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib, zstdCompress } from 'node:zlib';
import { exactBytes } from '../upstream/exact-bytes.ts';

/** Content encodings, the one we like best first: the level of each costs about the same, once per body. */
const ENCODERS = {
  zstd: promisify(zstdCompress),
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: promisify(gzip),
} as const satisfies Record<string, (body: Buffer) => Promise<Buffer>>;

export type Encoding = keyof typeof ENCODERS | 'identity';

const BY_PREFERENCE = Object.keys(ENCODERS) as (keyof typeof ENCODERS)[];
/** Below, the headers are most of the answer. */
const WORTH_ENCODING_BYTES = 1000;
const MAX_REMEMBERED = 200;

const chosen = new Map<string, Encoding>();

export async function encode(body: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'identity' ? body : exactBytes(await ENCODERS[encoding](body));
}

export function isWorthEncoding(body: Buffer): boolean {
  return body.length >= WORTH_ENCODING_BYTES;
}

/** What the caller likes best (`Accept-Encoding` with its weights); among equals, what we like best. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  if (!acceptEncoding) return 'identity';
  const known = chosen.get(acceptEncoding);
  if (known) return known;
  const encoding = readAcceptEncoding(acceptEncoding);
  if (chosen.size < MAX_REMEMBERED) chosen.set(acceptEncoding, encoding);
  return encoding;
}

function readAcceptEncoding(header: string): Encoding {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const best = BY_PREFERENCE.reduce((best, name) => (weightOf(name) > weightOf(best) ? name : best));
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : 'identity';
}
