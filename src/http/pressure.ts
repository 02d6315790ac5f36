import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { type Clock, steadyClock } from '../core/clock.ts';
import { MemoryWatch } from '../core/memory-watch.ts';
import { serviceUnavailable } from '../errors/messages.ts';
import type { CreateExtension } from './extension.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on routes that respond even under pressure. */
    servesUnderPressure?: boolean;
  }
}

/** The limit of the mean delay over a second. */
const MAX_EVENT_LOOP_DELAY_MS = 1000;
const SAMPLE_EVERY_MS = 1000;
const RESOLUTION_MS = 10;

/** Whether the process has more work than it can do in time, or too little memory. */
export class PressureWatch {
  readonly #memory: MemoryWatch;
  /** Zero disables the limit. */
  readonly #maxDelayMs: number;
  readonly #clock: Clock;
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #cancelSample = () => {};
  #delayMs = 0;
  #isLateAgain = false;

  constructor({
    memory = new MemoryWatch(),
    maxDelayMs = MAX_EVENT_LOOP_DELAY_MS,
    clock = steadyClock,
  }: {
    memory?: MemoryWatch;
    maxDelayMs?: number;
    clock?: Clock;
  } = {}) {
    this.#memory = memory;
    this.#maxDelayMs = maxDelayMs;
    this.#clock = clock;
    this.#delays.enable();
    this.#sampleLater();
  }

  /** Describes the limit that the process exceeds; null if it exceeds none. */
  exceeded(): string | null {
    const late = this.#isLateAgain ? `the event loop is ${Math.round(this.#delayMs)} ms late` : null;
    return this.#memory.exceeded() ?? late;
  }

  close(): void {
    this.#cancelSample();
    this.#delays.disable();
    this.#memory.close();
  }

  #sampleLater(): void {
    const sample = () => {
      this.#sampleLater();
      this.#sample();
    };
    this.#cancelSample = this.#clock.after(SAMPLE_EVERY_MS, sample, { isBackground: true });
  }

  #sample(): void {
    const wasLate = this.#isLate();
    this.#delayMs = this.#delays.count > 0 ? this.#delays.mean / 1e6 - RESOLUTION_MS : 0;
    this.#delays.reset();
    // A single late second is not overload: a slow start or a paused machine is over by the time it is noticed.
    this.#isLateAgain = wasLate && this.#isLate();
  }

  #isLate(): boolean {
    return this.#maxDelayMs > 0 && this.#delayMs > this.#maxDelayMs;
  }
}

/**
 * Refuses requests with 503 `SERVICE_UNAVAILABLE` while the process exceeds a limit, so that it recovers instead of crashing.
 */
const pressure = fp(
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

/** Refuses requests while the process exceeds a limit, and reports it as not ready. */
export const refuseUnderPressure =
  (watch: PressureWatch): CreateExtension =>
  () => ({
    decorate: async (app) => void (await app.register(pressure, { watch })),
    missing: () => (watch.exceeded() === null ? null : 'this process is under pressure'),
  });
