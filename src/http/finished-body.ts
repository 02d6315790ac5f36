import { LRUCache } from 'lru-cache';
import type { Priority } from '../efa/client.ts';
import type { Freshness } from '../transit/freshness.ts';
import { PRIORITIES } from '../upstream/priority.ts';
import { type Encoding, encode } from './encoding.ts';
import { weakEtag } from './freshness.ts';

/** An answer as bytes, and its encoded forms, each made once. */
interface FinishedBody {
  etag: string;
  bytes: Buffer;
  encoded: Map<Encoding, Buffer | Promise<Buffer>>;
}

/** A finished body and until when it says what is true. */
export interface FinishedAnswer {
  body: FinishedBody;
  freshness: Freshness;
  validUntil: number;
  /** Stale for want of calls: somebody with a higher priority may do better. */
  priority: Priority | null;
}

export interface FinishedBodies {
  find(url: string, priority: Priority): FinishedAnswer | null;
  keep(
    url: string,
    priority: Priority,
    found: { body: object; freshness: Freshness; changesAt: number },
  ): FinishedAnswer;
  /** A promise only the first time, while the body is being encoded. */
  bytesOf(url: string, body: FinishedBody, encoding: Encoding): Buffer | Promise<Buffer>;
}

/** A stale answer is looked for anew after so long. */
const STALE_VALID_MS = 1000;
const MINUTE_MS = 60_000;
const OVERHEAD_BYTES = 1000;

/** Answers to whole requests, finished but for their headers, within `maxBytes`. */
export function createFinishedBodies({ maxBytes, now }: { maxBytes: number; now: () => number }): FinishedBodies {
  const answers = new LRUCache<string, FinishedAnswer>({
    maxSize: maxBytes,
    sizeCalculation: ({ body }, url) => sizeOf(url, body),
  });

  /** Nothing is valid beyond the minute: what "today" and "now" mean in a query changes with it. */
  function validUntil({ shortage, freshUntil }: Freshness, changesAt: number): number {
    const nextMinute = (Math.floor(now() / MINUTE_MS) + 1) * MINUTE_MS;
    return Math.min(changesAt, nextMinute, shortage === null ? freshUntil : now() + STALE_VALID_MS);
  }

  return {
    find(url, priority) {
      const answer = answers.get(url);
      if (!answer || now() >= answer.validUntil) return null;
      const isForThem = answer.priority === null || PRIORITIES[priority].rank <= PRIORITIES[answer.priority].rank;
      return isForThem ? answer : null;
    },
    keep(url, priority, { body, freshness, changesAt }) {
      const bytes = Buffer.from(JSON.stringify(body));
      const etag = weakEtag(bytes);
      const before = answers.peek(url);
      const finished = before?.body.etag === etag ? before.body : { etag, bytes, encoded: new Map() };
      const answer: FinishedAnswer = {
        body: finished,
        // Whoever gets it from here gets it from a cache.
        freshness: { ...freshness, source: 'cache' },
        validUntil: validUntil(freshness, changesAt),
        priority: freshness.shortage === 'busy' ? priority : null,
      };
      answers.set(url, answer);
      return { ...answer, freshness };
    },
    bytesOf(url, body, encoding) {
      if (encoding === 'identity') return body.bytes;
      const known = body.encoded.get(encoding);
      if (known) return known;
      const underWay = encode(body.bytes, encoding).then((bytes) => {
        body.encoded.set(encoding, bytes);
        const answer = answers.peek(url);
        if (answer?.body === body) answers.set(url, { ...answer });
        return bytes;
      });
      body.encoded.set(encoding, underWay);
      return underWay;
    },
  };
}

function sizeOf(url: string, { bytes, encoded }: FinishedBody): number {
  const forms = [bytes, ...encoded.values()].filter((form) => Buffer.isBuffer(form));
  return forms.reduce((sum, { length }) => sum + length, 2 * url.length + OVERHEAD_BYTES);
}
