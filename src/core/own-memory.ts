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

/** Drops what was unused for longest, until that share of the counted bytes is left. */
export function shrinkCache(cache: { calculatedSize: number; pop(): unknown }, keptShare: number): void {
  const kept = cache.calculatedSize * keptShare;
  while (cache.calculatedSize > kept) cache.pop();
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

const boundedMaps: { name: string; map: WeakRef<{ size: number }> }[] = [];

/**
 * A map of at most so many entries; the one that was unused for longest is dropped first. With the option `max` the memory
 * for all entries would be taken at once. Maps may have the same name.
 */
export function createBoundedMap<Value extends object | number | true>(
  name: string,
  maxEntries: number,
  /** Called with what is dropped or replaced. */
  dispose?: (value: Value) => void,
): LRUCache<string, Value> {
  const map = new LRUCache<string, Value>({
    maxSize: maxEntries,
    sizeCalculation: () => 1,
    ...(dispose && { dispose }),
  });
  boundedMaps.push({ name, map: new WeakRef(map) });
  return map;
}

/** How many entries the bounded maps of this process have, by name. */
export function countBoundedEntries(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name, map } of boundedMaps) {
    const entries = map.deref()?.size;
    if (entries !== undefined) counts.set(name, (counts.get(name) ?? 0) + entries);
  }
  return counts;
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
