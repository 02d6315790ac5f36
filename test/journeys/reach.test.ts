import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findShore, type MultiPolygon, mergeCircles, packPolygons, unpackPolygons } from '#src/journeys/area.ts';
import { mirrorLines, NEVER } from '#src/journeys/raptor/lines.ts';
import { createPlanner } from '#src/journeys/raptor/plan.ts';
import { type ReachQuery, timetableReach } from '#src/journeys/reach.ts';
import { countRides, listReached } from '#src/journeys/reached.ts';
import type { ScheduleFile } from '#src/timetable/import/schedule-file.ts';
import { type Journey, originOf } from '#src/transit/journey.ts';
import { MODES } from '#src/transit/mode.ts';
import { distanceMetres, type Position } from '#src/transit/place.ts';
import { bestKnown } from '#src/transit/time.ts';
import type { FeedSpec } from '../realtime/feed-bytes.ts';
import { HARBOUR, harbourFile } from '../support/harbour.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import {
  CHANGE,
  expectFeasible,
  networkArbitrary,
  openNetwork,
  STOPS,
  scanConnections,
  walksArbitrary,
} from '../support/random-network.ts';
import { datesFrom, type MadeSchedule, scheduleFile } from '../support/schedule-file.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';

const MAX_RIDES = 3;

/** A spread over a random network from its first stop, and the result of a scan of all connections. */
function spreadOver(
  trips: Parameters<typeof openNetwork>[0],
  walks: [number, number, number][],
  { from, latest }: { from: number; latest: number },
) {
  const network = openNetwork(trips, walks);
  const { timetable, lines, footpaths, labels, cells } = network;
  const all = (count: number) => new Uint8Array(count).fill(1);
  const access = { trips: all(timetable.tripCount), stops: all(timetable.stopCount) };
  const planner = createPlanner(
    lines,
    footpaths,
    access,
    labels,
    () => {},
    () => mirrorLines(lines),
    cells,
  );
  const stops = Array.from({ length: STOPS }, (_, stop) => timetable.findStop(`S${stop}`) as number);
  const request = {
    access: [{ stop: stops[0] as number, seconds: 0 }],
    at: from,
    latest,
    modes: 127,
    isWheelchair: false,
    maxRides: MAX_RIDES,
    changeSeconds: CHANGE,
  };
  const scanned = scanConnections(trips, walks, { from, maxRides: MAX_RIDES });
  const arrivals = scanned.at(-1) as number[];
  const first = stops.map((_, stop) =>
    Math.min(
      arrivals[stop] as number,
      ...walks.flatMap(([one, other, minutes]) => (other === stop ? (arrivals[one] as number) + minutes * 60 : [])),
    ),
  );
  return { network, planner, stops, request, scanned, first };
}

