import { createHash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { createBrotliCompress, createGzip, createZstdCompress, constants as zlib } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { pipeThrough } from '../compression.ts';
import { isHigher, type Priority } from '../efa/ask.ts';
import { nextTurn } from '../event-loop-turn.ts';
import type { BoardOrigin } from '../live/boards/boards.ts';
import type { Finding } from '../operation.ts';
import { ownBytes, shrinkCache } from '../own-memory.ts';
import type { Freshness } from '../transit/freshness.ts';

/** The bytes of a body and their encoded forms, each made once. */
interface FinishedBody<Body extends object = object> {
  /**
   * Reads the bytes anew each time. Objects that live as long as answers are what makes pauses for garbage collection
   * long: those of a journey with long paths take three times the memory of its bytes.
   */
  content(): Body;
  etag: string;
  bytes: Buffer;
  encoded: Map<Encoding, Buffer | Promise<Buffer>>;
}

/** A finished body and until when it says what is true. */
export interface FinishedResponse<Body extends object = object> {
  key: string;
  body: FinishedBody<Body>;
  freshness: Freshness;
  validUntil: number;
  failedParts: number;
  /** Set on an answer that is old for want of calls: a requester of higher priority may get a newer one. */
  priority: Priority | null;
  boards?: readonly BoardOrigin[];
}

export interface FinishedResponses {
  find(key: string, priority: Priority): FinishedResponse | null;
  keep(key: string, priority: Priority, finding: Finding): Promise<FinishedResponse>;
  /** A promise only the first time, while the body is being encoded. */
  bytesOf(response: FinishedResponse, encoding: Encoding): Buffer | Promise<Buffer>;
  /** Drops what was unused for longest, but for that share of all. */
  shrink(keptShare: number): void;
  size(): { entries: number; bytes: number };
}

/** After so long a fresh answer is looked for in place of a stale one. */
const STALE_VALID_MS = 1000;
const MINUTE_MS = 60_000;
const OVERHEAD_BYTES = 1000;

/** Responses to whole requests, finished but for their headers, within `maxBytes`. */
export function createFinishedResponses({ maxBytes, now }: { maxBytes: number; now: () => number }): FinishedResponses {
  const responses = new LRUCache<string, FinishedResponse>({ maxSize: maxBytes, sizeCalculation: sizeOf });

  /** Nothing is valid beyond the minute: the meaning of "today" and "now" in a query changes with it. */
  function validUntil({ shortage, freshUntil }: Freshness, changesAt: number): number {
    const nextMinute = (Math.floor(now() / MINUTE_MS) + 1) * MINUTE_MS;
    return Math.min(changesAt, nextMinute, shortage === null ? freshUntil : now() + STALE_VALID_MS);
  }

  return {
    find(key, priority) {
      const response = responses.get(key);
      const leftMs = response ? response.validUntil - now() : 0;
      // More than a minute is left only when the clock was set back.
      if (!response || leftMs <= 0 || leftMs > MINUTE_MS) return null;
      return response.priority !== null && isHigher(priority, response.priority) ? null : response;
    },
    async keep(key, priority, finding) {
      const { body: content, freshness, changesAt = Number.POSITIVE_INFINITY, failedParts = 0, boards } = finding;
      const bytes = await writeJson(content);
      const before = responses.peek(key)?.body;
      const body = before?.bytes.equals(bytes) ? before : finishBody(bytes, weakEtag(bytes));
      const response: FinishedResponse = {
        key,
        body,
        // From here on the answer comes from a cache.
        freshness: { ...freshness, source: 'cache' },
        validUntil: validUntil(freshness, changesAt),
        failedParts,
        priority: freshness.shortage === 'busy' || freshness.isStretched ? priority : null,
        ...(boards && { boards }),
      };
      responses.set(key, response);
      return { ...response, freshness };
    },
    bytesOf({ key, body }, encoding) {
      if (encoding === 'identity') return body.bytes;
      const known = body.encoded.get(encoding);
      if (known) return known;
      const underWay = encode(body.bytes, encoding).then((bytes) => {
        body.encoded.set(encoding, bytes);
        // Setting it again counts the new size.
        const kept = responses.peek(key);
        if (kept?.body === body) responses.set(key, { ...kept });
        return bytes;
      });
      body.encoded.set(encoding, underWay);
      return underWay;
    },
    shrink: (keptShare) => shrinkCache(responses, keptShare),
    size: () => ({ entries: responses.size, bytes: responses.calculatedSize }),
  };
}

function sizeOf({ body: { bytes, encoded } }: FinishedResponse, key: string): number {
  const forms = [...encoded.values()].filter((form) => Buffer.isBuffer(form));
  const fixed = 2 * key.length + OVERHEAD_BYTES + bytes.length;
  return forms.reduce((sum, { length }) => sum + length, fixed);
}

function finishBody(bytes: Buffer, etag: string): FinishedBody {
  return { content: () => JSON.parse(bytes.toString()), etag, bytes, encoded: new Map() };
}

/** Only a key of an object is written so: within a text the quotation marks would be escaped. */
const RETRIEVED_AT = '"retrieved_at":"';

/**
 * Weak, because it names the same answer in every encoding, and whenever it or a part of it was retrieved: a caller who has
 * the answer learns from `Age` how fresh it is. `bytes` are the answer as JSON.
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
  return `W/"${hash.update(bytes.subarray(from)).digest('base64url')}"`;
}

/** Content encodings, the preferred one first. The level of each costs about the same, once per body. */
const ENCODERS = {
  zstd: () => createZstdCompress(),
  br: () => createBrotliCompress({ params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: () => createGzip(),
} as const satisfies Record<string, () => Transform>;

export type Encoding = keyof typeof ENCODERS | 'identity';

export const ENCODINGS = Object.keys(ENCODERS) as (keyof typeof ENCODERS)[];

function encode(body: Buffer, encoding: keyof typeof ENCODERS): Promise<Buffer> {
  return pipeThrough(ENCODERS[encoding](), body);
}

/** After so much text other work gets its turn. */
const SLICE_LENGTH = 128_000;

/** The answer as JSON. The lists of a large one are written record by record, so that other requests are served meanwhile. */
export async function writeJson(response: object): Promise<Buffer> {
  const slices: Buffer[] = [];
  let text = '{';
  let separator = '';
  for (const [key, value] of Object.entries(response)) {
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
