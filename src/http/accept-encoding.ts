import { ENCODINGS, type Encoding } from '../responses/finished-response.ts';

/** Below this size the headers are most of the response. */
const WORTH_ENCODING_BYTES = 1000;
const MAX_REMEMBERED = 200;

const chosen = new Map<string, Encoding>();

/**
 * What the caller prefers (`Accept-Encoding` with its weights); among equals, what we prefer. `*` stands for gzip only:
 * proxies send it on behalf of clients that cannot read the newer encodings.
 */
export function chooseEncoding(acceptEncoding: string | undefined, body: Buffer): Encoding {
  if (!acceptEncoding || body.length < WORTH_ENCODING_BYTES) return 'identity';
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
  const weightOf = (name: Encoding) => weights.get(name) ?? (name === 'gzip' ? weights.get('*') : undefined) ?? 0;
  const best = ENCODINGS.reduce((best, name) => (weightOf(name) > weightOf(best) ? name : best));
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : 'identity';
}
