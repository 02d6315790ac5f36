import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openEngine } from '#src/journeys/engine-thread.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { isPossible, type Journey } from '#src/transit/journey.ts';
import { MODES } from '#src/transit/mode.ts';
import { bestKnown } from '#src/transit/time.ts';
import type { FeedSpec, TripSpec } from '../realtime/feed-bytes.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import { scheduleFile } from '../support/schedule-file.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';

/** The relationships of stop updates and trips in GTFS-realtime. */
const STOP = { scheduled: 0, skipped: 1, noData: 2 } as const;
const TRIP = { scheduled: 0, canceled: 3 } as const;
/** Midnight in Sydney, at the start of Thursday 26 November 2026. */
const MIDNIGHT = Date.UTC(2026, 10, 25, 13);
const DATE = '20261126';
const MINUTE = 60_000;
const NOW = MIDNIGHT + 480 * MINUTE;
/** Three pairs of stops; the two of a pair are a short walk apart. */
const STOPS = ['1', '2', '3', '4', '5', '6'];

/** A trip of a vehicle that may be late, with what its feed says of each stop; null if it says nothing. */
const tripArbitrary = fc
  .record({
    start: fc.integer({ min: 470, max: 620 }),
    stops: fc.uniqueArray(fc.constantFrom(...STOPS), { minLength: 2, maxLength: 5 }),
    rides: fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 5, maxLength: 5 }),
    blockId: fc.constantFrom(null, null, 'X', 'Y'),
    relationship: fc.constantFrom(TRIP.scheduled, TRIP.scheduled, TRIP.scheduled, TRIP.canceled, null),
    late: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 5, maxLength: 5 }),
    updates: fc.array(
      fc.constantFrom(STOP.scheduled, STOP.scheduled, STOP.scheduled, STOP.skipped, STOP.noData, null),
      {
        minLength: 5,
        maxLength: 5,
      },
    ),
  })
  .map(({ start, stops, rides, updates, late, ...trip }) => {
    let minute = start;
    const calls = stops.map((stopId, index) => {
      minute += index === 0 ? 0 : (rides[index] as number);
      return { stopId, minute, update: updates[index] ?? null, late: late[index] as number };
    });
    return { ...trip, calls };
  });
type Trip = typeof tripArbitrary extends fc.Arbitrary<infer Made> ? Made : never;

function timetableFor(trips: readonly Trip[]) {
  const stops = STOPS.map((id, index) => ({
    id,
    name: `Stop ${id}`,
    lat: -33 - Math.floor(index / 2) * 0.3 - (index % 2) * 0.002,
    lng: 150,
  }));
  const made = trips.map(({ calls, blockId }, index) => ({
    id: `T${index}`,
    days: [DATE],
    blockId,
    calls: calls.map(({ stopId, minute }): [string, number] => [stopId, minute * 60]),
  }));
  return timetableOf(scheduleFile('buses', { stops, trips: made, firstDay: '20261120', lastDay: '20261205' }));
}

function feedFor(trips: readonly Trip[]): FeedSpec {
  const updates = trips.flatMap(({ calls, relationship }, index): TripSpec[] => {
    if (relationship === null) return [];
    const stops = calls.flatMap(({ stopId, minute, late, update }) => {
      if (update === null) return [];
      const delay = update === STOP.noData ? 0 : late * 60;
      const time = { delay, time: MIDNIGHT / 1000 + minute * 60 + delay };
      const times = update === STOP.skipped ? {} : { arrival: time, departure: time };
      return [{ stopId, scheduleRelationship: update, ...times }];
    });
    const isCancelled = relationship === TRIP.canceled;
    return [
      { tripId: `T${index}`, startDate: DATE, scheduleRelationship: relationship, stops: isCancelled ? [] : stops },
    ];
  });
  return { timestamp: NOW / 1000, trips: updates };
}

