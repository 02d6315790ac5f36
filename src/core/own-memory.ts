import { hash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { LRUCache } from 'lru-cache';

/**
 * Cached data must own its memory. Small Node buffers are views of a 64 KB pool; buffers from decoders and sockets are views of
 * a whole read. A view keeps its whole block alive, so a cache of views would hold many times the bytes that it counts.
 */

/** Returns a copy that shares memory with nothing else. */
export function ownBytes(source: string | Uint8Array): Buffer {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * Returns a copy of the text that references no other string. V8 represents concatenations as trees and substrings as views,
 * which keep their sources alive.
 */
export function ownText(text: string): string {
  return text.isWellFormed() ? Buffer.from(text).toString() : JSON.parse(JSON.stringify(text));
}

/** A short hash to use as the key of maps that callers can fill: their texts may be kilobytes long. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** All bounded maps of the process. Names may repeat. */
const boundedMaps: { name: string; isInBytes: boolean; map: WeakRef<LRUCache<string, NonNullable<unknown>>> }[] = [];

export type BoundedMap<Value extends object | number | true> = LRUCache<string, Value>;

/**
 * An LRU map. Everything that callers can make grow beyond one request must use it; bench/README.md lists all of them. The
 * bound is either a number of entries or of bytes. A map bounded in bytes is a cache and is shrunk when the process runs short
 * of memory.
 */
export function createBoundedMap<Value extends object | number | true>(
  name: string,
  bound: number | { maxBytes: number; sizeOf: (value: Value, key: string) => number },
): BoundedMap<Value> {
  const isInBytes = typeof bound === 'object';
  const map = new LRUCache<string, Value>({
    // The option `max` would allocate memory for all entries at once.
    maxSize: isInBytes ? bound.maxBytes : bound,
    sizeCalculation: isInBytes ? bound.sizeOf : () => 1,
  });
  boundedMaps.push({ name, isInBytes, map: new WeakRef(map as never) });
  return map;
}

/** Callbacks that free memory outside the bounded maps. */
const releases = new Set<() => void>();

/** Calls `release` whenever the process runs short of memory. Returns a function that unregisters it. */
export function onShortage(release: () => void): () => void {
  releases.add(release);
  return () => void releases.delete(release);
}

/** Shrinks all caches of this process to `keptShare` (0 to 1) of the bytes that they hold, and calls the callbacks of `onShortage`. */
export function shrinkCaches(keptShare: number): void {
  for (const release of releases) release();
  for (const { isInBytes, map } of boundedMaps) {
    const cache = isInBytes ? map.deref() : undefined;
    const keptBytes = (cache?.calculatedSize ?? 0) * keptShare;
    while (cache && cache.calculatedSize > keptBytes) cache.pop();
  }
}

/** The size of each bounded map of this process, by name; `bytes` is null if the bound is a number of entries. */
export function measureBoundedMaps(): Map<string, { entries: number; bytes: number | null }> {
  const sizes = new Map<string, { entries: number; bytes: number | null }>();
  for (const { name, isInBytes, map } of boundedMaps) {
    const { size, calculatedSize } = map.deref() ?? { size: 0, calculatedSize: 0 };
    const before = sizes.get(name);
    const bytes = isInBytes ? (before?.bytes ?? 0) + calculatedSize : null;
    sizes.set(name, { entries: (before?.entries ?? 0) + size, bytes });
  }
  return sizes;
}

/**
 * Compresses or decompresses bytes with an engine of `node:zlib` in another thread. The result owns its memory. Throws the
 * engine's error, or `RangeError` beyond `maxBytes`.
 *
 * Node's callback functions, such as `gunzip`, keep their input and output alive until the next full garbage collection. A few
 * large responses would then trigger one, which stops the event loop for 10 ms and more.
 */
export async function pipeThrough(
  engine: Transform,
  input: Uint8Array,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  engine.end(input);
  for await (const chunk of engine) {
    size += chunk.length;
    if (size > maxBytes) throw new RangeError(`more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const joined = Buffer.allocUnsafeSlow(size);
  let offset = 0;
  for (const chunk of chunks) offset += chunk.copy(joined, offset);
  return joined;
}
