import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BEFORE_DAY_SECONDS } from '#src/journeys/day-lines.ts';
import type { Ride } from '#src/journeys/raptor/labels.ts';
import { callAt } from '#src/journeys/raptor/lines.ts';
import { createPlanner, type PlanRequest } from '#src/journeys/raptor/plan.ts';
import type { JourneyQuery } from '#src/journeys/source.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { listVia, type ViaJourney, type ViaPart } from '#src/journeys/via.ts';
import { MODES } from '#src/transit/mode.ts';
import { toSydneyClock } from '#src/transit/time.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import {
  CHANGE,
  DAY_SECONDS,
  expectFeasible,
  listDepartures,
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

/** Journeys with at most `MAX_RIDES` rides between two places. */
function planVia(
  network: ReturnType<typeof openNetwork>,
  at: number,
  places: readonly Place[],
  to: number,
  { isArrival = false, maxRides = (places.length + 1) * MAX_RIDES }: { isArrival?: boolean; maxRides?: number } = {},
): ViaJourney[] {
  const { timetable, lines, footpaths, labels } = network;
  const all = (count: number) => new Uint8Array(count).fill(1);
  const access = { trips: all(timetable.tripCount), stops: all(timetable.stopCount) };
  const { plan, mirrored } = createPlanner(lines, footpaths, access, labels);
  const planPart = (part: PlanRequest) => plan({ ...part, maxRides: Math.min(MAX_RIDES, part.maxRides) });
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
  const request = { at, isArrival, changeSeconds: CHANGE, maxRides, modes: 127, isWheelchair: false, limit: 4 };
  return listVia({ lines, mirrored, footpaths }, planPart, waypoints, request);
}

const placeArbitrary = fc.record({
  stop: fc.integer({ min: 1, max: STOPS - 1 }),
  stay: fc.integer({ min: 2, max: 40 }).map((minutes) => minutes * 60),
});
const placesArbitrary = fc.array(placeArbitrary, { minLength: 1, maxLength: 2 });
const hourArbitrary = fc.integer({ min: 0, max: 20 }).map((hour) => hour * 3600);

/** Each part may have two rides more, which must save a minute each. */
const slackOf = (places: readonly Place[]) => (places.length + 1) * CHANGE;

