import { createHash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { createBrotliCompress, createGzip, createZstdCompress, constants as zlib } from 'node:zlib';
import type { BoardOrigin } from '../boards/source.ts';
import { MINUTE_MS } from '../core/clock.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import { createBoundedMap, ownBytes, ownText, pipeThrough } from '../core/own-memory.ts';
import type { JourneyOrigin } from '../journeys/source.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { Notice, OperationResult } from './operation.ts';

/** A complete response, except for its headers. Times are in milliseconds since 1970. */
export interface FinishedResponse<Body extends object = object> {
  key: string;
  /** The body's bytes and their encoded forms, each made once. */
  body: {
    /**
     * Parses the bytes on each call. Keeping parsed objects as long as responses would lengthen garbage collection: a journey
     * with long paths takes three times the memory of its bytes.
     */
    content(): Body;
    etag: string;
    bytes: Buffer;
    encoded: Map<Encoding, Buffer | Promise<Buffer>>;
  };
  freshness: Freshness;
  /** Whether the response came from the cache, so that nothing was computed for it. */
  isFromCache: boolean;
  /** The cache serves the response until this time. */
  validUntil: number;
  failedParts: number;
  boards?: readonly BoardOrigin[];
  /** The sources of the boards, each once. */
  timesSource?: string;
  journeys?: JourneyOrigin;
  notices?: readonly Notice[];
  isGeoJson?: boolean;
  /** The `Link` header, if there are further pages. */
  link?: string;
}

/** The cache serves a stale response for this long before the operation runs again. */
const STALE_VALID_MS = 1000;
const OVERHEAD_BYTES = 1900;
/** Each new response drops at most this many expired ones. More than one, so that they become fewer. */
const MAX_DROPPED = 8;

/** A cache of finished responses that holds at most `maxBytes`. */
export function createFinishedResponses({ maxBytes, now }: { maxBytes: number; now: () => number }) {
  const responses = createBoundedMap<FinishedResponse>('finished responses', { maxBytes, sizeOf });

  /** No response outlives its minute, because "today" and "now" in a query then change their meaning. */
  function validUntil({ shortage, freshUntil }: Freshness, changesAt: number): number {
    const nextMinute = (Math.floor(now() / MINUTE_MS) + 1) * MINUTE_MS;
    return Math.min(changesAt, nextMinute, shortage === null ? freshUntil : now() + STALE_VALID_MS);
  }

  function isValid({ validUntil }: FinishedResponse): boolean {
    const leftMs = validUntil - now();
    // More than a minute is left only if the clock was set back.
    return leftMs > 0 && leftMs <= MINUTE_MS;
  }

  /** Drops expired responses from the least recently used end. A valid one there delays the others by at most a minute. */
  function dropExpired(): void {
    for (let dropped = 0; dropped < MAX_DROPPED; dropped++) {
      const [oldest] = responses.rvalues();
      if (!oldest || isValid(oldest)) return;
      responses.pop();
    }
  }

  return {
    /** Returns null on a cache miss. */
    find(key: string): FinishedResponse | null {
      const response = responses.get(key);
      return response && isValid(response) ? response : null;
    },
    /** Writes the body as JSON, computes its `ETag`, and caches the response. */
    async store(key: string, result: OperationResult, link?: string): Promise<FinishedResponse> {
      const {
        body: content,
        freshness,
        changesAt = Number.POSITIVE_INFINITY,
        failedParts = 0,
        boards,
        journeys,
        notices = [],
      } = result;
      const bytes = await writeJson(content);
      const isGeoJson = 'type' in content && content.type === 'FeatureCollection';
      const before = responses.peek(key)?.body;
      const body = before?.bytes.equals(bytes) ? before : finishBody(bytes, weakEtag(bytes));
      const response: FinishedResponse = {
        key,
        body,
        // Later requests get the response from the cache.
        freshness: { ...freshness, source: 'cache' },
        isFromCache: true,
        validUntil: validUntil(freshness, changesAt),
        failedParts,
        ...(boards && { boards, timesSource: nameSources(boards) }),
        ...(journeys && { journeys }),
        ...(isGeoJson && { isGeoJson }),
        ...(notices.length > 0 && { notices }),
        ...(link !== undefined && { link: ownText(link) }),
      };
      responses.set(key, response);
      dropExpired();
      return { ...response, freshness, isFromCache: false };
    },
    /** Returns a promise only while the body is being encoded. */
    bytesOf({ key, body }: FinishedResponse, encoding: Encoding): Buffer | Promise<Buffer> {
      return encodeOnce(body, encoding, () => {
        // Setting the entry again updates its size.
        const cached = responses.peek(key);
        if (cached?.body === body) responses.set(key, { ...cached });
      });
    },
    size: () => ({ entries: responses.size, bytes: responses.calculatedSize }),
  };
}

function nameSources(boards: readonly BoardOrigin[]): string {
  return [...new Set(boards.map(({ source }) => source))].sort().join(', ');
}

function sizeOf({ body: { bytes, encoded }, link = '' }: FinishedResponse, key: string): number {
  const forms = [...encoded.values()].filter((form) => Buffer.isBuffer(form));
  const fixed = 2 * (key.length + link.length) + OVERHEAD_BYTES + bytes.length;
  return forms.reduce((sum, { length }) => sum + length, fixed);
}

function finishBody(bytes: Buffer, etag: string): FinishedResponse['body'] {
  return { content: () => JSON.parse(bytes.toString()), etag, bytes, encoded: new Map() };
}

/** The key before the timestamp in a body. It cannot occur inside a string, where its quotation marks would be escaped. */
const RETRIEVED_AT = '"retrieved_at":"';

/** 66 bits tell the responses to one URL apart. A longer tag is only a longer header. */
const ETAG_LENGTH = 11;

/**
 * The ETag is weak: it is the same in every encoding, and does not change when only `retrieved_at` does. `Age` shows how fresh
 * the data is. `bytes` are the body as JSON.
 */
function weakEtag(bytes: Buffer): string {
  const hash = createHash('sha1');
  let from = 0;
  for (;;) {
    const at = bytes.indexOf(RETRIEVED_AT, from);
    if (at < 0) break;
    hash.update(bytes.subarray(from, at));
    from = bytes.indexOf('"', at + RETRIEVED_AT.length);
  }
  return `W/"${hash.update(bytes.subarray(from)).digest('base64url').slice(0, ETAG_LENGTH)}"`;
}

/** Content encodings in order of preference. These levels cost about the same; each body is encoded once. */
const ENCODERS = {
  zstd: () => createZstdCompress(),
  br: () => createBrotliCompress({ params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: () => createGzip(),
} as const satisfies Record<string, () => Transform>;

export type Encoding = keyof typeof ENCODERS | 'identity';

export const ENCODINGS = Object.keys(ENCODERS) as (keyof typeof ENCODERS)[];

/** Returns the body in that encoding, or a promise while it is being encoded. */
export function encodeOnce(
  { bytes, encoded }: Pick<FinishedResponse['body'], 'bytes' | 'encoded'>,
  encoding: Encoding,
  onEncoded?: () => void,
): Buffer | Promise<Buffer> {
  if (encoding === 'identity') return bytes;
  const cached = encoded.get(encoding);
  if (cached) return cached;
  const underWay = pipeThrough(ENCODERS[encoding](), bytes).then((form) => {
    encoded.set(encoding, form);
    onEncoded?.();
    return form;
  });
  encoded.set(encoding, underWay);
  return underWay;
}

/** Other work gets a turn after this many characters. */
const SLICE_LENGTH = 128_000;

/** Writes a body as JSON. Lists are written item by item so that a large body does not block other requests. */
export async function writeJson(body: object): Promise<Buffer> {
  const slices: Buffer[] = [];
  let text = '{';
  let separator = '';
  for (const [key, value] of Object.entries(body)) {
    const written = Array.isArray(value) ? '[' : JSON.stringify(value);
    if (written === undefined) continue;
    text += `${separator}${JSON.stringify(key)}:${written}`;
    separator = ',';
    if (!Array.isArray(value)) continue;
    for (const [index, record] of value.entries()) {
      text += `${index === 0 ? '' : ','}${JSON.stringify(record) ?? 'null'}`;
      if (text.length < SLICE_LENGTH) continue;
      slices.push(Buffer.from(text));
      text = '';
      await nextTurn();
    }
    text += ']';
  }
  const last = ownBytes(`${text}}`);
  return slices.length === 0 ? last : Buffer.concat([...slices, last]);
}
