import { expect, it } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { board, type Leg, sandboxAt, trip } from '../requests.ts';

const FRIDAY_8_30AM = '2026-11-19T21:30:00Z';
const network = loadNetwork();
const stopIds = network.stops.map((stop) => stop.id);

/** Pairs of stops across the network, the same in every run. */
const PAIRS = Array.from({ length: 60 }, (_, i) => ({
  from: stopIds[(i * 7919) % stopIds.length] ?? '',
  to: stopIds[(i * 104_729 + 31) % stopIds.length] ?? '',
})).filter(({ from, to }) => from !== to);

it('every stop of the sandbox has departures or the message that nothing calls there', async () => {
  const sandbox = await sandboxAt(FRIDAY_8_30AM, { network });
  let silent = 0;
  for (const id of stopIds) {
    const { stopEvents, systemMessages, locations } = await board(sandbox, id);
    expect(locations).toMatchObject([{ id }]);
    if (stopEvents === undefined) expect(systemMessages).toMatchObject([{ code: -4050 }]);
    else expect(stopEvents.length).toBeGreaterThan(0);
    silent += Number(stopEvents === undefined);
  }
  expect(silent).toBeLessThan(stopIds.length / 10);
});

it('no leg of a sandbox journey begins before the previous one ends', async () => {
  const sandbox = await sandboxAt(FRIDAY_8_30AM, { network });
  let connected = 0;
  for (const { from, to } of PAIRS) {
    const { journeys, systemMessages } = await trip(sandbox, from, to);
    if (journeys === undefined) expect(systemMessages).toMatchObject([{ code: -4000 }]);
    else connected++;
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
  expect(connected).toBeGreaterThan(PAIRS.length / 2);
});

const isWalk = (leg: Leg | undefined) => leg !== undefined && leg.transportation.product.class >= 99;

/** The positions in the journey of walks whose estimates differ from their planned times. */
function expectWalksToFollowTheirRides(legs: Leg[]): string[] {
  const moved: string[] = [];
  for (const [i, walk] of legs.entries()) {
    if (!isWalk(walk)) continue;
    const [before, after] = [legs[i - 1], legs[i + 1]];
    const { departureTimePlanned = '', departureTimeEstimated = '' } = walk.origin;
    const { arrivalTimePlanned = '', arrivalTimeEstimated = '' } = walk.destination;
    if (before !== undefined) expect(departureTimeEstimated).toBe(before.destination.arrivalTimeEstimated);
    else expect(arrivalTimeEstimated).toBe(after?.origin.departureTimeEstimated ?? arrivalTimePlanned);
    const planned = Date.parse(arrivalTimePlanned) - Date.parse(departureTimePlanned);
    expect(Date.parse(arrivalTimeEstimated) - Date.parse(departureTimeEstimated)).toBe(planned);
    expect(walk).not.toHaveProperty('isRealtimeControlled');
    if (departureTimeEstimated === departureTimePlanned) continue;
    if (before === undefined) moved.push('leading');
    else moved.push(after === undefined ? 'trailing' : 'between');
  }
  return moved;
}

it('estimates of a sandbox walk follow the ride before it, or after it for a leading walk', async () => {
  const sandbox = await sandboxAt(FRIDAY_8_30AM, { network });
  const moved = new Set<string>();
  for (const { from, to } of PAIRS) {
    const place = network.places[(Number(to.replace(/\D/g, '')) * 7) % network.places.length]?.id ?? '';
    const responses = [
      await trip(sandbox, from, to),
      await trip(sandbox, from, place),
      await trip(sandbox, place, from),
    ];
    for (const { journeys = [] } of responses) {
      for (const { legs } of journeys) for (const where of expectWalksToFollowTheirRides(legs)) moved.add(where);
    }
  }
  expect(moved).toEqual(new Set(['leading', 'between', 'trailing']));
});

it('patterns of one direction of a sandbox line call at the stops that they share in the same order', () => {
  const homes = new Map(network.stops.flatMap(({ id, points }) => points.map((point) => [point.id, id])));
  for (const { id, patterns } of network.lines) {
    for (const direction of [0, 1]) {
      const [first = [], ...others] = patterns
        .filter((pattern) => pattern.direction === direction)
        .map(({ calls }) => calls.map(({ point }) => homes.get(point)));
      for (const calls of others) {
        const shared = calls.filter((home) => first.includes(home));
        const inFirst = first.filter((home) => calls.includes(home));
        expect(shared, `${id}, direction ${direction}`).toEqual(inFirst);
      }
    }
  }
});
