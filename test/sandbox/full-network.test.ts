import { expect, it } from 'vitest';
import { SANDBOX_NETWORK } from '#src/sandbox/network/sandbox-network.ts';
import { ask, board, sandboxAt, trip } from './asking.ts';

const FRIDAY_8_30AM = '2026-11-19T21:30:00Z';
const stopIds = SANDBOX_NETWORK.stops.map((stop) => stop.id);

/** Pairs of stops from all over the network, always the same ones. */
const PAIRS = Array.from({ length: 60 }, (_, i) => ({
  from: stopIds[(i * 7919) % stopIds.length] ?? '',
  to: stopIds[(i * 104_729 + 31) % stopIds.length] ?? '',
})).filter(({ from, to }) => from !== to);

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

it('every stop of the network answers with departures or says that nothing calls there', async () => {
  const sandbox = await sandboxAt(FRIDAY_8_30AM, { network: SANDBOX_NETWORK });
  for (const id of stopIds) {
    const { stopEvents, systemMessages, locations } = await board(sandbox, id);
    expect(locations).toMatchObject([{ id }]);
    if (stopEvents === undefined) expect(systemMessages).toMatchObject([{ code: -4050 }]);
    else expect(stopEvents.length).toBeGreaterThan(0);
  }
});

it('journeys across the network follow on in time and place', async () => {
  const sandbox = await sandboxAt(FRIDAY_8_30AM, { network: SANDBOX_NETWORK });
  for (const { from, to } of PAIRS) {
    const { journeys, systemMessages } = await trip(sandbox, from, to);
    if (journeys === undefined) expect(systemMessages).toMatchObject([{ code: -4000 }]);
    for (const { legs } of journeys ?? []) {
      for (const [i, leg] of legs.entries()) {
        const previous = legs[i - 1]?.destination;
        const departure = leg.origin.departureTimePlanned ?? '';
        expect(departure < (leg.destination.arrivalTimePlanned ?? '')).toBe(true);
        expect(departure >= (previous?.arrivalTimePlanned ?? '')).toBe(true);
        expect(leg.coords.length).toBeGreaterThan(1);
      }
    }
  }
});

it('once warm, boards and journeys take milliseconds', async () => {
  const sandbox = await sandboxAt(FRIDAY_8_30AM, { network: SANDBOX_NETWORK });
  const timed = async (endpoint: string, query: Record<string, string>) => {
    const before = performance.now();
    await (await ask(sandbox, endpoint, query)).arrayBuffer();
    return performance.now() - before;
  };
  const boards: number[] = [];
  const trips: number[] = [];
  for (const { from, to } of [...PAIRS, ...PAIRS]) {
    boards.push(await timed('departure_mon', { mode: 'direct', type_dm: 'any', name_dm: from, TfNSWDM: 'true' }));
    trips.push(await timed('trip', { name_origin: from, name_destination: to, TfNSWTR: 'true' }));
  }
  expect(median(boards.slice(PAIRS.length))).toBeLessThan(15);
  expect(median(trips.slice(PAIRS.length))).toBeLessThan(60);
});
