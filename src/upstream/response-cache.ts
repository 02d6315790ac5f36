import { createZstdCompress, createZstdDecompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../clock.ts';
import type { ReceivedResponse } from '../efa/ask.ts';
import { isResponseTo, readResponse, type UpstreamRequest } from '../efa/request.ts';
import { RESPONSE_LIMITS, readJson } from '../efa/response/json-reader.ts';
import { nextTurn } from '../event-loop-turn.ts';
import { ownBytes, pipeThrough, shrinkCache } from '../own-memory.ts';
import { type FreshnessWindow, staleUntil } from './freshness-window.ts';
import type { SharedStore } from './shared-store.ts';

/** A cached response: what was received, compressed to about a tenth of its JSON and a fiftieth of its object in memory. */
export interface KeptResponse {
  retrievedAt: number;
  bytes: Buffer;
  /** False for a moment only, after the response has arrived. */
  isPacked: boolean;
}

/** The memory of an entry beside its packed response: numbers, the map entry and the list node of the cache. */
const OVERHEAD_BYTES = 400;
const MOMENT_BYTES = 8;
/** Each frame of zstd begins with these four bytes. */
const ZSTD_MAGIC = 0xfd2fb528;
/** The clocks of instances differ by less. A response from further ahead is from before the clock was set back. */
export const MAX_AHEAD_MS = MINUTE_MS;
/** Larger responses are compressed in another thread. */
const LARGE_BYTES = 250_000;
/** Larger responses are decompressed in another thread: below about 1 MB of JSON the way there and back takes longer. */
const LARGE_PACKED_BYTES = 100_000;

/** Keeps responses in the process, within `maxBytes`, and in the store that all instances share. */
export class ResponseCache {
  readonly #now: () => number;
  readonly #store: SharedStore;
  readonly #kept: LRUCache<string, KeptResponse>;

  constructor({ maxBytes, now, store }: { maxBytes: number; now: () => number; store: SharedStore }) {
    this.#now = now;
    this.#store = store;
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      // Unpacked responses count 0: they shrink to a tenth at once.
      sizeCalculation: ({ bytes, isPacked }, key) => (isPacked ? bytes.length : 0) + 2 * key.length + OVERHEAD_BYTES,
    });
  }

  /** The response that this process keeps, fresh or stale. */
  find(key: string, window: FreshnessWindow): KeptResponse | null {
    const entry = this.#kept.get(key);
    if (!entry) return null;
    if (this.#now() < staleUntil(entry.retrievedAt, window)) return entry;
    this.#kept.delete(key);
    return null;
  }

  /** The newest response that any instance keeps. One that is no response to the request counts as none. */
  async load(request: UpstreamRequest, key: string, window: FreshnessWindow): Promise<KeptResponse | null> {
    const shared = read(await this.#store.get(`answer:${key}`));
    const isNews = (own = this.#kept.peek(key)) => shared && (!own || shared.retrievedAt > own.retrievedAt);
    const isUsable = shared && isNews() && shared.retrievedAt < this.#now() + MAX_AHEAD_MS;
    // Reading takes a moment, in which a newer one may come.
    if (isUsable && (await isReadable(request, shared)) && isNews()) this.#kept.set(key, shared);
    return this.find(key, window);
  }

  /**
   * The process finds the response at once; when the promise is fulfilled, it has been given to the shared store too. The
   * promise does not reject.
   */
  async keep(key: string, window: FreshnessWindow, { json, retrievedAt }: ReceivedResponse<unknown>): Promise<void> {
    const received: KeptResponse = { retrievedAt: retrievedAt.getTime(), bytes: json, isPacked: false };
    this.#kept.set(key, received);
    try {
      const packed: KeptResponse = { ...received, bytes: await pack(json), isPacked: true };
      if (this.#kept.peek(key) === received) this.#kept.set(key, packed);
      const ttlMs = Math.ceil(staleUntil(packed.retrievedAt, window) - this.#now());
      this.#store.set(`answer:${key}`, write(packed), ttlMs);
    } catch {
      // Memory is short. Unpacked, the response would not count towards `maxBytes`.
      if (this.#kept.peek(key) === received) this.#kept.delete(key);
    }
  }

  size(): { entries: number; bytes: number } {
    return { entries: this.#kept.size, bytes: this.#kept.calculatedSize };
  }

  /** Drops what was unused for longest, but for that share of all. */
  shrink(keptShare: number): void {
    shrinkCache(this.#kept, keptShare);
  }
}

async function pack(json: Buffer): Promise<Buffer> {
  if (json.length > LARGE_BYTES) return pipeThrough(createZstdCompress(), json);
  // The response is mapped and sent before it is packed.
  await nextTurn();
  return ownBytes(zstdCompressSync(json));
}

/** Unpacks the payload that the client read from the response. */
export async function unpack(request: UpstreamRequest, { bytes, isPacked }: KeptResponse): Promise<unknown> {
  const json = isPacked ? await decompress(bytes) : bytes;
  return readResponse(request, await readJson(json));
}

/** A value in Redis may be broken, or written by somebody else: it must not cost a request more than a miss. */
async function isReadable(request: UpstreamRequest, { bytes }: KeptResponse): Promise<boolean> {
  try {
    const json = await readJson(await decompress(bytes));
    return typeof json === 'object' && json !== null && isResponseTo(request, json, readResponse(request, json));
  } catch {
    return false;
  }
}

/** Throws when there are more bytes than a response may have. */
async function decompress(packed: Buffer): Promise<Buffer> {
  if (packed.length > LARGE_PACKED_BYTES) return pipeThrough(createZstdDecompress(), packed, RESPONSE_LIMITS.bytes);
  return zstdDecompressSync(packed, { maxOutputLength: RESPONSE_LIMITS.bytes });
}

/** Eight bytes for the moment of retrieval, then the packed response. */
function write({ retrievedAt, bytes }: KeptResponse): Buffer {
  const moment = Buffer.alloc(MOMENT_BYTES);
  moment.writeDoubleBE(retrievedAt);
  return Buffer.concat([moment, bytes]);
}

/** Null when there is nothing, or when another version of the service wrote it in another form. */
function read(written: Buffer | null): KeptResponse | null {
  if (!written || written.length < MOMENT_BYTES + 4 || written.readUInt32LE(MOMENT_BYTES) !== ZSTD_MAGIC) return null;
  const retrievedAt = written.readDoubleBE();
  if (!(retrievedAt > 0)) return null;
  return { retrievedAt, bytes: ownBytes(written.subarray(MOMENT_BYTES)), isPacked: true };
}
