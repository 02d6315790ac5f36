import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { serviceUnavailable } from '../errors/messages.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on a route that answers under pressure too. */
    servesUnderPressure?: boolean;
  }
}

/** From where on requests are refused; zero switches a limit off. */
export interface PressureLimits {
  /** Mean over a second. */
  eventLoopDelayMs: number;
  heapBytes: number;
  /** Of the whole process, buffers included. */
  memoryBytes: number;
}

/** A cache that is bounded in bytes. */
interface Cache {
  size(): { entries: number; bytes: number };
  /** Drops what was unused for longest, but for that share of all. */
  shrink(keptShare: number): void;
}

export interface PressureWatch {
  /** Which limit the process is over, in words; null when it is over none. */
  exceeded(): string | null;
  /** How often caches gave up memory since the process began. */
  shrunk(): number;
  /** The cache is asked to give up memory before a request is refused for want of it. */
  register(name: string, cache: Cache): void;
  /** The registered caches by name, for the metrics. */
  readonly caches: ReadonlyMap<string, Cache>;
  close(): void;
}

const MAX_EVENT_LOOP_DELAY_MS = 1000;
const HEAP_SHARE = 0.92;
const MEMORY_SHARE = 0.95;
/** From this share of a limit on caches give up the half that was unused for longest. */
const SHRINK_SHARE = 0.9;
/** Freed memory is not returned at once; caches that shrank a moment ago do not shrink again for it. */
const SHRINK_EVERY_MS = 10_000;
const SAMPLE_EVERY_MS = 1000;
const RESOLUTION_MS = 10;

/** The limits of this process: what V8 allows the heap, and what the container allows the process. */
export function ownPressureLimits(): PressureLimits {
  return {
    eventLoopDelayMs: MAX_EVENT_LOOP_DELAY_MS,
    heapBytes: Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE),
    // Without a container's limit this is zero, or far more than any machine has.
    memoryBytes: Math.floor((process.constrainedMemory() ?? 0) * MEMORY_SHARE),
  };
}

/** Takes a sample every second, and has caches give up memory when it runs short. */
export function watchPressure(
  limits: PressureLimits,
  readRssBytes: () => number = process.memoryUsage.rss,
): PressureWatch {
  const caches = new Map<string, Cache>();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const memory = { heapBytes: 0, rssBytes: 0 };
  let eventLoopDelayMs = 0;
  let isLateAgain = false;
  let shrunk = 0;
  let shrunkAt = Number.NEGATIVE_INFINITY;

  function sample(): void {
    readMemory();
    const wasLate = isOver(eventLoopDelayMs, limits.eventLoopDelayMs);
    eventLoopDelayMs = delays.count > 0 ? delays.mean / 1e6 - RESOLUTION_MS : 0;
    delays.reset();
    // A single late second is no overload: a start, or a machine that stood still, is over when it is noticed.
    isLateAgain = wasLate && isOver(eventLoopDelayMs, limits.eventLoopDelayMs);
    if (isShortFrom(SHRINK_SHARE)) shrink();
  }

  function readMemory(): void {
    memory.heapBytes = getHeapStatistics().used_heap_size;
    try {
      memory.rssBytes = readRssBytes();
    } catch {
      // Node opens a file to read it, and the descriptors of the process may be used up. The sample before has to do.
    }
  }

  function isShortFrom(share: number): boolean {
    return isOver(memory.heapBytes, limits.heapBytes * share) || isOver(memory.rssBytes, limits.memoryBytes * share);
  }

  function shrink(): void {
    if (performance.now() - shrunkAt < SHRINK_EVERY_MS) return;
    shrunkAt = performance.now();
    shrunk++;
    for (const cache of caches.values()) cache.shrink(isShortFrom(1) ? 0 : 0.5);
    // Requests that are refused allocate hardly anything, so that no collection would begin by itself.
    collectGarbage();
    readMemory();
  }

  delays.enable();
  const timer = setInterval(sample, SAMPLE_EVERY_MS).unref();

  return {
    exceeded() {
      if (isOver(memory.heapBytes, limits.heapBytes)) return `the heap has ${memory.heapBytes} bytes`;
      if (isOver(memory.rssBytes, limits.memoryBytes)) return `the process has ${memory.rssBytes} bytes`;
      return isLateAgain ? `the event loop is ${Math.round(eventLoopDelayMs)} ms late` : null;
    },
    shrunk: () => shrunk,
    register: (name, cache) => void caches.set(name, cache),
    caches,
    close() {
      clearInterval(timer);
      delays.disable();
    },
  };
}

/** Refuses requests with 503 `SERVICE_UNAVAILABLE` while the process is over one of the limits, so that it recovers instead of dying. */
export const pressure = fp(
  async (app: FastifyInstance, { watch }: { watch: PressureWatch }) => {
    app.addHook('onRequest', (request, _reply, done) => {
      const exceeded = watch.exceeded();
      if (exceeded === null || request.routeOptions.config.servesUnderPressure) done();
      else done(serviceUnavailable(new Error(`under pressure: ${exceeded}`)));
    });
    app.addHook('onClose', async () => watch.close());
  },
  { name: 'pressure', dependencies: ['error-handler'] },
);

function isOver(value: number, limit: number): boolean {
  return limit > 0 && value > limit;
}

/** Node offers its collector only to code that runs under an option, which can be set late. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