/** Plans journeys from stop 1 to all others, with the feed. */
async function planAll(trips: readonly Trip[], minute: number, isArrival: boolean): Promise<Journey[]> {
  const timetable = timetableFor(trips);
  const engine = createInlineEngine(timetable);
  engine.take([snapshotOf(timetable, feedFor(trips))]);
  const source = timetableJourneys({
    timetable: currentOf(timetable),
    engines: engine,
    feeds: null,
    now: () => NOW,
  });
  const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}${String(minute % 60).padStart(2, '0')}`;
  const query = {
    from: '1',
    isArrival,
    modes: MODES,
    isAccessible: false,
    cancelled: 'exclude',
    mayBeNone: true,
  } as const;
  const served = STOPS.slice(1).filter((stop) =>
    trips.some(({ calls }) => calls.some(({ stopId }) => stopId === stop)),
  );
  const isServed = trips.some(({ calls }) => calls.some(({ stopId }) => stopId === '1'));
  const found = (isServed ? served : []).map((to) => source.fetch({ ...query, to, at: { date: DATE, time } }));
  return (await Promise.all(found)).flatMap(({ journeys }) => journeys);
}

it('journeys on late, skipping and cancelled vehicles are in time, in order and possible', async () => {
  const request = fc.tuple(fc.array(tripArbitrary, { minLength: 2, maxLength: 12 }), fc.nat(170), fc.boolean());
  await fc.assert(
    fc.asyncProperty(request, async ([trips, after, isArrival]) => {
      const minute = 470 + after;
      for (const journey of await planAll(trips, minute, isArrival)) {
        const ends = journey.legs.flatMap(({ origin, destination }) => [origin, destination]);
        const moments = ends.map((end) => bestKnown(end));
        // Planned times are cut to the minute.
        for (const [index, moment] of moments.entries())
          expect(moment).toBeGreaterThanOrEqual((moments[index - 1] ?? Number.NEGATIVE_INFINITY) - MINUTE);
        expect(isPossible(journey)).toBe(true);
        const ridden = journey.legs.flatMap(({ listCalls }) => [listCalls()?.at(0), listCalls()?.at(-1)]);
        expect(ridden.some((call) => call?.isCancelled)).toBe(false);
        const sent = MIDNIGHT + minute * MINUTE;
        if (isArrival) expect(moments.at(-1)).toBeLessThan(sent + MINUTE);
        else expect(moments[0]).toBeGreaterThan(sent - MINUTE);
      }
    }),
    { numRuns: 150 },
  );
});

it.each([
  { isArrival: false, minute: 600, direct: [605, 725], late: [510, 700] },
  { isArrival: true, minute: 720, direct: [595, 715], late: [450, 640] },
] as const)('a late run that is now faster than any planned one is found (arrival $isArrival)', async (wanted) => {
  const bus = (stops: [from: number, to: number], late: number, relationship: Trip['relationship']): Trip => ({
    calls: stops.map((minute, index) => ({
      stopId: index === 0 ? '1' : '5',
      minute,
      late: index === 0 ? late : 0,
      update: STOP.scheduled,
    })),
    blockId: null,
    relationship,
  });
  // The direct bus is met first, and bounds the search for the other one.
  const trips = [bus([...wanted.direct], 0, null), bus([...wanted.late], 180, TRIP.scheduled)];
  const timetable = timetableFor(trips);
  const engine = openEngine(timetable.packed);
  engine.use([snapshotOf(timetable, feedFor(trips))]);
  const end = (id: string) => ({ stops: [{ stop: timetable.findStop(id) as number, seconds: 0 }], withAround: true });
  const [first] = engine.search('plan', {
    from: end('1'),
    to: end('5'),
    at: MIDNIGHT + wanted.minute * MINUTE,
    now: NOW,
    isArrival: wanted.isArrival,
    modes: 127,
    isWheelchair: false,
    maxRides: 7,
    avoidedStops: [],
    walkSeconds: null,
    limit: 1,
  });
  expect(first?.departsAt).toBe(MIDNIGHT + (wanted.late[0] + 180) * MINUTE);
});
