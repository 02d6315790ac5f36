import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NEVER } from '#src/journeys/raptor/lines.ts';
import { createSearcher } from '#src/journeys/raptor/search.ts';
import {
  CHANGE,
  DAY_SECONDS,
  networkArbitrary,
  openNetwork,
  STOPS,
  scanConnections,
  walksArbitrary,
} from '../support/random-network.ts';

it('the journey search finds the earliest arrival for each number of rides, like a scan of all connections', () => {
  fc.assert(
    fc.property(networkArbitrary, walksArbitrary, fc.integer({ min: 0, max: 30 }), (trips, walks, hour) => {
      const from = hour * 3600;
      const { timetable, lines, footpaths, labels } = openNetwork(trips, walks);
      const search = createSearcher(lines, footpaths, labels[0]);
      const stops = Array.from({ length: STOPS }, (_, stop) => timetable.findStop(`S${stop}`) as number);
      for (let target = 1; target < STOPS; target++) {
        const wanted = {
          access: [{ stop: stops[0] as number, seconds: 60 }],
          egress: [{ stop: stops[target] as number, seconds: 30 }],
          latest: 5 * DAY_SECONDS,
          changeSeconds: CHANGE,
          allowed: { lines: null, runs: null, stops: null, flags: null },
        };
        const scanned = scanConnections(trips, walks, { from: from + 60, maxRides: 3 });
        const earliest = [1, 2, 3].map((maxRides) => {
          search.begin(wanted);
          const found = [...search.range({ from, until: 4 * DAY_SECONDS, maxRides, bounds: null })];
          return Math.min(...found.map(({ arrivesAt }) => arrivesAt));
        });
        expect(earliest).toEqual(scanned.map((round) => (round[target] as number) + 30));
        search.begin(wanted);
        const first = Math.min(...search.reach(from, 3, DAY_SECONDS));
        expect(first < NEVER ? first : Number.POSITIVE_INFINITY).toBe(Math.min(...earliest));
      }
    }),
    { numRuns: 300 },
  );
});
