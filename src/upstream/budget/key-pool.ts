import { MINUTE_MS } from '../../clock.ts';
import type { Shortage } from '../../efa/ask.ts';
import type { Meter, TakeResult } from './meter.ts';
import type { ReserveLimits } from './pace.ts';
import { LOWEST_REFRESH_FLOOR } from './reserve-limits.ts';

/** A closed key is probed with one call after each of these intervals. */
const PROBE_EVERY_MS = MINUTE_MS;

/** A key with its meter. It is closed while upstream wants no calls with it. */
interface Key {
  index: number;
  meter: Meter;
  closure: { since: number; until: number; nextProbeAt: number } | null;
}

/** The upstream keys, known by their indices. */
export class KeyPool {
  readonly #keys: readonly Key[];
  readonly #now: () => number;

  constructor(meters: readonly Meter[], now: () => number) {
    this.#keys = meters.map((meter, index) => ({ index, meter, closure: null }));
    this.#now = now;
  }

  /** Takes a call from the key with the fullest reserve, but for the key `except`; else returns the shortest wait. */
  async take(limits: ReserveLimits, except?: number): Promise<[key: number, result: TakeResult]> {
    const usable = this.#keys.filter(({ index }) => index !== except);
    const byReserve = usable.sort((one, other) => other.meter.reserveFill() - one.meter.reserveFill());
    const refused: [number, TakeResult & { isTaken: false }][] = [];
    for (const key of byReserve) {
      const result = await this.#takeWith(key, limits);
      if (result.isTaken) return [key.index, result];
      refused.push([key.index, result]);
    }
    // Only a call that is refused for the rate can be had by waiting in line.
    const byRate = refused.filter(([, { why }]) => why === 'rate');
    const worthWaiting = byRate.length > 0 ? byRate : refused;
    return worthWaiting.reduce((best, one) => (one[1].waitMs < best[1].waitMs ? one : best));
  }

  /** Closes the key for so long, but for a probe once a minute. */
  close(index: number, ms: number): void {
    const key = this.#keys[index] as Key;
    const now = this.#now();
    const pauseMs = Math.min(ms, PROBE_EVERY_MS);
    key.meter.pause(pauseMs);
    key.closure = { since: now, until: now + ms, nextProbeAt: now + pauseMs };
  }

  /** Opens the key again if the call began after it was closed. */
  noteSuccess(index: number, startedAt: number): void {
    const key = this.#keys[index] as Key;
    if (key.closure && startedAt > key.closure.since) key.closure = null;
  }

  /** How full the fullest reserve is. */
  reserveFill(): number {
    return Math.max(...this.#keys.map(({ meter }) => meter.reserveFill()));
  }

  /** Why no plan gets further calls for now, with any key; null while one does. */
  shortage(): Shortage | null {
    const open = this.#keys.filter((key) => !this.#closureOf(key));
    if (open.length === 0) return 'refused';
    return open.every(({ meter }) => meter.reserveFill() < LOWEST_REFRESH_FLOOR) ? 'spent' : null;
  }

  async #takeWith(key: Key, limits: ReserveLimits): Promise<TakeResult> {
    const closure = this.#closureOf(key);
    if (!closure) return key.meter.take(limits);
    const waitMs = closure.nextProbeAt - this.#now();
    if (waitMs > 0) return { isTaken: false, why: 'paused', waitMs };
    // Others that come while this call is being taken are no probes.
    closure.nextProbeAt = this.#now() + PROBE_EVERY_MS;
    const result = await key.meter.take(limits);
    if (!result.isTaken) closure.nextProbeAt = this.#now();
    return result;
  }

  #closureOf(key: Key): Key['closure'] {
    // A closure from ahead is from before the clock was set back.
    if (key.closure && (key.closure.since > this.#now() || key.closure.until <= this.#now())) key.closure = null;
    return key.closure;
  }
}
