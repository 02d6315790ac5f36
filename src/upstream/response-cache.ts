import { createZstdCompress, createZstdDecompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../core/clock.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import { createBoundedMap, ownBytes, pipeThrough } from '../core/own-memory.ts';
import type { ReceivedResponse } from '../efa/query-upstream.ts';
import { parseResponse, type UpstreamRequest } from '../efa/request.ts';
import { parseJson, RESPONSE_LIMITS } from '../efa/response/json-reader.ts';
import type { FreshnessWindow } from '../transit/freshness.ts';

/** A cached response: the received JSON, compressed to a tenth. The parsed object would take fifty times the memory. */
export interface KeptResponse {
  retrievedAt: number;
  bytes: Buffer;
  /** False only briefly after the response arrives. */
  isPacked: boolean;
}

/** Memory of an entry besides its packed response: numbers, map entry and list node of the cache. */
const OVERHEAD_BYTES = 400;
/** A response from further in the future dates from before the clock was set back. */
export const MAX_AHEAD_MS = MINUTE_MS;
/** Larger responses are compressed in another thread. */
const LARGE_BYTES = 250_000;
/**
 * Larger responses are decompressed in another thread: below about 1 MB of JSON, switching threads takes longer than it saves.
 */
const LARGE_PACKED_BYTES = 100_000;

/** Caches upstream responses in this process, within `maxBytes`. */
export class ResponseCache {
  readonly #now: () => number;
  readonly #kept: LRUCache<string, KeptResponse>;

  constructor({ maxBytes, now }: { maxBytes: number; now: () => number }) {
    this.#now = now;
    this.#kept = createBoundedMap('upstream responses', {
      maxBytes,
      // Unpacked responses count 0: they shrink to a tenth at once.
      sizeOf: ({ bytes, isPacked }, key) => (isPacked ? bytes.length : 0) + 2 * key.length + OVERHEAD_BYTES,
    });
  }

  /** The cached response, fresh or stale; null if there is none. */
  find(key: string, window: FreshnessWindow): KeptResponse | null {
    const entry = this.#kept.get(key);
    if (!entry) return null;
    if (this.#now() < entry.retrievedAt + window.freshMs + window.staleMs) return entry;
    this.#kept.delete(key);
    return null;
  }

  /** Caches the response at once and compresses it in a later turn. The promise never rejects. */
  async store(key: string, { json, retrievedAt }: ReceivedResponse<unknown>): Promise<void> {
    const entry: KeptResponse = { retrievedAt, bytes: json, isPacked: false };
    this.#kept.set(key, entry);
    try {
      const packed: KeptResponse = { ...entry, bytes: await pack(json), isPacked: true };
      if (this.#kept.peek(key) === entry) this.#kept.set(key, packed);
    } catch {
      // Memory is short, and an unpacked response would not count towards `maxBytes`.
      if (this.#kept.peek(key) === entry) this.#kept.delete(key);
    }
  }

  size(): { entries: number; bytes: number } {
    return { entries: this.#kept.size, bytes: this.#kept.calculatedSize };
  }
}

async function pack(json: Buffer): Promise<Buffer> {
  if (json.length > LARGE_BYTES) return pipeThrough(createZstdCompress(), json);
  // Map and send the response before packing it.
  await nextTurn();
  return ownBytes(zstdCompressSync(json));
}

/** Unpacks a response and parses it like the client does. */
export async function unpack(request: UpstreamRequest, { bytes, isPacked }: KeptResponse): Promise<unknown> {
  const json = isPacked ? await decompress(bytes) : bytes;
  return parseResponse(request, await parseJson(json));
}

/** Throws if there are more bytes than a response may have. */
async function decompress(packed: Buffer): Promise<Buffer> {
  if (packed.length > LARGE_PACKED_BYTES) return pipeThrough(createZstdDecompress(), packed, RESPONSE_LIMITS.bytes);
  return zstdDecompressSync(packed, { maxOutputLength: RESPONSE_LIMITS.bytes });
}
