import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_PATIENCE_MS } from '../redis/distance.ts';
import type { StoreState } from '../redis/presence.ts';

export interface StoreProbe {
  /** As a write just now has shown. */
  state(): Promise<StoreState>;
  /** Whether keys still work that this process has seen: the store answers, or has answered in the last ten minutes. */
  servesKnownKeys(): Promise<boolean>;
  /** The store has answered a request. */
  heard(): void;
}

/** Asks the store whether it takes writes; `graceMs` is for how long known keys work without it. However often it is asked, at most one probe is under way. */
export function createStoreProbe(
  check: () => Promise<StoreState>,
  { graceMs, now = Date.now }: { graceMs: number; now?: () => number },
): StoreProbe {
  let probing: Promise<StoreState> | null = null;
  let heardAt = Number.NEGATIVE_INFINITY;

  function heard(): void {
    heardAt = now();
  }

  async function probe(): Promise<StoreState> {
    const state = await Promise.race([
      check().catch((): StoreState => 'away'),
      // The same patience as for the requests themselves: a store at a distance that they bear is not away.
      sleep(MAX_PATIENCE_MS, 'away' as const, { ref: false }),
    ]);
    if (state !== 'away') heard();
    return state;
  }

  function state(): Promise<StoreState> {
    probing ??= probe().finally(() => {
      probing = null;
    });
    return probing;
  }

  return {
    state,
    servesKnownKeys: async () => (await state()) !== 'away' || now() - heardAt < graceMs,
    heard,
  };
}
