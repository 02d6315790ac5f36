import { hash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { LRUCache } from 'lru-cache';

/*
 * Whatever a cache keeps must have memory of its own. Small buffers of Node are views of a pool of 64 KB, those of decoders and
 * sockets are views of what was read at once, and a view keeps the whole alive: a cache then holds many times the bytes
 * that it counts.
 */

/** A copy that shares its memory with nothing. */
export function ownBytes(source: string | Uint8Array): Buffer {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

/**
 * The text as a key that holds nothing but its letters. V8 makes put-together text as a tree of its parts, and a part of a
 * text as a view of the whole.
 */
export function ownText(text: string): string {
  return text.isWellFormed() ? Buffer.from(text).toString() : JSON.parse(JSON.stringify(text));
}

/** A short name for maps that callers can fill: the text may be kilobytes long. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** Each bounded map of the process. Maps may have the same name. */
const boundedMaps: { name: string; isInBytes: boolean; map: WeakRef<LRUCache<string, NonNullable<unknown>>> }[] = [];

/**
 * A map that drops first what was unused for longest. Whatever callers can make grow beyond a request is one of these, and
 * docs/operations.md has a table of them. The bound is a number of entries, or of bytes: then the map is a cache, and gives up memory when the
 * process runs short of it.
 */
export function createBoundedMap<Value extends object | number | true>(
  name: string,
  bound: number | { maxBytes: number; sizeOf: (value: Value, key: string) => number },
): LRUCache<string, Value> {
  const isInBytes = typeof bound === 'object';
  const map = new LRUCache<string, Value>({
    // With the option `max` the memory for all entries would be taken at once.
    maxSize: isInBytes ? bound.maxBytes : bound,
    sizeCalculation: isInBytes ? bound.sizeOf : () => 1,
  });
  boundedMaps.push({ name, isInBytes, map: new WeakRef(map as never) });
  return map;
}

/** Makes all caches of this process smaller, to that share of the bytes that they count. */
export function shrinkCaches(keptShare: number): void {
  for (const { isInBytes, map } of boundedMaps) {
    const cache = isInBytes ? map.deref() : undefined;
    const kept = (cache?.calculatedSize ?? 0) * keptShare;
    while (cache && cache.calculatedSize > kept) cache.pop();
  }
}

/** How large the bounded maps of this process are, by name; `bytes` is null where the bound is a number of entries. */
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
 * Packs or unpacks the bytes with an engine of `node:zlib`, in another thread; the result has memory of its own. Throws the engine's error, or `RangeError` when there are more than `maxBytes`.
 *
 * Node's functions with a callback, such as `gunzip`, keep what they were given and what they return until the next full
 * garbage collection. A few large responses then cause that collection, and it stops the event loop for 10 ms and more.
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
  const whole = Buffer.allocUnsafeSlow(size);
  let offset = 0;
  for (const chunk of chunks) offset += chunk.copy(whole, offset);
  return whole;
}
