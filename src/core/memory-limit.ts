import { totalmem } from 'node:os';

/** The memory limit of this process and its children in bytes: the limit of their container, else the machine's memory. */
export function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

const LITTLE_BYTES = 768 * 2 ** 20;

/** Whether to save memory where that only costs time. */
export function hasLittleMemory(limit = memoryLimit()): boolean {
  return limit < LITTLE_BYTES;
}

const MAX_CACHE_BYTES = 64 * 2 ** 20;
const CACHE_SHARE = 1 / 16;

/** The maximum size of a large cache in bytes: a share of the memory limit, but at most 64 MB. */
export function cacheBytes(limit = memoryLimit()): number {
  return Math.min(MAX_CACHE_BYTES, Math.floor(limit * CACHE_SHARE));
}

/**
 * Collects the garbage of this thread and returns its free pages to the system, which usual collections keep. It stops the thread
 * for longer than they do. `scripts/start` exposes the collector.
 */
export function returnFreeMemory(): void {
  globalThis.gc?.({ type: 'major', flavor: 'last-resort' });
}
