import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JourneyQuery } from '#src/journeys/source.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { destinationOf, originOf } from '#src/transit/journey.ts';
import { MODES } from '#src/transit/mode.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import {
  DAY_SECONDS,
  listDepartures,
  networkArbitrary,
  openNetwork,
  STOPS,
  scanConnections,
} from '../support/random-network.ts';
import { currentOf } from '../support/timetable.ts';

/** The start of Thursday 26 November 2026 in Sydney; the runs are of this day, the one before and the one after. */
const MIDNIGHT = Date.UTC(2026, 10, 25, 13);
const MAX_RIDES = 7;
/** One more ride must save a minute. */
const SLACK_SECONDS = MAX_RIDES * 60;
const FAR_SECONDS = 3 * DAY_SECONDS;

/** Journeys from the first stop to another at a time in hours after `MIDNIGHT`: departures and arrivals in seconds after it. */
function opener(trips: Parameters<typeof openNetwork>[0]) {
  const { timetable } = openNetwork(trips, []);
  const source = timetableJourneys({
    timetable: currentOf(timetable),
    engines: createInlineEngine(timetable),
    feeds: null,
    now: () => MIDNIGHT,
  });
  const isServed = (stop: number) => timetable.patternsAt(timetable.findStop(`S${stop}`) as number).length > 0;
  async function find(to: number, hour: number, isArrival: boolean) {
    const text = new Date(MIDNIGHT + hour * 3_600_000).toLocaleString('sv-SE', { timeZone: 'Australia/Sydney' });
    const at = { date: text.slice(0, 10).replaceAll('-', ''), time: text.slice(11, 16).replace(':', '') };
    const sent = { from: 'S0', to: `S${to}`, at, isArrival, modes: MODES, isAccessible: false } as const;
    const query: JourneyQuery = { ...sent, cancelled: 'exclude', mayBeNone: true };
    const seconds = (moment: number) => (moment - MIDNIGHT) / 1000;
    return (await source.fetch(query)).journeys.map((journey) => ({
      departsAt: seconds(originOf(journey).plannedAt),
      arrivesAt: seconds(destinationOf(journey).plannedAt),
    }));
  }
  return { find, isServed };
}

const hourArbitrary = fc.integer({ min: -24, max: 47 });

it('a journey is found if a scan of the connections of three days finds one, however late it begins or early it ends', async () => {
  await fc.assert(
    fc.asyncProperty(networkArbitrary, hourArbitrary, fc.boolean(), async (trips, hour, isArrival) => {
      const { find, isServed } = opener(trips);
      if (!isServed(0)) return;
      const at = hour * 3600;
      const departures = listDepartures(trips).filter((one) => one <= at && one >= at - FAR_SECONDS);
      for (let to = 1; to < STOPS; to++) {
        if (!isServed(to)) continue;
        const journeys = await find(to, hour, isArrival);
        if (isArrival) {
          const possible = departures.filter(
            (from) => (scanConnections(trips, [], { from, maxRides: MAX_RIDES }).at(-1)?.[to] as number) <= at,
          );
          const latest = Math.max(...journeys.map(({ departsAt }) => departsAt));
          expect(latest).toBeGreaterThanOrEqual(Math.max(...possible) - SLACK_SECONDS);
        } else {
          const earliest = scanConnections(trips, [], { from: at, maxRides: MAX_RIDES }).at(-1)?.[to] as number;
          if (earliest > at + FAR_SECONDS) continue;
          const first = Math.min(...journeys.map(({ arrivesAt }) => arrivesAt));
          expect(first).toBeLessThanOrEqual(earliest + SLACK_SECONDS);
        }
      }
    }),
    { numRuns: 60 },
  );
});