describe('journeys with via on random networks', () => {
  it('journeys with via are feasible, arrive as early as a scan of all connections, and leave as late as their rides allow', () => {
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, hourArbitrary, placesArbitrary, (trips, walks, from, places) => {
        const network = openNetwork(trips, walks);
        for (let to = 1; to < STOPS; to++) {
          const journeys = planVia(network, from, places, to);
          const earliest = scanVia(trips, walks, from, places, to);
          const best = Math.min(...journeys.map(({ arrivesAt }) => arrivesAt));
          if (journeys.length > 0) {
            expect(best).toBeGreaterThanOrEqual(earliest);
            expect(best).toBeLessThanOrEqual(earliest + slackOf(places));
          } else expect(earliest).toBeGreaterThan(from + DAY_SECONDS / 2);
          for (const { parts, departsAt, arrivesAt } of journeys) {
            expectPossible(network, walks, places, parts);
            expect(departsAt).toBeGreaterThanOrEqual(from);
            // A rider who stays in the vehicle has one part only. The planner searches one day.
            if (places.length === 1 && parts.length === 2 && arrivesAt - departsAt < DAY_SECONDS) {
              // A journey with more rides may leave later.
              const rides = parts.map(({ plan }) => plan.rides.length);
              const later = departsAt + slackOf(places) + 1;
              expect(scanVia(trips, walks, later, places, to, rides)).toBeGreaterThan(arrivesAt);
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('journeys with via to arrive by a time are in time, and leave as late as a scan of all connections', () => {
    const arrivalArbitrary = fc.integer({ min: 6, max: 26 }).map((hour) => hour * 3600);
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, arrivalArbitrary, placesArbitrary, (trips, walks, at, places) => {
        const network = openNetwork(trips, walks);
        const departures = listDepartures(trips).filter(
          (one) => one >= Math.max(-BEFORE_DAY_SECONDS, at - DAY_SECONDS / 2) && one <= at,
        );
        for (let to = 1; to < STOPS; to++) {
          const journeys = planVia(network, at, places, to, { isArrival: true });
          for (const { parts, arrivesAt } of journeys) {
            expectPossible(network, walks, places, parts);
            expect(arrivesAt).toBeLessThanOrEqual(at);
          }
          const possible = departures.filter((one) => scanVia(trips, walks, one, places, to) <= at);
          const latest = Math.max(...journeys.map(({ departsAt }) => departsAt));
          expect(latest).toBeGreaterThanOrEqual(Math.max(...possible) - slackOf(places));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('a journey with via has at most the allowed rides in all, and is found if a scan of all connections finds one', () => {
    const stayArbitrary = fc.tuple(placeArbitrary, fc.integer({ min: 2, max: 4 }), fc.boolean());
    fc.assert(
      fc.property(networkArbitrary, walksArbitrary, stayArbitrary, (trips, walks, [place, maxRides, isArrival]) => {
        const network = openNetwork(trips, walks);
        for (let to = 1; to < STOPS; to++) {
          const at = isArrival ? DAY_SECONDS : 0;
          const journeys = planVia(network, at, [place], to, { isArrival, maxRides });
          for (const { rides } of journeys) expect(rides.length).toBeLessThanOrEqual(maxRides);
          if (isArrival) continue;
          const splits = Array.from({ length: maxRides - 1 }, (_, index) => [index + 1, maxRides - 1 - index]);
          const allowed = splits.map((rides) => rides.map((count) => Math.min(MAX_RIDES, count)));
          const earliest = Math.min(...allowed.map((rides) => scanVia(trips, walks, at, [place], to, rides)));
          if (earliest > DAY_SECONDS / 2) continue;
          const best = Math.min(...journeys.map(({ arrivesAt }) => arrivesAt));
          expect(best).toBeGreaterThanOrEqual(earliest);
          expect(best).toBeLessThanOrEqual(earliest + slackOf([place]));
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
          const journeys = planVia(network, from, [{ ...place, stay: 0 }], to);
          const changed = scanVia(trips, walks, from, [{ ...place, stay: CHANGE }], to);
          if (changed > from + DAY_SECONDS / 2) continue;
          const best = Math.min(...journeys.map(({ arrivesAt }) => arrivesAt));
          expect(best).toBeLessThanOrEqual(changed + slackOf([place]));
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
      engines: createInlineEngine(timetable),
      feeds: null,
      now: () => EIGHT,
    });
    const sent = { from: '1', to: '3', at: null, isArrival: false, modes: MODES, isAccessible: false } as const;
    const { journeys } = await source.fetch({ ...sent, cancelled: 'exclude', mayBeNone: true, via, ...more });
    return journeys.map(({ legs }) =>
      legs
        .map(({ mode, runId, origin, destination }) =>
          [runId ?? mode, clock(origin.plannedAt), clock(destination.plannedAt)].join(' '),
        )
        .join(', '),
    );
  }
  const clock = (moment: number) => toSydneyClock(moment);

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

  it('a walk to or from a place of via reaches the rides there, at their platform and in time for them', async () => {
    const station = { id: 'V', name: 'V', lat: -33, lng: 150, isStation: true };
    const platforms = ['V1', 'V2'].map((id) => ({ id, name: id, lat: -33, lng: 150, parentId: 'V' }));
    const made: MadeSchedule = {
      stops: [station, ...platforms, ...TOWNS.stops],
      routes: [{ id: 'R' }],
      trips: [
        bus('away', [
          ['V2', '08:10:50'],
          ['3', '08:40'],
        ]),
        bus('back', [
          ['3', '08:50'],
          ['V2', '09:10:50'],
        ]),
        bus('other', [
          ['V1', '20:00'],
          ['5', '20:10'],
        ]),
      ],
    };
    const sent = { at: null, isArrival: false, modes: MODES, isAccessible: false } as const;
    const timetable = timetableOf(scheduleFile('buses', made));
    const source = timetableJourneys({
      timetable: currentOf(timetable),
      engines: createInlineEngine(timetable),
      feeds: null,
      now: () => EIGHT,
    });
    const via = [{ stopId: 'V1', stayMinutes: 0 }];
    for (const [from, to] of [
      ['5', '3'],
      ['3', '5'],
    ] as const) {
      const { journeys } = await source.fetch({ ...sent, from, to, via, cancelled: 'exclude', mayBeNone: true });
      const [one, other] = journeys[0]?.legs ?? [];
      expect(one?.destination.stopId).toBe('V2');
      expect(other?.origin.stopId).toBe('V2');
      expect(other?.origin.plannedAt).toBeGreaterThanOrEqual(one?.destination.plannedAt as number);
    }
  });

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

  it('a journey with via arrives by the requested time, after the stay, and leaves as late as possible', async () => {
    const by = (time: string, stayMinutes: number) =>
      find([{ stopId: '2', stayMinutes }], { at: { date: '20261126', time }, isArrival: true, limit: 1 });
    expect(await by('1100', 45)).toEqual(['second 09:10 09:40, late 10:30 11:00']);
    expect(await by('1059', 20)).toEqual(['first 08:10 08:40, second 09:40 10:10']);
    expect(await by('1015', 0)).toEqual(['second 09:10 10:10']);
  });

  /** From A past B to C: directly, and faster with a change at B and at D. */
  const FASTER: MadeSchedule = {
    ...TOWNS,
    stops: [...TOWNS.stops, { id: '4', name: 'D', lat: -33.25, lng: 150 }],
    trips: [
      bus('slow', [
        ['1', '08:10'],
        ['2', '09:00'],
        ['3', '09:40'],
      ]),
      bus(
        'quick',
        [
          ['1', '08:10'],
          ['4', '08:30'],
        ],
        'Q',
      ),
      bus('on', [
        ['4', '08:35'],
        ['2', '08:54'],
      ]),
      bus(
        'last',
        [
          ['2', '08:58'],
          ['3', '09:30'],
        ],
        'Q',
      ),
    ],
  };

  it('the fastest journey with via is listed, and the one with the fewest changes', async () => {
    const all = ['slow 08:10 09:40', 'quick 08:10 08:30, on 08:35 08:54, last 08:58 09:30'];
    const via = [{ stopId: '2', stayMinutes: 0 }];
    expect((await find(via, { limit: 2 }, FASTER)).toSorted()).toEqual(all.toSorted());
    const choices = { prefer: 'fewer_changes' } as const;
    expect(await find(via, { choices, limit: 1 }, FASTER)).toEqual(['slow 08:10 09:40']);
  });

  it('the limit of changes applies to the whole journey with via', async () => {
    const changes = async (maxChanges: number, stayMinutes: number) =>
      (await find([{ stopId: '2', stayMinutes }], { maxChanges, limit: 2 }, FASTER)).map(
        (journey) => journey.split(',').length - 1,
      );
    expect(await changes(1, 0)).toEqual([0]);
    expect(await changes(0, 0)).toEqual([0]);
    expect(await changes(2, 4)).toEqual([2]);
    expect((await changes(1, 4))[0] ?? 0).toBeLessThanOrEqual(1);
  });

  it('a journey with via begins up to three days ahead', async () => {
    const coach = { ...bus('coach', (TOWNS.trips[0] as MadeSchedule['trips'][0]).calls as never), days: ['20261128'] };
    const made = { ...TOWNS, trips: [coach, ...TOWNS.trips.slice(3)] };
    expect(await find([{ stopId: '2', stayMinutes: 0 }], {}, made)).toEqual(['coach 08:10 09:10']);
    const at = { date: '20261201', time: '0700' };
    expect(await find([{ stopId: '2', stayMinutes: 0 }], { at, isArrival: true }, made)).toEqual(['coach 08:10 09:10']);
  });

  it('with less walking, a stay at a place of via is no walk', async () => {
    const choices = { prefer: 'less_walking' } as const;
    const [journey] = await find([{ stopId: '2', stayMinutes: 45 }], { choices, limit: 1 });
    expect(journey).toBe('first 08:10 08:40, second 09:40 10:10');
    // The bus from F is 10 minutes earlier, and its stop is 6 minutes on foot from C.
    const made: MadeSchedule = {
      ...TOWNS,
      stops: [
        ...TOWNS.stops,
        { id: '6', name: 'F', lat: -34.003, lng: 150 },
        { id: '7', name: 'G', lat: -34.5, lng: 150 },
      ],
      trips: [
        bus('in', [
          ['1', '08:10'],
          ['3', '08:40'],
        ]),
        bus(
          'walked',
          [
            ['6', '09:30'],
            ['7', '10:00'],
          ],
          'Q',
        ),
        bus(
          'near',
          [
            ['3', '09:31'],
            ['7', '10:02'],
          ],
          'Q',
        ),
      ],
    };
    const via = [{ stopId: '3', stayMinutes: 30 }];
    expect((await find(via, { to: '7', limit: 1 }, made))[0]).toContain('walked');
    expect(await find(via, { to: '7', choices, limit: 1 }, made)).toEqual(['in 08:10 08:40, near 09:31 10:02']);
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