describe('what is reached on random networks', () => {
  const fromArbitrary = fc.integer({ min: 0, max: 23 }).map((hour) => hour * 3600);

  it('every stop within reach is reached when a scan of all connections reaches it, and no other stop is', () => {
    const minutesArbitrary = fc.integer({ min: 1, max: 600 });
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, fromArbitrary, minutesArbitrary, (trips, walks, from, minutes) => {
        const latest = from + minutes * 60;
        const { network, planner, stops, request, scanned, first } = spreadOver(trips, walks, { from, latest });
        const labels = planner.spread(request);
        const { lines, footpaths } = network;
        const found = listReached(lines, footpaths, labels, {
          at: from,
          latest,
          rides: MAX_RIDES,
          walks: [],
          isLive: () => false,
        });
        const expected = first.map((at) => (at <= latest ? at : null));
        expect(stops.map((stop) => found.find((one) => one.stop === stop)?.arrivesAt ?? null)).toEqual(expected);
        for (const { alightedAt } of found) {
          const rides = countRides(labels, alightedAt, { stopCount: lines.stopCount, rides: MAX_RIDES });
          const stop = stops.indexOf(alightedAt);
          expect(scanned.findIndex((round) => round[stop] === scanned.at(-1)?.[stop]) + 1).toBe(rides);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('a travel time has the first arrival, and the latest start that reaches it with as few rides', () => {
    const targetsArbitrary = fc.subarray(Array.from({ length: STOPS }, (_, stop) => stop));
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, fromArbitrary, targetsArbitrary, (trips, walks, from, targets) => {
        const latest = from + 10 * 3600;
        const { network, planner, stops, request, scanned } = spreadOver(trips, walks, { from, latest });
        const ends = targets.map((target) => ({
          egress: [{ stop: stops[target] as number, seconds: 0 }],
          walked: NEVER,
        }));
        const { arrived } = planner.spread({ ...request, ends });
        for (const target of targets) {
          const stop = stops[target] as number;
          const arrivesAt = scanned.at(-1)?.[target] as number;
          if (arrivesAt > latest) continue;
          expect(arrived[MAX_RIDES * network.lines.stopCount + stop]).toBe(arrivesAt);
          const found = planner.leaveLast({ ...request, latest }, [{ stop, seconds: 0 }], arrivesAt);
          if (!found) throw new Error('there is a journey');
          expect(found.arrivesAt).toBe(arrivesAt);
          expect(found.departsAt).toBeGreaterThanOrEqual(from);
          expectFeasible(network, found, walks);
          const later = scanConnections(trips, walks, { from: found.departsAt + 1, maxRides: found.rides.length });
          expect(later.at(-1)?.[target]).toBeGreaterThan(arrivesAt);
        }
      }),
      { numRuns: 150 },
    );
  });
});

/** Whether a position lies in an area, by the number of edges west of it. */
function contains(area: MultiPolygon, [lat, lng]: Position): boolean {
  let isInside = false;
  for (const ring of area.flat()) {
    for (const [index, [x, y]] of ring.entries()) {
      const [nextX, nextY] = ring[(index + 1) % ring.length] as [number, number];
      if (y > lat !== nextY > lat && lng < ((nextX - x) * (lat - y)) / (nextY - y) + x) isInside = !isInside;
    }
  }
  return isInside;
}

/** Twice the area; above zero where the ring is counterclockwise. */
function turn(ring: MultiPolygon[0][0]): number {
  return ring.reduce((sum, [x, y], index) => {
    const [nextX, nextY] = ring[(index + 1) % ring.length] as [number, number];
    return sum + x * nextY - nextX * y;
  }, 0);
}

describe('an area of circles', () => {
  const circleArbitrary = fc.record({
    position: fc.tuple(
      fc.double({ min: -34.3, max: -33.6, noNaN: true }),
      fc.double({ min: 150.6, max: 151.4, noNaN: true }),
    ),
    metres: fc.integer({ min: 0, max: 1000 }),
    shore: fc.constant(null),
  });

  it('an area of circles contains the middle of each, and nothing far from all, also after another thread has sent it', () => {
    fc.assert(
      fc.property(
        fc.array(circleArbitrary, { minLength: 1, maxLength: 40 }),
        fc.array(circleArbitrary, { maxLength: 40 }),
        (circles, others) => {
          const area = mergeCircles(circles);
          expect(unpackPolygons(structuredClone(packPolygons(area)))).toEqual(area);
          for (const { position } of circles) expect(contains(area, position)).toBe(true);
          for (const { position } of others) {
            const isFar = circles.every((one) => distanceMetres(one.position, position) > one.metres + 400);
            if (isFar) expect(contains(area, position)).toBe(false);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('an area of circles is GeoJSON: closed rings, the outer ones counterclockwise and holes clockwise', () => {
    const around: Position[] = Array.from({ length: 12 }, (_, hour) => [
      -33.9 + Math.cos((hour * Math.PI) / 6) / 50,
      151.2 + Math.sin((hour * Math.PI) / 6) / 40,
    ]);
    const area = mergeCircles(around.map((position) => ({ position, metres: 800, shore: null })));
    expect(area.map((polygon) => polygon.map((ring) => turn(ring) > 0))).toEqual([[true, false]]);
    for (const ring of area.flat()) expect(ring.at(-1)).toEqual(ring[0]);
  });

  it('an area of circles ends at the water that a ferry crosses', () => {
    const timetable = timetableOf(...harbourFile());
    const shore = findShore(HARBOUR.circularQuay, 1000, (...ends) => timetable.isOverWater(...ends));
    const circle = { position: HARBOUR.circularQuay, metres: 1000 };
    expect(contains(mergeCircles([{ ...circle, shore: null }]), HARBOUR.milsonsPoint)).toBe(true);
    const area = mergeCircles([{ ...circle, shore }]);
    expect(contains(area, HARBOUR.milsonsPoint)).toBe(false);
    expect(contains(area, [-33.866, 151.2116])).toBe(true);
  });
});

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const DAYS = datesFrom('20261120', '20261212');

/** B is a station with two platforms. D is 330 m from C, and E 220 m from A. */
const TOWNS: MadeSchedule = {
  stops: [
    { id: '1', name: 'A', lat: -33, lng: 150 },
    { id: '2', name: 'B', lat: -33.5, lng: 150 },
    { id: '21', name: 'B, Platform 1', lat: -33.5, lng: 150, parentId: '2' },
    { id: '22', name: 'B, Platform 2', lat: -33.5, lng: 150, parentId: '2' },
    { id: '3', name: 'C', lat: -34, lng: 150 },
    { id: '4', name: 'D', lat: -34.003, lng: 150 },
    { id: '5', name: 'E', lat: -33.002, lng: 150 },
  ],
  routes: [{ id: 'R' }, { id: 'Q' }],
  trips: [
    {
      id: 'early',
      days: DAYS,
      calls: [
        ['1', '08:10'],
        ['21', '08:40'],
      ],
    },
    {
      id: 'onward',
      route: 'Q',
      days: DAYS,
      calls: [
        ['22', '08:45'],
        ['3', '09:15'],
      ],
    },
    {
      id: 'away',
      days: DAYS,
      calls: [
        ['4', '03:00'],
        ['5', '05:00'],
      ],
    },
  ],
};

function open(...files: readonly ScheduleFile[]) {
  const timetable = timetableOf(...files);
  const engine = createInlineEngine(timetable);
  return (feed: FeedSpec | null = null) => {
    engine.take(feed ? [snapshotOf(timetable, feed)] : []);
    return timetableReach({
      timetable: currentOf(timetable),
      engines: engine,
      feeds: null,
      now: () => EIGHT,
    });
  };
}

const QUERY = {
  from: '1',
  at: null,
  modes: MODES,
  isAccessible: false,
  minutes: 90,
  limit: 10,
  isArea: false,
} as const;
const clock = (moment: number) =>
  new Date(moment).toLocaleTimeString('en-GB', { timeZone: 'Australia/Sydney', timeStyle: 'short' });

describe('reach by the timetable', () => {
  const towns = open(scheduleFile('buses', TOWNS));

  it('reach lists stations with the last ride, and stops within a walk, without the origin', async () => {
    const { stations, total, name } = await towns().search(QUERY);
    const written = stations.map(({ stopId, arrivesAt, changes, ride }) =>
      [stopId, clock(arrivesAt), changes, ride?.route ?? 'walk', ride?.headsign ?? ''].join(' '),
    );
    expect(written).toEqual(['5 08:04 0 walk ', '2 08:40 0 R City', '3 09:15 1 Q City', '4 09:21 1 Q City']);
    expect([total, name]).toEqual([4, 'A']);
  });

  it('reach ends after the requested minutes, and lists at most as many stops as requested', async () => {
    const reach = towns();
    const within = async (query: Partial<ReachQuery>) => {
      const { stations, total } = await reach.search({ ...QUERY, ...query });
      return [stations.map(({ stopId }) => stopId).join(), total];
    };
    expect(await within({ minutes: 75 })).toEqual(['5,2,3', 3]);
    expect(await within({ minutes: 74 })).toEqual(['5,2', 2]);
    expect(await within({ limit: 1 })).toEqual(['5', 4]);
    expect(await within({ modes: ['train'] })).toEqual(['5', 1]);
    expect(await within({ from: [-33.0005, 150] })).toEqual(['1,5,2,3,4', 5]);
  });

  it('reach includes delays, and says which rides are live', async () => {
    const time = { delay: 600 };
    const stops = ['1', '21'].map((stopId) => ({ stopId, arrival: time, departure: time }));
    const late = open(scheduleFile('buses', TOWNS));
    const reach = late({ timestamp: EIGHT / 1000, trips: [{ tripId: 'early', startDate: '20261126', stops }] });
    const { stations } = await reach.search(QUERY);
    expect(stations.map(({ stopId, arrivesAt }) => `${stopId} ${clock(arrivesAt)}`)).toEqual(['5 08:04', '2 08:50']);
    expect(stations[1]?.ride).toMatchObject({ departsAt: EIGHT + 1_200_000, asOf: EIGHT });
  });

  it('a run without data in its feed is not live, and its times are cut to the minute as on boards', () => {
    const trips = [
      {
        id: 'early',
        days: DAYS,
        calls: [
          ['1', '08:10:20'],
          ['21', '08:40:40'],
        ] as const,
      },
    ];
    const find = open(scheduleFile('buses', { ...TOWNS, trips }));
    const noData = ['1', '21'].map((stopId) => ({ stopId, scheduleRelationship: 2 }));
    const update = { tripId: 'early', startDate: '20261126', stops: noData };
    const reach = find({ timestamp: EIGHT / 1000, trips: [update] });
    return expect(reach.search(QUERY)).resolves.toMatchObject({
      stations: [
        {
          stopId: '2',
          arrivesAt: EIGHT + 40 * 60_000,
          ride: { departsAt: EIGHT + 10 * 60_000, arrivesAt: EIGHT + 40 * 60_000, asOf: null },
        },
      ],
    });
  });

  it('the area within reach contains every reached stop and no other', async () => {
    const { area } = await towns().search({ ...QUERY, minutes: 75, isArea: true });
    const reached: Position[] = [
      [-33, 150],
      [-33.002, 150],
      [-33.5, 150],
      [-34, 150],
    ];
    for (const position of reached) expect(contains(area as MultiPolygon, position)).toBe(true);
    expect(contains(area as MultiPolygon, [-34.003, 150])).toBe(false);
  });

  it('travel times are in the order of the query, null where no journey arrives within a day', async () => {
    const reach = towns();
    const { destinations } = await reach.times({ ...QUERY, to: ['4', '2', '5'] });
    expect(destinations.map(({ name, journey }) => [name, journey?.legs.map(({ mode }) => mode)])).toEqual([
      ['D', ['bus', 'walk', 'bus', 'walk']],
      ['B', ['bus']],
      ['E', ['walk']],
    ]);
    const none = await reach.times({ ...QUERY, modes: ['bus'], from: '3', to: ['2'] });
    expect(none.destinations[0]?.journey).toBeNull();
  });

  it('of two rides that arrive in the same minute as shown, a travel time has the one that leaves last', async () => {
    const ride = (id: string, leaves: string, arrives: string) => ({
      id,
      days: DAYS,
      calls: [
        ['1', leaves],
        ['21', arrives],
      ] as const,
    });
    const trips = [
      ride('first', '08:10', '08:40'),
      ride('faster', '08:12', '08:40:30'),
      ride('late', '08:20', '08:41'),
    ];
    const times = open(scheduleFile('buses', { ...TOWNS, trips }));
    const leavesAt = async (feed: FeedSpec | null = null) => {
      const { destinations } = await times(feed).times({ ...QUERY, to: ['2'] });
      return clock(bestKnown(originOf(destinations[0]?.journey as Journey)));
    };
    expect(await leavesAt()).toBe('08:12');
    // Live times are shown with their seconds.
    const onTime = { delay: 0 };
    const stops = ['1', '21'].map((stopId) => ({ stopId, arrival: onTime, departure: onTime }));
    const live = ['first', 'faster'].map((tripId) => ({ tripId, startDate: '20261126', stops }));
    expect(await leavesAt({ timestamp: EIGHT / 1000, trips: live })).toBe('08:10');
  });

  it('reach names the parameter with a stop that the timetable lacks, and refuses days beyond the timetable', async () => {
    const reach = towns();
    const unknown = { code: 'STOP_NOT_FOUND', message: expect.stringContaining('`from`') };
    await expect(reach.search({ ...QUERY, from: '9' })).rejects.toMatchObject(unknown);
    await expect(reach.search({ ...QUERY, from: [-30, 150] })).rejects.toMatchObject(unknown);
    await expect(reach.times({ ...QUERY, to: ['2', '9'] })).rejects.toMatchObject({
      code: 'STOP_NOT_FOUND',
      message: expect.stringContaining('`to`'),
    });
    const late = { ...QUERY, at: { date: '20270320', time: '0800' } };
    await expect(reach.search(late)).rejects.toMatchObject({ code: 'DATE_OUT_OF_RANGE' });
  });
});
