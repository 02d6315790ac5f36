import { type Clock, MINUTE_MS } from '../../clock.ts';
import type { Shortage } from '../../efa/ask.ts';
import { LOWEST_REFRESH_FLOOR } from './claim.ts';
import type { Meter, Taking } from './meter.ts';
import type { Claim } from './pace.ts';

/** The upstream keys with their meters. A key is closed while upstream wants no calls with it. */
export interface KeyPool {
  /**
   * Takes a call from the key with the fullest reserve that has one, but for the key `except`; else returns the shortest
   * wait.
   */
  take(claim: Claim, except?: number): Promise<[key: number, taking: Taking]>;
  /** Closes the key for so long, but for a probe once a minute. */
  close(key: number, ms: number): void;
  /** Opens the key again if the call began after it was closed. */
  noteSuccess(key: number, startedAt: number): void;
  /** How full the fullest reserve is. */
  reserveFill(): number;
  /** Why no plan gets further calls for now, with any key; null while one does. */
  shortage(): Shortage | null;
}

/** A closed key is probed with one call after each of these intervals. */
const PROBE_EVERY_MS = MINUTE_MS;

interface Closure {
  since: number;
  until: number;
  nextProbeAt: number;
}

export function createKeyPool({ meters, clock }: { meters: readonly Meter[]; clock: Clock }): KeyPool {
  const { now } = clock;
  const closures = new Map<number, Closure>();

  async function take(claim: Claim, except?: number): Promise<[key: number, taking: Taking]> {
    const usable = meters.map((_, key) => key).filter((key) => key !== except);
    const byReserve = usable.sort((one, other) => fillOf(other) - fillOf(one));
    const refused: [number, Taking & { isTaken: false }][] = [];
    for (const key of byReserve) {
      const taking = await takeWith(key, claim);
      if (taking.isTaken) return [key, taking];
      refused.push([key, taking]);
    }
    // Only a call that is refused for the rate can be had by waiting in line.
    const byRate = refused.filter(([, { why }]) => why === 'rate');
    const worthWaiting = byRate.length > 0 ? byRate : refused;
    return worthWaiting.reduce((best, one) => (one[1].waitMs < best[1].waitMs ? one : best));
  }

  async function takeWith(key: number, claim: Claim): Promise<Taking> {
    const closure = closureOf(key);
    if (closure && now() < closure.nextProbeAt) {
      return { isTaken: false, why: 'paused', waitMs: closure.nextProbeAt - now() };
    }
    const taking = await (meters[key] as Meter).take(claim);
    if (closure && taking.isTaken) closure.nextProbeAt = now() + PROBE_EVERY_MS;
    return taking;
  }

  function closureOf(key: number): Closure | undefined {
    const closure = closures.get(key);
    // A closure from ahead is from before the clock was set back.
    if (!closure || (closure.since <= now() && now() < closure.until)) return closure;
    closures.delete(key);
    return undefined;
  }

  function shortage(): Shortage | null {
    const open = meters.map((_, key) => key).filter((key) => !closureOf(key));
    if (open.length === 0) return 'refused';
    return open.every((key) => fillOf(key) < LOWEST_REFRESH_FLOOR) ? 'spent' : null;
  }

  const fillOf = (key: number) => (meters[key] as Meter).reserveFill();
  return {
    take,
    close(key, ms) {
      const pauseMs = Math.min(ms, PROBE_EVERY_MS);
      meters[key]?.pause(pauseMs);
      closures.set(key, { since: now(), until: now() + ms, nextProbeAt: now() + pauseMs });
    },
    noteSuccess(key, startedAt) {
      // A call that began before the key was closed does not show that upstream takes calls again.
      if (startedAt > (closures.get(key)?.since ?? Number.POSITIVE_INFINITY)) closures.delete(key);
    },
    reserveFill: () => Math.max(...meters.map((_, key) => fillOf(key))),
    shortage,
  };
}
