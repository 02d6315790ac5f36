import { MINUTE_MS } from '../../core/clock.ts';
import type { Priority } from '../../core/turn-queue.ts';
import type { Shortage } from '../../efa/query-upstream.ts';
import type { Meter, TakeResult } from './meter.ts';
import { budgetLeft, type Limits } from './pace.ts';

/** How often a closed key is probed with one call. */
const PROBE_EVERY_MS = MINUTE_MS;

/** A key with its meter; closed while upstream refuses calls with it. */
interface UpstreamKey {
  index: number;
  meter: Meter;
  closure: { since: number; until: number; nextProbeAt: number } | null;
}

export class KeyPool {
  readonly #keys: readonly UpstreamKey[];
  readonly #limits: Limits;
  readonly #now: () => number;

  constructor(meters: readonly Meter[], limits: Limits, now: () => number) {
    this.#keys = meters.map((meter, index) => ({ index, meter, closure: null }));
    this.#limits = limits;
    this.#now = now;
  }

  /** Takes a call from the key with the fewest calls today, skipping `except`; otherwise returns the shortest wait. */
  async spend(priority: Priority, except?: number): Promise<[key: number, result: TakeResult]> {
    const candidates = this.#keys.filter(({ index }) => index !== except);
    candidates.sort((a, b) => a.meter.spent() - b.meter.spent());
    const refusals: [number, TakeResult & { isTaken: false }][] = [];
    for (const key of candidates) {
      const result = await this.#spendWith(key, priority);
      if (result.isTaken) return [key.index, result];
      refusals.push([key.index, result]);
    }
    return refusals.reduce((best, result) => (result[1].waitMs < best[1].waitMs ? result : best));
  }

  /** Closes the key for `ms` milliseconds, except for one probe a minute. */
  close(index: number, ms: number): void {
    const key = this.#keys[index] as UpstreamKey;
    const now = this.#now();
    const pauseMs = Math.min(ms, PROBE_EVERY_MS);
    key.meter.pause(pauseMs);
    key.closure = { since: now, until: now + ms, nextProbeAt: now + pauseMs };
  }

  /** Reopens the key if the call began after it was closed. */
  recordSuccess(index: number, startedAt: number): void {
    const key = this.#keys[index] as UpstreamKey;
    if (key.closure && startedAt > key.closure.since) key.closure = null;
  }

  /** The largest share of calls that any key has left for now, 0 to 1. */
  budgetLeft(): number {
    return Math.max(...this.#keys.map((key) => this.#leftOf(key)));
  }

  /** Why requests get no calls with any key for now; null while they do. */
  shortage(): Shortage | null {
    const openKeys = this.#keys.filter((key) => !this.#closureOf(key));
    if (openKeys.length === 0) return 'refused';
    return openKeys.every((key) => this.#leftOf(key) === 0) ? 'spent' : null;
  }

  #leftOf({ meter }: UpstreamKey): number {
    return budgetLeft(this.#now(), this.#limits, meter.spent());
  }

  async #spendWith(key: UpstreamKey, priority: Priority): Promise<TakeResult> {
    const closure = this.#closureOf(key);
    if (!closure) return key.meter.spend(priority);
    const waitMs = closure.nextProbeAt - this.#now();
    if (waitMs > 0) return { isTaken: false, why: 'paused', waitMs };
    // Concurrent requests must not become further probes.
    closure.nextProbeAt = this.#now() + PROBE_EVERY_MS;
    const result = await key.meter.spend(priority);
    if (!result.isTaken) closure.nextProbeAt = this.#now();
    return result;
  }

  #closureOf(key: UpstreamKey): UpstreamKey['closure'] {
    // A closure in the future dates from before the clock was set back.
    if (key.closure && (key.closure.since > this.#now() || key.closure.until <= this.#now())) key.closure = null;
    return key.closure;
  }
}
