import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ride } from '#src/journeys/raptor/labels.ts';
import { callAt } from '#src/journeys/raptor/lines.ts';
import { createPlanner } from '#src/journeys/raptor/plan.ts';
import type { JourneyQuery } from '#src/journeys/source.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { keepUndominated, planVia, type ViaPart } from '#src/journeys/via.ts';
import { MODES } from '#src/transit/mode.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import {
  CHANGE,
  DAY_SECONDS,
  expectFeasible,
  networkArbitrary,
  openNetwork,
  STOPS,
  scanConnections,
  walksArbitrary,
} from '../support/random-network.ts';
import { datesFrom, type MadeSchedule, scheduleFile } from '../support/schedule-file.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';

type Walks = [number, number, number][];
interface Place {
  stop: number;
  stay: number;
}

const MAX_RIDES = 3;

/** The time between a ride to one stop and a ride from another, with a stay at `place` in between, perhaps on foot from and to it. */
function gapOf(walks: Walks, { stop, stay }: Place, from: number, to: number): number {
  const walkOf = (one: number, other: number) =>
    one === other
      ? 0
      : (walks.find(([start, end]) => start === one && end === other)?.[2] ?? Number.POSITIVE_INFINITY) * 60;
  if (from === stop && to === stop) return Math.max(CHANGE, stay);
  return Math.max(CHANGE, walkOf(from, stop) + stay + walkOf(stop, to));
}

/** The earliest arrival via the places, by a scan of all connections from each to the next with at most so many rides. */
function scanVia(
  trips: Parameters<typeof openNetwork>[0],
  walks: Walks,
  from: number,
  places: readonly Place[],
  to: number,
  maxRides = [MAX_RIDES, ...places.map(() => MAX_RIDES)],
) {
  const [firstRides = 0, ...nextRides] = maxRides;
  let arrived = scanConnections(trips, walks, { from, maxRides: firstRides }).at(-1) as number[];
  for (const [index, place] of places.entries()) {
    const ready = arrived.map((_, stop) =>
      Math.min(...arrived.map((at, other) => at + gapOf(walks, place, other, stop))),
    );
    arrived = scanConnections(trips, walks, { maxRides: nextRides[index] as number, ready }).at(-1) as number[];
  }
  return arrived[to] as number;
}

function listVia(network: ReturnType<typeof openNetwork>, from: number, places: readonly Place[], to: number) {
  const { timetable, lines, footpaths, labels } = network;
  const all = (count: number) => new Uint8Array(count).fill(1);
  const access = { trips: all(timetable.tripCount), stops: all(timetable.stopCount) };
  const { plan } = createPlanner(lines, footpaths, access, labels);
  const waypoint = ({ stop, stay }: Place, isVia: boolean) => {
    const index = timetable.findStop(`S${stop}`) as number;
    const walks = [{ stop: index, seconds: 0 }];
    for (let at = footpaths.first[index] as number; isVia && at < (footpaths.first[index + 1] as number); at++) {
      walks.push({ stop: footpaths.targets[at] as number, seconds: footpaths.seconds[at] as number });
    }
    return { stops: new Set([index]), walks, staySeconds: stay, walkSeconds: null };
  };
  const end = (stop: number) => waypoint({ stop, stay: 0 }, false);
  const waypoints = [end(0), ...places.map((place) => waypoint(place, true)), end(to)];
  const request = {
    at: from,
    changeSeconds: CHANGE,
    rideIsWorthSeconds: 0,
    maxRides: MAX_RIDES,
    modes: 127,
    isWheelchair: false,
  };
  const found: ViaPart[][] = [];
  for (const parts of planVia({ lines, footpaths }, plan, waypoints, request)) {
    if (found.push(parts) === 4) break;
  }
  return found;
}

const placeArbitrary = fc.record({
  stop: fc.integer({ min: 1, max: STOPS - 1 }),
  stay: fc.integer({ min: 2, max: 40 }).map((minutes) => minutes * 60),
});
const placesArbitrary = fc.array(placeArbitrary, { minLength: 1, maxLength: 2 });
const hourArbitrary = fc.integer({ min: 0, max: 20 }).map((hour) => hour * 3600);

