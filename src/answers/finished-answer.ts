import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isHigher, type Priority } from '../efa/ask.ts';
import type { Finding } from '../operation.ts';
import type { Freshness } from '../transit/freshness.ts';
import { type Encoding, encode, ownBytes } from './encoding.ts';
import { writeJson } from './json-writer.ts';

/** A body, its bytes and their encoded forms, each made once. */
interface FinishedBody<Body extends object = object> {
  content: Body;
  etag: string;
  bytes: Buffer;
  encoded: Map<Encoding, Buffer | Promise<Buffer>>;
}

/** A finished body and until when it says what is true. */
export interface FinishedAnswer<Body extends object = object> {
  key: string;
  body: FinishedBody<Body>;
  freshness: Freshness;
  validUntil: number;
  /** Set on an answer that is stale for want of calls: a requester of higher priority may get a fresh one. */
  priority: Priority | null;
}

export interface FinishedAnswers {
  find(key: string, priority: Priority): FinishedAnswer | null;
  keep(key: string, priority: Priority, finding: Finding): Promise<FinishedAnswer>;
  /** A promise only the first time, while the body is being encoded. */
  bytesOf(answer: FinishedAnswer, encoding: Encoding): Buffer | Promise<Buffer>;
}

/** After so long a fresh answer is looked for in place of a stale one. */
const STALE_VALID_MS = 1000;
const MINUTE_MS = 60_000;
const OVERHEAD_BYTES = 1000;
/** The object of a body takes about three times the room of its JSON. */
const CONTENT_FACTOR = 3;

/** Answers to whole requests, finished but for their headers, within `maxBytes`. */
export function createFinishedAnswers({ maxBytes, now }: { maxBytes: number; now: () => number }): FinishedAnswers {
  const answers = new LRUCache<string, FinishedAnswer>({ maxSize: maxBytes, sizeCalculation: sizeOf });

  /** Nothing is valid beyond the minute: the meaning of "today" and "now" in a query changes with it. */
  function validUntil({ shortage, freshUntil }: Freshness, changesAt: number): number {
    const nextMinute = (Math.floor(now() / MINUTE_MS) + 1) * MINUTE_MS;
    return Math.min(changesAt, nextMinute, shortage === null ? freshUntil : now() + STALE_VALID_MS);
  }

  return {
    find(key, priority) {
      const answer = answers.get(key);
      const leftMs = answer ? answer.validUntil - now() : 0;
      // More than a minute is left only when the clock was set back.
      if (!answer || leftMs <= 0 || leftMs > MINUTE_MS) return null;
      return answer.priority !== null && isHigher(priority, answer.priority) ? null : answer;
    },
    async keep(key, priority, { body: content, freshness, changesAt = Number.POSITIVE_INFINITY }) {
      const text = await writeJson(content);
      const bytes = ownBytes(text);
      const before = answers.peek(key)?.body;
      const body = before?.bytes.equals(bytes)
        ? before
        : { content, etag: weakEtag(content, text), bytes, encoded: new Map() };
      const answer: FinishedAnswer = {
        key,
        body,
        // From here on the answer comes from a cache.
        freshness: { ...freshness, source: 'cache' },
        validUntil: validUntil(freshness, changesAt),
        priority: freshness.shortage === 'busy' ? priority : null,
      };
      answers.set(key, answer);
      return { ...answer, freshness };
    },
    bytesOf({ key, body }, encoding) {
      if (encoding === 'identity') return body.bytes;
      const known = body.encoded.get(encoding);
      if (known) return known;
      const underWay = encode(body.bytes, encoding).then((bytes) => {
        body.encoded.set(encoding, bytes);
        // Setting it again counts the new size.
        const kept = answers.peek(key);
        if (kept?.body === body) answers.set(key, { ...kept });
        return bytes;
      });
      body.encoded.set(encoding, underWay);
      return underWay;
    },
  };
}

function sizeOf({ body: { bytes, encoded } }: FinishedAnswer, key: string): number {
  const forms = [...encoded.values()].filter((form) => Buffer.isBuffer(form));
  const fixed = 2 * key.length + OVERHEAD_BYTES + (1 + CONTENT_FACTOR) * bytes.length;
  return forms.reduce((sum, { length }) => sum + length, fixed);
}

/**
 * Weak, because it names the same answer in every encoding, and whenever it was retrieved: a caller who has the answer
 * learns from `Age` how fresh it is. `text` is the content as JSON.
 */
function weakEtag(content: object, text: string): string {
  const retrieved = 'retrieved_at' in content ? `"retrieved_at":${JSON.stringify(content.retrieved_at)}` : '';
  return `W/"${hash('sha1', text.replace(retrieved, ''), 'base64url')}"`;
}
