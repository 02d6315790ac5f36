import fc from 'fast-check';
import { expect, it } from 'vitest';
import { entrancesOf, findEndpoint } from '#sandbox/journeys/endpoint.ts';
import { listJourneys } from '#sandbox/journeys/journey.ts';
import type { Search } from '#sandbox/journeys/journey-search.ts';
import { searchRounds } from '#sandbox/journeys/journey-search.ts';
import type { SandboxNetwork } from '#sandbox/network/network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { timetableAround } from '#sandbox/timetable/timetable.ts';
import { daily } from '../small-network.ts';
import { exhaustiveArrival } from './exhaustive-search.ts';

const NOON = Date.parse('2026-11-18T01:00:00Z') / 1000;
const DAY = 24 * 3600;

const POINTS = 7;
const minutes = fc.integer({ min: 1, max: 160 }).map((quarters) => quarters / 4);
const pattern = fc.record({
  calls: fc.uniqueArray(fc.integer({ min: 0, max: POINTS - 1 }), { minLength: 2, maxLength: 5 }),
  gaps: fc.array(minutes, { minLength: 5, maxLength: 5 }),
  first: fc.integer({ min: 300, max: 1380 }),
  span: fc.integer({ min: 0, max: 500 }),
  every: fc.integer({ min: 5, max: 120 }),
});
const network = fc
  .record({
    places: fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })), {
      minLength: POINTS,
      maxLength: POINTS,
    }),
    patterns: fc.array(pattern, { minLength: 1, maxLength: 7 }),
  })
  .map(networkOf);

function networkOf(drawn: {
  places: [number, number][];
  patterns: { calls: number[]; gaps: number[]; first: number; span: number; every: number }[];
}): SandboxNetwork {
  return {
    stops: drawn.places.map(([east, north], i) => {
      const position = { lat: -33.8 + north * 0.0012, lng: 151 + east * 0.0012 };
      const points = [{ id: `p${i}`, code: 'X1', platformName: `Stop ${i}`, ...position }];
      return {
        id: `s${i}`,
        stopId: `n${i}`,
        name: `Stop ${i}`,
        locality: 'Plain',
        ...position,
        wheelchairAccess: true,
        points,
      };
    }),
    lines: drawn.patterns.map(({ calls, gaps, first, span, every }, i) => ({
      id: `line${i}`,
      route: `${i}`,
      number: `${i}`,
      product: { id: 5, class: 5, name: 'Buses' },
      operator: 'Buses',
      description: '',
      monitored: true,
      patterns: [
        {
          headsign: 'Plain',
          direction: 0 as const,
          wheelchairAccessible: null,
          calls: calls.map((point, call) => ({
            point: `p${point}`,
            minutes: gaps.slice(0, call).reduce((sum, gap) => sum + gap, 0),
          })),
          services: [daily(first, first + span, every)],
        },
      ],
    })),
    places: [],
  };
}

function searchOf(drawn: SandboxNetwork, isCancelled: Search['isCancelled'] = () => false) {
  const index = indexNetwork(drawn);
  const search: Search = { index, timetable: timetableAround(NOON), isWanted: () => true, isCancelled };
  const entrances = (id: string) => entrancesOf(index, endpoint(id));
  const endpoint = (id: string) => {
    const found = findEndpoint(index, id);
    if (found === undefined) throw new Error(`no ${id}`);
    return found;
  };
  return { search, entrances, endpoint };
}

const place = fc.integer({ min: 0, max: POINTS - 1 }).map((i) => `s${i}`);
const moment = fc.integer({ min: -6 * 60, max: 12 * 60 }).map((minute) => NOON + minute * 60);

it('no journey arrives earlier than the one found by a forward search', () => {
  fc.assert(
    fc.property(network, place, place, moment, (drawn, from, to, at) => {
      fc.pre(from !== to);
      const { search, entrances } = searchOf(drawn);
      const best = searchRounds(search, 'forward', at, entrances(from), entrances(to), at + DAY).journeys.at(-1);
      expect(best?.endSeconds).toBe(exhaustiveArrival(search, at, entrances(from), entrances(to), at + DAY));
    }),
    { numRuns: 400 },
  );
});

it('no journey that is in time departs later than the one found by a backward search', () => {
  fc.assert(
    fc.property(network, place, place, moment, (drawn, from, to, at) => {
      fc.pre(from !== to);
      const { search, entrances } = searchOf(drawn);
      const best = searchRounds(search, 'backward', at, entrances(to), entrances(from), at - DAY).journeys.at(-1);
      const arrivalFrom = (departure: number) =>
        exhaustiveArrival(search, departure, entrances(from), entrances(to), at + 1);
      if (best === undefined) expect(arrivalFrom(at - DAY + 1)).toBeUndefined();
      else {
        expect(arrivalFrom(best.endSeconds)).toBeLessThanOrEqual(at);
        expect(arrivalFrom(best.endSeconds + 1)).toBeUndefined();
      }
    }),
    { numRuns: 400 },
  );
});

it('a sandbox journey does not use a cancelled run', () => {
  fc.assert(
    fc.property(network, place, place, moment, (drawn, from, to, at) => {
      fc.pre(from !== to);
      const { search, entrances } = searchOf(drawn, (run) => run.seed % 3 === 0);
      const best = searchRounds(search, 'forward', at, entrances(from), entrances(to), at + DAY).journeys.at(-1);
      expect(best?.endSeconds).toBe(exhaustiveArrival(search, at, entrances(from), entrances(to), at + DAY));
      expect(best?.rides.some((ride) => ride.run.seed % 3 === 0) ?? false).toBe(false);
    }),
    { numRuns: 200 },
  );
});

it('a sandbox journey that leaves later arrives later, and the search misses no faster journey between two that it finds', () => {
  fc.assert(
    fc.property(network, place, place, moment, fc.boolean(), (drawn, from, to, at, arriveBy) => {
      fc.pre(from !== to);
      const { search, entrances, endpoint } = searchOf(drawn);
      const request = { origin: endpoint(from), destination: endpoint(to), atSeconds: at, arriveBy, count: 6 };
      const found = listJourneys(search, request);
      const isNear = found[0]?.rides.length === 0;
      const journeys = found.filter(({ rides, isAdditional }) => rides.length > 0 && !isAdditional);
      const inOrder = arriveBy ? journeys.toReversed() : journeys;
      for (const [i, journey] of inOrder.entries()) {
        const next = inOrder[i + 1];
        if (next !== undefined) {
          expect(next.departureSeconds).toBeGreaterThan(journey.departureSeconds);
          expect(next.arrivalSeconds).toBeGreaterThan(journey.arrivalSeconds);
          const { departureSeconds } = journey;
          const best = exhaustiveArrival(search, departureSeconds + 1, entrances(from), entrances(to), at + 2 * DAY);
          if (!isNear) expect(next.arrivalSeconds).toBe(best);
        }
        if (arriveBy) expect(journey.arrivalSeconds).toBeLessThanOrEqual(at);
        else expect(journey.departureSeconds).toBeGreaterThanOrEqual(at);
        for (const { fromCall, toCall } of journey.rides) expect(toCall).toBeGreaterThan(fromCall);
      }
    }),
    { numRuns: 300 },
  );
});
