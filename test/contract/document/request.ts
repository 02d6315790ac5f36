import fc from 'fast-check';
import { type Document, operationOf, type Parameter, parametersOf, type Schema, toText } from './document.ts';

export interface DocumentedRequest {
  method: string;
  path: string;
  query: [name: string, value: string][];
  headers: [name: string, value: string][];
  /** The kind of key to send. */
  key: 'valid' | 'none' | 'unknown' | 'malformed' | 'other scheme';
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Mostly the method that the path accepts. */
const methodsOf = (taken: string) =>
  fc.oneof(
    { weight: 30, arbitrary: fc.constant(taken) },
    { weight: 1, arbitrary: fc.constantFrom(...METHODS.filter((method) => method !== taken)) },
  );
const KEYS = fc.oneof(
  { weight: 4, arbitrary: fc.constant('valid' as const) },
  { weight: 1, arbitrary: fc.constantFrom('none', 'unknown', 'malformed', 'other scheme') },
);
const ANY_TEXT = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.toWellFormed()),
  fc.constantFrom('', ' ', '0', '-1', '1e9', '1.5', ',', 'null', '__proto__', '[object Object]', '\u0000', '🚆'),
);
/** Text allowed in a header. */
const HEADER_TEXT = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom('*', '"', 'W/"', '""', '"a", W/"b"', ',', 'é'),
);
/** HTTP headers that a client may send with any request. */
const HTTP_HEADERS: Record<string, readonly string[]> = {
  accept: ['application/json', 'text/event-stream', 'text/html', '*/*;q=0', ''],
  origin: ['https://app.example', 'null', ''],
  range: ['bytes=0-1', 'bytes=-'],
  'x-request-id': ['a', 'x'.repeat(300)],
  'if-modified-since': ['Sat, 21 Nov 2026 00:00:00 GMT', 'never'],
  cookie: ['a=b'],
};

/** Values that the schema allows. */
function allowed(schema: Schema): fc.Arbitrary<unknown> {
  const shown = [schema.default, ...(schema.examples ?? [])].filter((value) => value !== undefined);
  const made = madeOf(schema);
  return shown.length > 0 ? fc.oneof(fc.constantFrom(...shown), made) : made;
}

function madeOf({
  type,
  enum: values,
  pattern,
  items,
  minimum,
  maximum,
  maxLength,
  maxItems,
}: Schema): fc.Arbitrary<unknown> {
  if (values) return fc.constantFrom(...values);
  if (items) return fc.array(madeOf(items), { minLength: 1, maxLength: Math.min(maxItems ?? 8, 8) });
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: minimum ?? 0, max: maximum ?? 1e6 });
  if (type === 'number') return fc.double({ min: minimum ?? -1e6, max: maximum ?? 1e6, noNaN: true });
  if (pattern) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength: 1, maxLength: Math.min(maxLength ?? 30, 30) });
}

/** No value, one or two, mostly allowed ones. A path parameter always has one value, because without it the path is another. */
function given({ name, required, in: place, schema }: Parameter): fc.Arbitrary<[name: string, value: string][]> {
  const good = allowed(schema).map(toText);
  const bad = place === 'header' ? HEADER_TEXT : ANY_TEXT;
  const value = fc.oneof({ weight: 40, arbitrary: good }, { weight: 1, arbitrary: bad });
  if (place === 'path') return value.filter((text) => text !== '').map((text) => [[name, text]]);
  const times = fc.oneof(
    { weight: required ? 60 : 25, arbitrary: fc.constant(1) },
    { weight: required ? 1 : 50, arbitrary: fc.constant(0) },
    { weight: place === 'header' ? 0 : 1, arbitrary: fc.constant(2) },
  );
  return fc
    .tuple(times, value, value)
    .map(([count, ...values]) => values.slice(0, count).map((text): [string, string] => [name, text]));
}

const httpHeaders = fc
  .subarray(Object.keys(HTTP_HEADERS), { maxLength: 2 })
  .chain((names) =>
    fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), fc.constantFrom(...(HTTP_HEADERS[name] ?? []))))),
  );

/** Requests for all paths of the document, with parameters generated from their schemas and some invalid ones. */
function requestOf(document: Document): fc.Arbitrary<DocumentedRequest> {
  const ofPath = (path: string) => {
    const parameters = parametersOf(document, path);
    const listOf = (isListed: (place: Parameter['in']) => boolean) =>
      fc.tuple(...parameters.filter((parameter) => isListed(parameter.in)).map(given)).map((lists) => lists.flat());
    return fc.record({
      method: methodsOf(operationOf(document, path).method),
      path: fc.constant(path),
      // Path parameters are inserted into the path.
      query: listOf((place) => place !== 'header'),
      headers: fc
        .tuple(
          listOf((place) => place === 'header'),
          httpHeaders,
        )
        .map((lists) => lists.flat()),
      key: KEYS,
    });
  };
  return fc.oneof(...Object.keys(document.paths).map(ofPath));
}

/** Requests that are the same for the same seed. */
export function documentedRequests(document: Document, count: number, seed: number): DocumentedRequest[] {
  return fc.sample(requestOf(document), { seed, numRuns: count });
}
