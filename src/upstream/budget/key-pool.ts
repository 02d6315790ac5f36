import { MINUTE_MS } from '../../clock.ts';
import type { Shortage } from '../../efa/ask.ts';
import type { Meter, TakeResult } from './meter.ts';
import type { ReserveLimits } from './pace.ts';
import { LOWEST_REFRESH_FLOOR } from './reserve-limits.ts';

/** A closed key is probed with one call after each of these intervals. */
const PROBE_EVERY_MS = MINUTE_MS;

/** The upstream keys with their meters. A key is closed while upstream wants no calls with it. */
export class KeyPool {
  readonly #meters: readonly Meter[];
  readonly #now: () => number;
  readonly #closures = new Map<number, { since: number; until: number; nextProbeAt: number }>();

  constructor(meters: readonly Meter[], now: () => number) {
    this.#meters = meters;
    this.#now = now;
  }

  /** Takes a call from the key with the fullest reserve, but for the key `except`; else returns the shortest wait. */
  async take(limits: ReserveLimits, except?: number): Promise<[key: number, result: TakeResult]> {
    const usable = this.#keys().filter((key) => key !== except);
    const byReserve = usable.sort((one, other) => this.#fillOf(other) - this.#fillOf(one));
    const refused: [number, TakeResult & { isTaken: false }][] = [];
    for (const key of byReserve) {
      const result = await this.#takeWith(key, limits);
      if (result.isTaken) return [key, result];
      refused.push([key, result]);
    }
    // Only a call that is refused for the rate can be had by waiting in line.
    const byRate = refused.filter(([, { why }]) => why === 'rate');
    const worthWaiting = byRate.length > 0 ? byRate : refused;
    return worthWaiting.reduce((best, one) => (one[1].waitMs < best[1].waitMs ? one : best));
  }

  /** Closes the key for so long, but for a probe once a minute. */
  close(key: number, ms: number): void {
    const pauseMs = Math.min(ms, PROBE_EVERY_MS);
    this.#meters[key]?.pause(pauseMs);
    this.#closures.set(key, { since: this.#now(), until: this.#now() + ms, nextProbeAt: this.#now() + pauseMs });
  }

  /** Opens the key again if the call began after it was closed. */
  noteSuccess(key: number, startedAt: number): void {
    if (startedAt > (this.#closures.get(key)?.since ?? Number.POSITIVE_INFINITY)) this.#closures.delete(key);
  }

  /** How full the fullest reserve is. */
  reserveFill(): number {
    return Math.max(...this.#keys().map((key) => this.#fillOf(key)));
  }

  /** Why no plan gets further calls for now, with any key; null while one does. */
  shortage(): Shortage | null {
    const open = this.#keys().filter((key) => !this.#closureOf(key));
    if (open.length === 0) return 'refused';
    return open.every((key) => this.#fillOf(key) < LOWEST_REFRESH_FLOOR) ? 'spent' : null;
  }

  async #takeWith(key: number, limits: ReserveLimits): Promise<TakeResult> {
    const closure = this.#closureOf(key);
    if (closure && this.#now() < closure.nextProbeAt) {
      return { isTaken: false, why: 'paused', waitMs: closure.nextProbeAt - this.#now() };
    }
    // Others that come while this call is being taken are no probes.
    if (closure) closure.nextProbeAt = this.#now() + PROBE_EVERY_MS;
    const result = await (this.#meters[key] as Meter).take(limits);
    if (closure && !result.isTaken) closure.nextProbeAt = this.#now();
    return result;
  }

  #closureOf(key: number) {
    const closure = this.#closures.get(key);
    // A closure from ahead is from before the clock was set back.
    if (!closure || (closure.since <= this.#now() && this.#now() < closure.until)) return closure;
    this.#closures.delete(key);
    return undefined;
  }

  #keys(): number[] {
    return this.#meters.map((_, key) => key);
  }

  #fillOf(key: number): number {
    return (this.#meters[key] as Meter).reserveFill();
  }
}
