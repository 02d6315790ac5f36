import type { EfaAnswer, EfaClient } from '#src/efa/client.ts';
import { type Clock, sleep } from '#src/upstream/clock.ts';

const STOPS_NEARBY = 10;

/** Ten stops around each place; places in town overlap, and people ask for the departures there. */
export function stopsNear(place: number, stops: number): number[] {
  const first = place < stops ? place : place * STOPS_NEARBY;
  return Array.from({ length: STOPS_NEARBY }, (_, index) => first + index);
}

export const stopId = (stop: number) => String(200_000 + stop);

/** An authority on the simulated clock that notes when it is called; something leaves at every stop. */
export function createAuthority(clock: Clock, random: () => number): EfaClient & { calls: number[] } {
  const calls: number[] = [];

  async function answer(payload: object): Promise<EfaAnswer<never>> {
    calls.push(clock.now());
    await sleep(clock, 150 + 450 * random());
    return { payload: { systemMessages: [], ...payload } as never, retrievedAt: new Date(clock.now()) };
  }

  return {
    calls,
    departureMonitor: ({ stopId }) => answer({ locations: [{ id: stopId }], stopEvents: [BUS] }),
    coordSearch: () => answer({ locations: [] }),
    stopFinder: () => answer({ locations: [] }),
    tripPlan: () => answer({ journeys: [] }),
  };
}

const BUS = { transportation: { product: { class: 5 } } };
