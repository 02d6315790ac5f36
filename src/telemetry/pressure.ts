import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { serviceUnavailable } from '../errors/messages.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on a route that answers under pressure too. */
    answersUnderPressure?: boolean;
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

const MAX_EVENT_LOOP_DELAY_MS = 1000;
const HEAP_SHARE = 0.92;
const MEMORY_SHARE = 0.95;

/** The limits of this process: what V8 allows the heap, and what the container allows the process. */
export function ownPressureLimits(): PressureLimits {
  return {
    eventLoopDelayMs: MAX_EVENT_LOOP_DELAY_MS,
    heapBytes: Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE),
    // Without a container's limit this is zero, or far more than any machine has.
    memoryBytes: Math.floor((process.constrainedMemory() ?? 0) * MEMORY_SHARE),
  };
}

/** Two samples that are not further apart follow each other; one is taken every second. */
const CONSECUTIVE_WITHIN_MS = 3000;

/** Answers 503 `SERVICE_UNAVAILABLE` while the process is over one of the limits, so that it recovers instead of dying. */
export const pressure = fp(
  async (app: FastifyInstance, { limits }: { limits: PressureLimits }) => {
    const isLateAgain = createRepetitionCheck();
    // Without limits it only takes samples. Its own hook reads the options of the route of every request, which is slow.
    await app.register(underPressure);

    app.addHook('onRequest', (request, _reply, done) => {
      const exceeded = exceededLimit(app.memoryUsage());
      if (exceeded === null || request.routeOptions.config.answersUnderPressure) done();
      else done(serviceUnavailable(new Error(`under pressure: ${exceeded}`)));
    });

    function exceededLimit({ eventLoopDelay, heapUsed, rssBytes }: ReturnType<typeof app.memoryUsage>): string | null {
      if (isOver(heapUsed, limits.heapBytes)) return `the heap has ${heapUsed} bytes`;
      if (isOver(rssBytes, limits.memoryBytes)) return `the process has ${rssBytes} bytes`;
      if (!isOver(eventLoopDelay, limits.eventLoopDelayMs) || !isLateAgain(eventLoopDelay)) return null;
      return `the event loop is ${eventLoopDelay} ms late`;
    }
  },
  { name: 'pressure', dependencies: ['error-handler'] },
);

function isOver(value: number, limit: number): boolean {
  return limit > 0 && value > limit;
}

/**
 * Whether a sample over the limit follows another one. A single late second is no overload: a start, or a machine that
 * stood still, is over when it is noticed.
 */
function createRepetitionCheck(): (sample: number) => boolean {
  let latest = { sample: 0, at: Number.NEGATIVE_INFINITY };
  let isRepeated = false;
  return (sample) => {
    if (sample === latest.sample) return isRepeated;
    const at = performance.now();
    isRepeated = at - latest.at < CONSECUTIVE_WITHIN_MS;
    latest = { sample, at };
    return isRepeated;
  };
}
