import { totalmem } from 'node:os';

/** The bytes that this process and its children may take: the limit of their container, or else what the machine has. */
export function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

const LITTLE_BYTES = 768 * 2 ** 20;

/** Whether this process should do with less where that only costs time. */
export function hasLittleMemory(limit = memoryLimit()): boolean {
  return limit < LITTLE_BYTES;
}

const MAX_CACHE_BYTES = 64 * 2 ** 20;
const CACHE_SHARE = 1 / 16;

/** The bound of a large cache: a share of the memory limit. */
export function cacheBytes(limit = memoryLimit()): number {
  return Math.min(MAX_CACHE_BYTES, Math.floor(limit * CACHE_SHARE));
}
