import { existsSync, readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { type Clock, steadyClock } from './clock.ts';
import { returnFreeMemory } from './memory-limit.ts';
import { shrinkCaches } from './own-memory.ts';

/**
 * V8's young generation: three spaces of 4 MiB, as `npm start` sets them. V8's heap limit includes it, but V8 aborts once the old
 * generation is full: at 345 of 384 MiB in a container of 768 MiB. V8 checks more often than we do, so our limit is lower.
 */
const YOUNG_BYTES = 12 * 1024 * 1024;
const HEAP_SHARE = 0.8;
const MEMORY_SHARE = 0.95;
/** From this share of a limit on, caches drop their least recently used half. */
const SHRINK_SHARE = 0.9;
/** Freed memory is not returned at once, so caches are not shrunk again within this time. */
const SHRINK_EVERY_MS = 5000;
/**
 * Freed memory may never be returned, but it is used again. So caches may refill, and are shrunk again only after the process has
 * grown by this share of the limit.
 */
const REGROWTH_SHARE = 0.03;
const SAMPLE_EVERY_MS = 1000;
/** Another process of the group that has grown by this much is an import. */
const IMPORT_FROM_BYTES = 20 * 2 ** 20;
/** The peak memory of an import of all New South Wales. The import reaches it faster than caches can be shrunk. */
const IMPORT_BYTES = 125 * 2 ** 20;

/** Limits of this process in bytes: V8's heap limit and the container's memory limit. Zero disables a limit. */
export function ownMemoryLimits() {
  return {
    heapBytes: Math.floor((getHeapStatistics().heap_size_limit - YOUNG_BYTES) * HEAP_SHARE),
    // The limit of the whole process, buffers included. Without a container limit, `constrainedMemory` returns zero, or far more
    // than any machine has.
    memoryBytes: Math.floor((process.constrainedMemory() ?? 0) * MEMORY_SHARE),
  };
}

/** How a watch measures, and how it frees memory. */
interface Measures {
  countBytes: () => number;
  /** Returns the bytes of all processes that share its limit. */
  countGroupBytes: () => number;
  shrink: (keptShare: number) => void;
  clock: Clock;
}

/**
 * Samples every second, and shrinks caches when memory runs short. The import of a timetable is another process with the same
 * limit: caches make room for it as soon as it has begun, but nothing is refused. If memory is too short for both, the kernel ends
 * the import.
 */
export class MemoryWatch {
  readonly #limits: ReturnType<typeof ownMemoryLimits>;
  readonly #measures: Measures;
  #cancelSample = () => {};
  #heapBytes = 0;
  #ownBytes = 0;
  /** Bytes of all processes that share the limit, including what an import under way is expected to take. */
  #allBytes = 0;
  /** The smallest total of the other processes so far. */
  #leastOtherBytes = Number.POSITIVE_INFINITY;
  #shrunkAt = Number.NEGATIVE_INFINITY;
  /** Below this size of the process, caches are not shrunk again. */
  #regrownBytes = 0;

  constructor(limits = ownMemoryLimits(), measures: Partial<Measures> = {}) {
    this.#limits = limits;
    this.#measures = {
      countBytes: countOwnBytes,
      countGroupBytes,
      shrink: shrinkCaches,
      clock: steadyClock,
      ...measures,
    };
    this.#sampleLater();
  }

  /** Describes the limit that the process exceeds; null if it exceeds none. */
  exceeded(): string | null {
    if (isOver(this.#heapBytes, this.#limits.heapBytes)) return `the heap has ${this.#heapBytes} bytes`;
    return isOver(this.#ownBytes, this.#limits.memoryBytes) ? `the process has ${this.#ownBytes} bytes` : null;
  }

  close(): void {
    this.#cancelSample();
  }

  #sampleLater(): void {
    this.#cancelSample = this.#measures.clock.after(
      SAMPLE_EVERY_MS,
      () => {
        this.#sampleLater();
        this.#sample();
      },
      { isBackground: true },
    );
  }

  #sample(): void {
    this.#measureMemory();
    this.#regrownBytes = Math.min(this.#regrownBytes, this.#allBytes + this.#limits.memoryBytes * REGROWTH_SHARE);
    if (this.#isShort()) this.#shrink();
  }

  #measureMemory(): void {
    this.#heapBytes = getHeapStatistics().used_heap_size;
    try {
      this.#ownBytes = this.#measures.countBytes();
      const otherBytes = Math.max(0, this.#measures.countGroupBytes() - this.#ownBytes);
      this.#leastOtherBytes = Math.min(this.#leastOtherBytes, otherBytes);
      const isImport = otherBytes - this.#leastOtherBytes >= IMPORT_FROM_BYTES;
      this.#allBytes = this.#ownBytes + Math.max(otherBytes, isImport ? this.#leastOtherBytes + IMPORT_BYTES : 0);
    } catch {
      // Reading needs a file descriptor, and the process may have none left. The previous sample is used instead.
    }
  }

  #isShort(): boolean {
    const { heapBytes, memoryBytes } = this.#limits;
    const bytes = Math.min(memoryBytes, Math.max(memoryBytes * SHRINK_SHARE, this.#regrownBytes));
    return isOver(this.#heapBytes, heapBytes * SHRINK_SHARE) || isOver(this.#allBytes, bytes);
  }

  #shrink(): void {
    const now = this.#measures.clock.now();
    if (now - this.#shrunkAt < SHRINK_EVERY_MS) return;
    this.#shrunkAt = now;
    const { heapBytes, memoryBytes } = this.#limits;
    const isOverLimit = isOver(this.#heapBytes, heapBytes) || isOver(this.#allBytes, memoryBytes);
    this.#measures.shrink(isOverLimit ? 0 : 0.5);
    // Refused requests allocate hardly anything, so no collection would start by itself.
    returnFreeMemory();
    this.#measureMemory();
    this.#regrownBytes = this.#allBytes + memoryBytes * REGROWTH_SHARE;
  }
}

/**
 * The process's resident memory without file pages, some 70 MB of Node's own that the system can reclaim. Only Linux reports
 * them separately.
 */
function countOwnBytes(): number {
  if (process.platform !== 'linux') return process.memoryUsage.rss();
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  return kilobytes ? Number(kilobytes) * 1024 : process.memoryUsage.rss();
}

/** Files that may have the memory of this process's control group: version 1 or 2, outside or inside a container. */
function* listGroupFiles(): Generator<{ path: string; pattern: RegExp }> {
  const groups = existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'latin1') : '';
  const lines = groups.split('\n').map((line) => line.split(':'));
  const old = lines.find(([, controllers]) => controllers?.split(',').includes('memory'))?.[2];
  const [, unified = ''] = /^0::(\S+)$/m.exec(groups) ?? [];
  const [folder, group, pattern] =
    old === undefined
      ? ['/sys/fs/cgroup', unified, /^anon (\d+)$/m]
      : ['/sys/fs/cgroup/memory', old, /^total_rss (\d+)$/m];
  for (const at of [`${folder}${group}`, folder]) yield { path: `${at}/memory.stat`, pattern };
}

/** The memory of this process's control group, also without file pages; zero without control groups. */
function countGroupBytes(): number {
  for (const { path, pattern } of listGroupFiles()) {
    const [, bytes] = (existsSync(path) && pattern.exec(readFileSync(path, 'latin1'))) || [];
    if (bytes) return Number(bytes);
  }
  return 0;
}

function isOver(value: number, limit: number): boolean {
  return limit > 0 && value > limit;
}
