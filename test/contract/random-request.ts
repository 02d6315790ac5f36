import fc from 'fast-check';
import { generateAccountId, generateKey } from '#src/access/keys.ts';

/** The bytes of a request without a valid key; `body` is latin1. */
export interface RandomRequest {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: string | null;
}

const PATHS = [
  '/v1/departures',
  '/v1/departures/stream',
  '/v1/arrivals',
  '/v1/boards',
  '/v1/nearby',
  '/v1/stops/search',
  '/v1/places/search',
  '/v1/trips',
  '/v1/reachable',
  '/v1/travel-times',
  '/mcp',
  '/',
  '/board/200060',
  '/docs',
  '/docs/errors/NOT_FOUND',
  '/explore',
  '/status',
  '/signup',
  '/keys',
  '/keys/new',
  '/keys/revoke',
  '/keys/rotate',
  '/assets/site.css',
  '/assets/../config.ts',
  '/openapi.json',
  '/healthz',
  '/readyz',
  '/robots.txt',
];
const NAMES = [
  'stop',
  'stops',
  'modes',
  'limit',
  'lat',
  'lng',
  'q',
  'from',
  'to',
  'date',
  'key',
  'token',
  '__proto__',
  'a[b]',
];
const WORDS = [
  '200060',
  'all',
  '-33.8',
  '0',
  'bus,train',
  '%00',
  '%ff',
  '%2e%2e%2f',
  '..',
  '{}',
  '[]',
  '"',
  '<b>',
  '%',
  'tis_live_',
];
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE'];
const TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
];

/** Printable ASCII without spaces. */
const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 20,
});
/** Bytes allowed in a header, including spaces, tabs and bytes above ASCII. */
const fieldByte = fc.oneof(
  fc.integer({ min: 0x20, max: 0x7e }),
  fc.integer({ min: 0x80, max: 0xff }),
  fc.constant(0x09),
);
const field = fc.string({ unit: fieldByte.map((code) => String.fromCharCode(code)), maxLength: 60 });
const word = fc.oneof(
  fc.constantFrom(...WORDS),
  visible.map((text) => text.replaceAll('#', '')),
);
/** A repeated word, because such texts expose quadratic running times. */
const long = fc
  .tuple(word, fc.integer({ min: 1, max: 1500 }))
  .map(([text, times]) => text.repeat(times).slice(0, 6000));

const query = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom(...NAMES), word),
      fc.oneof({ weight: 9, arbitrary: word }, { weight: 1, arbitrary: long }),
    ),
    {
      maxLength: 6,
    },
  )
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));
const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...PATHS), word).map((parts) => parts.join('/')) },
  { weight: 1, arbitrary: fc.array(word, { maxLength: 20 }).map((parts) => `/${parts.join('/')}`) },
  { weight: 1, arbitrary: long.map((text) => `/${text}`) },
);
const url = fc.tuple(path, query).map(([before, after]) => (after ? `${before}?${after}` : before));

/** A well-formed unknown key, a truncated one, or anything else. */
const authorization = fc.oneof(
  fc.integer().map(() => `Bearer ${generateKey('live', generateAccountId())}`),
  word.map((text) => `Bearer ${text}`),
  long,
  field,
);
const header = fc.oneof(
  fc.tuple(fc.constant('authorization'), authorization),
  fc.tuple(
    fc.constantFrom(
      'accept',
      'accept-encoding',
      'if-none-match',
      'origin',
      'cookie',
      'x-forwarded-for',
      'range',
      'expect',
      'x',
    ),
    fc.oneof(field, word, long),
  ),
  fc.tuple(fc.constant('accept'), fc.constant('text/html')),
);
const headers = fc.array(header, { maxLength: 4 }).map((all) => [...new Map(all)]);

const nested = fc
  .tuple(fc.constantFrom('[', '{"a":', '[{"__proto__":'), fc.integer({ min: 1, max: 20_000 }))
  .map(([open, depth]) => open.repeat(depth));
const form = fc
  .array(
    fc.tuple(word, word).map((pair) => pair.join('=')),
    { maxLength: 2000 },
  )
  .map((pairs) => pairs.join('&'));
const body = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('latin1')) },
  { weight: 2, arbitrary: query },
  { weight: 1, arbitrary: form },
  { weight: 1, arbitrary: nested },
  { weight: 2, arbitrary: field },
);

const request = fc
  .record({ method: fc.constantFrom(...METHODS), url, headers, body, type: fc.constantFrom(...TYPES) })
  .map(({ type, ...given }): RandomRequest => {
    const hasBody = !['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(given.method);
    if (!hasBody) return { ...given, body: null };
    return { ...given, headers: [...given.headers, ['content-type', type]] };
  });

/** Requests that, except for their keys, are the same for the same seed. */
export function randomRequests(count: number, seed: number): RandomRequest[] {
  return fc.sample(request, { seed, numRuns: count });
}

export function toBytes({ method, url, headers, body }: RandomRequest): Buffer {
  const length: [string, string][] = body === null ? [] : [['content-length', String(body.length)]];
  const lines = [['host', 'x'], ...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`, 'latin1');
}
