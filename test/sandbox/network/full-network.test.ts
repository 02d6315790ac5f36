import { expect, it } from 'vitest';
import { readNetwork } from '#src/sandbox/network/gtfs-network.ts';
import { board, sandboxAt, trip } from '../asking.ts';

const FRIDAY_8_30AM = '2026-11-19T21:30:00Z';
const network = readNetwork();
const stopIds = network.stops.map((stop) => stop.id);

/** Pairs of stops from all over the network, the same in every test run. */
const PAIRS = Array.from({ length: 60 }, (_, i) => ({
  from: stopIds[(i * 7919) % stopIds.length] ?? '',
  to: stopIds[(i * 104_729 + 31) % stopIds.length] ?? '',
})).filter(({ from, to }) => from !== to);

it('every stop of the network has departures or the message that nothing calls there', async () => {
  const sandbox = await sandboxAt(FRIDAY_8_30AM, { network });
  for (const id of stopIds) {
    const { stopEvents, systemMessages, locations } = await board(sandbox, id);
    expect(locations).toMatchObject([{ id }]);
    if (stopEvents === undefined) expect(systemMessages).toMatchObject([{ code: -4050 }]);
    else expect(stopEvents.length).toBeGreaterThan(0);
  }
});

it('no leg of a journey across the network begins before the leg before it ends', async () => {
  const sandbox = await sandboxAt(FRIDAY_8_30AM, { network });
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