describe('journeys with via on random networks', () => {
  it('journeys with via arrive as early as a brute-force search, leave as late as their rides allow, and can be made', () => {
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, hourArbitrary, placesArbitrary, (trips, walks, from, places) => {
        const network = openNetwork(trips, walks);
        for (let to = 1; to < STOPS; to++) {
          const journeys = listVia(network, from, places, to);
          const earliest = scanVia(trips, walks, from, places, to);
          const arrivalOf = (parts: ViaPart[]) => (parts.at(-1) as ViaPart).plan.arrivesAt;
          const [best] = keepUndominated(journeys);
          if (best) expect([best, journeys[0] as ViaPart[]].map(arrivalOf)).toEqual([earliest, earliest]);
          else expect(earliest).toBeGreaterThan(from + DAY_SECONDS / 2);
          for (const parts of journeys) {
            expectPossible(network, walks, places, parts);
            const arrivesAt = arrivalOf(parts);
            const departsAt = (parts[0] as ViaPart).plan.departsAt;
            // A rider who stays in the vehicle has one part only. The planner searches one day.
            if (places.length === 1 && parts.length === 2 && arrivesAt - departsAt < DAY_SECONDS) {
              // A journey with more rides may leave later.
              const rides = parts.map(({ plan }) => plan.rides.length);
              expect(scanVia(trips, walks, departsAt + 1, places, to, rides)).toBeGreaterThan(arrivesAt);
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('journeys with via arrive no later where the rider may stay in the vehicle', () => {
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, hourArbitrary, placeArbitrary, (trips, walks, from, place) => {
        const network = openNetwork(trips, walks);
        for (let to = 1; to < STOPS; to++) {
          const [free] = listVia(network, from, [{ ...place, stay: 0 }], to);
          const changed = scanVia(trips, walks, from, [{ ...place, stay: CHANGE }], to);
          if (changed > from + DAY_SECONDS / 2) continue;
          expect(free?.at(-1)?.plan.arrivesAt).toBeLessThanOrEqual(changed);
        }
      }),
      { numRuns: 60 },
    );
  });
});

function expectPossible(
  network: ReturnType<typeof openNetwork>,
  walks: Walks,
  places: readonly Place[],
  parts: readonly ViaPart[],
): void {
  const { lines, timetable } = network;
  const stopOf = (index: number) => Number(timetable.stop(index).id.slice(1));
  for (const [index, { plan, to }] of parts.entries()) {
    const [first, last] = [plan.rides[0], plan.rides.at(-1)] as [Ride, Ride];
    const start = callAt(lines, first.run, first.board);
    const end = callAt(lines, last.alightRun, last.alight);
    expectFeasible(network, { ...plan, departsAt: start.departsAt, arrivesAt: end.arrivesAt }, walks);
    const next = parts[index + 1]?.plan.rides[0];
    if (!next) continue;
    const boarded = callAt(lines, next.run, next.board);
    const gap = gapOf(walks, places[to - 1] as Place, stopOf(end.stop), stopOf(boarded.stop));
    expect(boarded.departsAt - end.arrivesAt).toBeGreaterThanOrEqual(gap);
  }
}

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const DAYS = datesFrom('20261120', '20261212');
const bus = (id: string, calls: [string, string][], route = 'R') => ({ id, route, days: DAYS, calls });

/** Two buses from A past B to C, and one from B alone. E is 220 m from A. */
const TOWNS: MadeSchedule = {
  stops: [
    { id: '1', name: 'A', lat: -33, lng: 150 },
    { id: '2', name: 'B', lat: -33.5, lng: 150 },
    { id: '3', name: 'C', lat: -34, lng: 150 },
    { id: '5', name: 'E', lat: -33.002, lng: 150 },
  ],
  routes: [{ id: 'R' }, { id: 'Q' }],
  trips: [
    bus('first', [
      ['1', '08:10'],
      ['2', '08:40'],
      ['3', '09:10'],
    ]),
    bus('second', [
      ['1', '09:10'],
      ['2', '09:40'],
      ['3', '10:10'],
    ]),
    bus(
      'late',
      [
        ['2', '10:30'],
        ['3', '11:00'],
      ],
      'Q',
    ),
    bus(
      'away',
      [
        ['3', '03:00'],
        ['5', '05:00'],
        ['1', '05:10'],
      ],
      'Q',
    ),
  ],
};

describe('journeys with via', () => {
  async function find(via: JourneyQuery['via'], more: Partial<JourneyQuery> = {}, made = TOWNS) {
    const timetable = timetableOf(scheduleFile('buses', made));
    const source = timetableJourneys({
      timetable: currentOf(timetable),
      engine: createInlineEngine(timetable),
      feeds: null,
      now: () => EIGHT,
    });
    const sent = { from: '1', to: '3', at: null, isArrival: false, modes: MODES, isAccessible: false } as const;
    const { journeys } = await source.find({ ...sent, cancelled: 'exclude', mayBeNone: true, via, ...more });
    return journeys.map(({ legs }) =>
      legs
        .map(({ mode, runId, origin, destination }) =>
          [runId ?? mode, clock(origin.planned), clock(destination.planned)].join(' '),
        )
        .join(', '),
    );
  }
  const clock = (moment: Date) =>
    moment.toLocaleTimeString('en-GB', { timeZone: 'Australia/Sydney', timeStyle: 'short' });

  it('a journey with via and no stay remains in the vehicle, as one ride', async () => {
    expect((await find([{ stopId: '2', stayMinutes: 0 }])).slice(0, 2)).toEqual([
      'first 08:10 09:10',
      'second 09:10 10:10',
    ]);
  });

  it('a journey with via takes the next vehicle after a stay, and leaves as late as possible', async () => {
    expect((await find([{ stopId: '2', stayMinutes: 45 }])).slice(0, 2)).toEqual([
      'first 08:10 08:40, second 09:40 10:10',
      'second 09:10 09:40, late 10:30 11:00',
    ]);
    expect((await find([{ stopId: '2', stayMinutes: 90 }]))[0]).toBe('first 08:10 08:40, late 10:30 11:00');
  });

  it('a journey with via walks to a place nearby, and stays there before the next ride', async () => {
    const [first] = await find([{ stopId: '1', stayMinutes: 5 }], { from: '5' });
    expect(first).toBe('walk 08:00 08:05, first 08:10 09:10');
  });

  /** Two buses; the second one begins at F, 60 m from C. */
  const NEAR: MadeSchedule = {
    stops: [
      ...TOWNS.stops,
      { id: '6', name: 'F', lat: -34, lng: 150.0006 },
      { id: '7', name: 'G', lat: -34.5, lng: 150 },
    ],
    routes: [{ id: 'R' }, { id: 'Q' }],
    trips: [
      bus('in', [
        ['1', '08:10'],
        ['3', '08:40'],
        ['7', '09:10'],
      ]),
      bus(
        'on',
        [
          ['6', '08:45'],
          ['3', '08:50'],
          ['7', '09:20'],
        ],
        'Q',
      ),
    ],
  };

  it('a place of via that is reached on foot is the end of a walk, and the next ride begins there if it calls there', async () => {
    expect((await find([{ stopId: '6', stayMinutes: 0 }], { to: '7' }, NEAR))[0]).toBe(
      'in 08:10 08:40, walk 08:40 08:41, on 08:45 09:20',
    );
    const elsewhere = { ...NEAR, trips: [NEAR.trips[0], { ...NEAR.trips[1], calls: NEAR.trips[1]?.calls.slice(1) }] };
    const other = {
      ...elsewhere,
      trips: [
        ...elsewhere.trips,
        bus(
          'away',
          [
            ['6', '03:00'],
            ['7', '03:30'],
          ],
          'Q',
        ),
      ],
    };
    expect((await find([{ stopId: '6', stayMinutes: 0 }], { to: '7' }, other as MadeSchedule))[0]).toBe(
      'in 08:10 08:40, walk 08:40 08:41, walk 08:49 08:50, on 08:50 09:20',
    );
  });

  it('nobody leaves a vehicle at a place of via without a stay and boards it again after a loop', async () => {
    const loop = bus('loop', [
      ['1', '08:05'],
      ['2', '08:10'],
      ['3', '08:15'],
      ['2', '08:20'],
      ['3', '08:25'],
      ['2', '08:30'],
      ['5', '08:45'],
    ]);
    const via = [
      { stopId: '3', stayMinutes: 0 },
      { stopId: '2', stayMinutes: 0 },
    ];
    expect(await find(via, { to: '5', limit: 1 }, { ...TOWNS, trips: [loop] })).toEqual(['loop 08:05 08:45']);
    const [stay] = await find([{ stopId: '2', stayMinutes: 5 }], { to: '5' }, { ...TOWNS, trips: [loop] });
    expect(stay).toBe('loop 08:05 08:10, loop 08:30 08:45');
  });

  it('journeys with via name the stop that the timetable lacks', async () => {
    await expect(find([{ stopId: '9', stayMinutes: 0 }])).rejects.toMatchObject({
      code: 'STOP_NOT_FOUND',
      message: expect.stringContaining('`via`'),
    });
    await expect(find([{ stopId: '2', stayMinutes: 0 }], { to: '9' })).rejects.toMatchObject({
      message: expect.stringContaining('`to`'),
    });
  });
});
