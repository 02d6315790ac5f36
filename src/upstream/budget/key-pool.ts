import type { Clock } from '../clock.ts';
import type { Meter, Taking } from './meter.ts';

/** The upstream keys, each with a meter, and which of them the authority refuses at present. */
export interface KeyPool {
  /** A call with the key that has most in reserve, else with the next; or the shortest wait when no key has a call. */
  take(floor: number): Promise<[key: number, taking: Taking]>;
  /** The authority wants no calls with this key for so long. */
  close(key: number, ms: number): void;
  /** A call with this key has succeeded. */
  noteSuccess(key: number, startedAt: number): void;
  /** Of the key with most in reserve. */
  reserveFill(): number;
}

/** However long the authority wants no calls, it is asked again after so long, with one call at a time. */
const PROBE_EVERY_MS = 60_000;

interface Closure {
  since: number;
  until: number;
  nextProbeAt: number;
}

export function createKeyPool({ meters, clock }: { meters: readonly Meter[]; clock: Clock }): KeyPool {
  const { now } = clock;
  const closures = new Map<number, Closure>();

  async function take(floor: number): Promise<[key: number, taking: Taking]> {
    const byReserve = meters.map((_, key) => key).sort((one, other) => fillOf(other) - fillOf(one));
    const refused: [number, Taking & { isTaken: false }][] = [];
    for (const key of byReserve) {
      const taking = await takeWith(key, floor);
      if (taking.isTaken) return [key, taking];
      refused.push([key, taking]);
    }
    // Waiting in line helps against the rate only.
    const byRate = refused.filter(([, { why }]) => why === 'rate');
    const worthWaiting = byRate.length > 0 ? byRate : refused;
    return worthWaiting.reduce((best, one) => (one[1].waitMs < best[1].waitMs ? one : best));
  }

  async function takeWith(key: number, floor: number): Promise<Taking> {
    const closure = closureOf(key);
    if (closure && now() < closure.nextProbeAt) {
      return { isTaken: false, why: 'paused', waitMs: closure.nextProbeAt - now() };
    }
    const taking = await (meters[key] as Meter).take(floor);
    if (closure && taking.isTaken) closure.nextProbeAt = now() + PROBE_EVERY_MS;
    return taking;
  }

  function closureOf(key: number): Closure | undefined {
    const closure = closures.get(key);
    if (!closure || now() < closure.until) return closure;
    closures.delete(key);
    return undefined;
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
      // A call that was on its way when the key was closed says nothing.
      if (startedAt > (closures.get(key)?.since ?? Number.POSITIVE_INFINITY)) closures.delete(key);
    },
    reserveFill: () => Math.max(...meters.map((_, key) => fillOf(key))),
  };
}
