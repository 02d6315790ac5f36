import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { buildTestApp, type TestApp } from '../../support/app.ts';
import { createInlineEngine } from '../../support/inline-engine.ts';
import { datesFrom, type MadeSchedule, type MadeTrip, scheduleFile } from '../../support/schedule-file.ts';
import { snapshotOf } from '../../support/snapshots.ts';
import { currentOf, timetableOf } from '../../support/timetable.ts';

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const MINUTE = 60_000;
const TRIPS = '/v1/trips?from=1&to=3&include=alternatives,ids&limit=6';

/** One travels from A by B to C. Half a degree is about 50 km. */
const STOPS = [
  { id: '1', name: 'A', lat: -33, lng: 150 },
  { id: '2', name: 'B', lat: -33.5, lng: 150 },
  { id: '3', name: 'C', lat: -34, lng: 150 },
];

interface Ride {
  id: string;
  from: string;
  to: string;
  /** Minutes after eight. */
  leaves: number;
  arrives: number;
  lateSeconds: number;
  isCancelled: boolean;
}

let app: TestApp | null = null;
afterEach(() => app?.close());

const clockAt = (minutes: number) => `${8 + Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
const tripOf = ({ id, from, to, leaves, arrives }: Ride, more: Partial<MadeTrip> = {}): MadeTrip => ({
  id,
  days: datesFrom('20261126', '20261126'),
  calls: [
    [from, clockAt(leaves)],
    [to, clockAt(arrives)],
  ],
  ...more,
});

async function ask(rides: readonly Ride[], more: Partial<MadeSchedule> = {}, query = TRIPS, lacks = false) {
  const trips = rides.map((ride) => tripOf(ride));
  const days = { firstDay: '20261120', lastDay: '20261205' };
  const timetable = timetableOf(scheduleFile('buses', { stops: STOPS, trips, ...days, ...more }));
  const snapshot = snapshotOf(timetable, {
    timestamp: EIGHT / 1000,
    trips: rides
      .filter(({ lateSeconds, isCancelled }) => lateSeconds > 0 || isCancelled)
      .map(({ id, from, to, lateSeconds, isCancelled }) => ({
        tripId: id,
        startDate: '20261126',
        ...(isCancelled && { scheduleRelationship: 3 }),
        stops: isCancelled
          ? []
          : [from, to].map((stopId) => ({
              stopId,
              arrival: { delay: lateSeconds },
              departure: { delay: lateSeconds },
            })),
      })),
  });
  const engine = createInlineEngine(timetable);
  engine.take([snapshot]);
  const feeds = {
    request() {},
    untilRead: async () => {},
    list: () => [],
    freshUntil: () => EIGHT + 20_000,
    snapshot: () => new LiveTimetable(timetable, [snapshot]),
  };
  const now = () => EIGHT;
  const source = timetableJourneys({ timetable: currentOf(timetable), engines: engine, feeds, now });
  await app?.close();
  app = await buildTestApp({
    now: () => new Date(EIGHT),
    upstream: async () => ({ payload: {}, retrievedAt: EIGHT }) as never,
    journeys: { fetch: (requested, { turn }) => source.fetch(requested, turn) },
    ...(!lacks && { runs: new Runs({ now, feeds, timetable: currentOf(timetable) }) }),
  });
  const response = await app.inject(query);
  return { status: response.statusCode, body: response.json(), notice: response.headers['x-notice'] };
}

const ride = (id: string, from: string, to: string, leaves: number, arrives: number, lateSeconds = 0): Ride => ({
  id,
  from,
  to,
  leaves,
  arrives,
  lateSeconds,
  isCancelled: false,
});

const bestOf = (planned: string, realtime: string | null) => Date.parse(realtime ?? planned);

interface LegBody {
  trip_id: string;
  origin: { stop_id: string; departs_at: string; departs_at_realtime: string | null };
  destination: { stop_id: string };
  alternatives: {
    trip_id: string;
    scheduled_at: string;
    realtime_at: string | null;
    arrives_at: string;
    arrives_at_realtime: string | null;
    is_live: boolean;
    minutes_away: number;
  }[];
}

describe('alternatives of a leg', () => {
  it('each ride lists the next two live departures that do the same leg and miss no change of the journey', async () => {
    const pair = fc.constantFrom<[string, string]>(['1', '2'], ['2', '3'], ['1', '3']);
    const rideArbitrary = fc.record({
      pair,
      leaves: fc.integer({ min: 1, max: 150 }),
      takes: fc.integer({ min: 5, max: 45 }),
      lateSeconds: fc.constantFrom(0, 0, 37, 240, 610, 1500),
      isCancelled: fc.constantFrom(false, false, false, true),
    });
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(rideArbitrary, { minLength: 6, maxLength: 24 }), async (made) => {
        const rides = made.map(
          ({ pair: [from, to], leaves, takes, ...live }, index): Ride => ({
            id: `T${index}`,
            from,
            to,
            leaves,
            arrives: leaves + takes,
            ...live,
          }),
        );
        const { status, body } = await ask(rides);
        if (status === 404) return;
        for (const { legs } of body.journeys as { legs: LegBody[] }[]) {
          for (const [index, leg] of legs.entries()) {
            const next = legs[index + 1]?.origin;
            const from = bestOf(leg.origin.departs_at, leg.origin.departs_at_realtime);
            const until = next ? bestOf(next.departs_at, next.departs_at_realtime) : Number.POSITIVE_INFINITY;
            // Counted from the rides as they were made, without the service.
            const expected = rides
              .filter((one) => one.id !== leg.trip_id && !one.isCancelled)
              .filter((one) => one.from === leg.origin.stop_id && one.to === leg.destination.stop_id)
              .map(({ id, leaves, arrives, lateSeconds }) => ({
                id,
                planned: EIGHT + leaves * MINUTE,
                leavesAt: EIGHT + leaves * MINUTE + lateSeconds * 1000,
                arrivesAt: EIGHT + arrives * MINUTE + lateSeconds * 1000,
              }))
              .filter(({ leavesAt, arrivesAt }) => leavesAt >= from && arrivesAt <= until)
              .sort((one, other) => one.leavesAt - other.leavesAt || one.planned - other.planned);
            const shown = leg.alternatives.map((one) => ({
              planned: Date.parse(one.scheduled_at),
              leavesAt: bestOf(one.scheduled_at, one.realtime_at),
              isKnown: expected.some(({ id }) => id === one.trip_id),
            }));
            compared += shown.length;
            expect(shown).toEqual(
              expected.slice(0, 2).map(({ planned, leavesAt }) => ({ planned, leavesAt, isKnown: true })),
            );
          }
        }
      }),
      { numRuns: 40, seed: 3 },
    );
    expect(compared).toBeGreaterThan(50);
  });

  it('an alternative has the fields of a departure, and its arrival at the end of the leg', async () => {
    const rides = [ride('one', '1', '3', 10, 50), ride('two', '1', '3', 20, 60, 300)];
    const { body } = await ask(rides, {}, `${TRIPS}&limit=1`.replace('&limit=6', ''));
    expect(body.journeys[0].legs[0].alternatives).toEqual([
      {
        route: 'R',
        mode: 'bus',
        destination: 'City',
        platform: null,
        scheduled_at: '2026-11-25T21:20:00Z',
        realtime_at: '2026-11-25T21:25:00Z',
        minutes_away: 25,
        is_live: true,
        wheelchair_accessible: false,
        occupancy: null,
        alerts: [],
        alert_ids: [],
        line_id: expect.any(String),
        trip_id: 'two',
        run_id: expect.any(String),
        arrives_at: '2026-11-25T22:00:00Z',
        arrives_at_realtime: '2026-11-25T22:05:00Z',
      },
    ]);
  });

  it('a ride without a later departure has an empty list of alternatives, which only `include=alternatives` adds', async () => {
    const { body } = await ask([ride('one', '1', '3', 10, 50)]);
    expect(body.journeys[0].legs.map(({ alternatives }: LegBody) => alternatives)).toEqual([[]]);
    const plain = await ask([ride('one', '1', '3', 10, 50)], {}, TRIPS.replace('alternatives,', ''));
    expect(plain.body.journeys[0].legs[0]).not.toHaveProperty('alternatives');
  });

  it('a departure from another platform of the station is an alternative if the walk leaves time for the change', async () => {
    const platforms = [
      { id: '9', name: 'B', lat: -33.5, lng: 150, isStation: true },
      { id: '2', name: 'B', lat: -33.5, lng: 150, parentId: '9', platformCode: '1' },
      { id: '22', name: 'B', lat: -33.5025, lng: 150, parentId: '9', platformCode: '2' },
    ];
    const stops = [...STOPS.filter(({ id }) => id !== '2'), ...platforms];
    const trips = (arrival: number) =>
      [
        ride('first', '1', '2', 10, 40),
        ride('second', '1', '22', 10, arrival),
        ride('onward', '2', '3', 60, 90),
        ride('far', '22', '3', 65, 95),
        ride('near', '2', '3', 70, 100),
      ].map((one) => tripOf(one));
    const alternativesOf = async (arrival: number) => {
      const { body } = await ask([], { stops, trips: trips(arrival) });
      const [journey] = body.journeys.filter(({ legs }: { legs: LegBody[] }) => legs[0]?.trip_id === 'first');
      const rides = journey.legs.filter(({ trip_id }: LegBody) => trip_id !== null);
      return rides.map(({ alternatives }: LegBody) => alternatives.map(({ trip_id }) => trip_id));
    };
    expect(await alternativesOf(50)).toEqual([['second'], ['far', 'near']]);
    // The walk of 278 metres takes a second more than five minutes.
    expect(await alternativesOf(54)).toEqual([['second'], ['far', 'near']]);
    expect(await alternativesOf(55)).toEqual([[], ['far', 'near']]);
  });

  it('riders who need a wheelchair or do not book get no alternative that they cannot take', async () => {
    const trips = [
      tripOf(ride('one', '1', '3', 10, 50), { access: 1 }),
      tripOf(ride('steps', '1', '3', 20, 60), { access: 2 }),
      tripOf(ride('ramp', '1', '3', 30, 70), { access: 1 }),
    ];
    const stops = STOPS.map((stop) => ({ ...stop, wheelchair: 1 as const }));
    const { body } = await ask([], { stops, trips }, `${TRIPS}&wheelchair=true`);
    const [first] = body.journeys as { legs: LegBody[] }[];
    expect(first?.legs[0]?.alternatives.map(({ trip_id }) => trip_id)).toEqual(['ramp']);
  });

  it('where there is no timetable the alternatives of a ride are null, and a notice says so', async () => {
    const { body, notice } = await ask([ride('one', '1', '3', 10, 50)], {}, TRIPS, true);
    expect(body.journeys[0].legs[0].alternatives).toBeNull();
    expect(notice).toContain('alternatives');
  });
});
