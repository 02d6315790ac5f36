import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#src/core/clock.ts';
import { BOOK_TO_BOARD, MAY_ALIGHT, MAY_BOARD } from '#src/timetable/call-flags.ts';
import type { ScheduleFile } from '#src/timetable/import/schedule-file.ts';
import { FORMAT } from '#src/timetable/packed-timetable.ts';
import type { FileId } from '#src/timetable/schedule-files.ts';
import { toDayNumber, toMoment } from '#src/timetable/service-day.ts';
import { NotATimetable, Timetable } from '#src/timetable/timetable.ts';
import { MODES, type Mode } from '#src/transit/mode.ts';
import { distanceMetres } from '#src/transit/place.ts';
import { buildTimetable } from '#test/support/timetable.ts';
import { datesFrom, type MadeSchedule, type MadeTrip, scheduleFile } from '../support/schedule-file.ts';

const at = (text: string) => Date.parse(text);
const dayOf = (date: string) => toDayNumber(date) as number;
const open = (...files: ScheduleFile[]) => new Timetable(buildTimetable(files, { importedAt: 1 }));
const openBuses = (made: MadeSchedule) => open(scheduleFile('buses', made));
const stops = (timetable: Timetable, ...ids: string[]) => ids.map((id) => timetable.findStop(id) as number);

/** Departures as strings "trip, position, time". */
function show(timetable: Timetable, refs: ReturnType<Timetable['departures']>): string[] {
  return refs.map(
    ({ trip, position, plannedAt }) =>
      `${timetable.trip(trip).tripId} ${position} ${new Date(plannedAt).toISOString()}`,
  );
}

describe('departures and arrivals of the timetable', () => {
  const STOPS = ['A', 'B', 'C', 'D'];
  const FILES: FileId[] = ['sydneytrains', 'metro', 'buses'];
  const DATES = datesFrom('20261001', '20261006');
  const callArbitrary = fc.record({
    stop: fc.constantFrom(...STOPS),
    wait: fc.integer({ min: 0, max: 4 * 3600 }),
    stand: fc.constantFrom(0, 0, 60, 900),
    flags: fc.integer({ min: 0, max: 7 }),
  });
  const tripArbitrary = fc.record({
    start: fc.integer({ min: 0, max: 30 * 3600 }),
    route: fc.constantFrom('R1', 'R2'),
    days: fc.uniqueArray(fc.constantFrom(...DATES), { minLength: 1 }),
    calls: fc.array(callArbitrary, { minLength: 2, maxLength: 5 }),
    copies: fc.integer({ min: 1, max: 4 }),
  });
  const fileArbitrary = (id: FileId) =>
    fc.array(tripArbitrary, { maxLength: 6 }).map((trips) =>
      scheduleFile(id, {
        stops: STOPS.map((stop) => ({ id: stop })),
        routes: [
          { id: 'R1', mode: 'bus' },
          { id: 'R2', mode: 'train' },
        ],
        trips: trips.flatMap(({ start, route, days, calls, copies }, number) =>
          Array.from({ length: copies }, (_, copy): MadeTrip => {
            let seconds = start + copy * 1800;
            return {
              id: `${id} ${number} ${copy}`,
              route,
              days,
              calls: calls.map(({ stop, wait, stand, flags }) => {
                seconds += wait + stand;
                return [stop, seconds - stand, { departure: seconds, flags }];
              }),
            };
          }),
        ),
      }),
    );

  interface Query {
    stops: string[];
    from: number;
    until: number;
    modes: Mode[];
    isArrival: boolean;
  }

  function listNaively(files: readonly ScheduleFile[], query: Query): string[] {
    const found: [plannedAt: number, text: string][] = [];
    for (const file of files) {
      for (const trip of file.trips) {
        const { firstDay, days } = file.services[trip.service] as ScheduleFile['services'][number];
        if (!query.modes.includes(file.routes[trip.route]?.mode as Mode)) continue;
        for (let bit = 0; bit < days.length * 8; bit++) {
          if (((days[bit >> 3] as number) & (1 << (bit & 7))) === 0) continue;
          const { stop, arrival, departure, flags } = file.calls.get(trip);
          for (let position = 0; position < trip.callCount; position++) {
            const isLeftOut = query.isArrival ? position === 0 : position === trip.callCount - 1;
            const needed = query.isArrival ? MAY_ALIGHT : MAY_BOARD;
            const isWanted = query.stops.includes(file.stops[stop[position] as number]?.id ?? '');
            const seconds = (query.isArrival ? arrival : departure)[position] as number;
            const plannedAt = toMoment(firstDay + bit, seconds);
            const isThen = plannedAt >= query.from && plannedAt < query.until;
            if (isLeftOut || !isWanted || !isThen || ((flags[position] as number) & needed) === 0) continue;
            found.push([plannedAt, `${trip.id} ${position} ${new Date(plannedAt).toISOString()}`]);
          }
        }
      }
    }
    return found.map(([, text]) => text).sort();
  }

  it('the timetable finds the same departures and arrivals as a naive reading of the files', () => {
    const queryArbitrary = fc.record({
      stops: fc.uniqueArray(fc.constantFrom(...STOPS), { minLength: 1 }),
      // Around the night when the clocks go forward.
      from: fc.integer({ min: 0, max: 8 * 24 * 60 }).map((minutes) => at('2026-09-30T14:00Z') + minutes * MINUTE_MS),
      hours: fc.integer({ min: 1, max: 30 }),
      modes: fc.constantFrom<Mode[]>(['bus'], ['train'], [...MODES]),
      isArrival: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.tuple(...FILES.map(fileArbitrary)),
        fc.array(queryArbitrary, { minLength: 4, maxLength: 4 }),
        (files, queries) => {
          const timetable = open(...files);
          for (const { hours, ...query } of queries) {
            const until = query.from + hours * HOUR_MS;
            const refs = timetable.departures(stops(timetable, ...query.stops), query.from, until, query);
            expect(show(timetable, refs).sort()).toEqual(listNaively(files, { ...query, until }));
            expect(refs.map(({ plannedAt }) => plannedAt)).toEqual(
              refs.map(({ plannedAt }) => plannedAt).sort((one, other) => one - other),
            );
            for (const { trip, day, position, plannedAt } of refs) {
              const call = timetable.calls(trip, day)[position];
              expect(query.isArrival ? call?.arrivesAt : call?.departsAt).toBe(plannedAt);
              expect(timetable.runsOn(trip, day)).toBe(true);
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('a loop has two departures at a stop it calls at twice, and its last call is only an arrival', () => {
    const timetable = openBuses({
      stops: [{ id: 'A' }, { id: 'B' }],
      trips: [
        {
          id: 'loop',
          days: ['20261126'],
          calls: [
            ['A', '08:00'],
            ['B', '08:10'],
            ['A', '08:20'],
            ['B', '08:30'],
            ['A', '08:40'],
          ],
        },
      ],
    });
    const day = [at('2026-11-26T00:00+11:00'), at('2026-11-27T00:00+11:00')] as const;
    const ids = stops(timetable, 'A', 'A');
    expect(timetable.departures(ids, ...day).map(({ position }) => position)).toEqual([0, 2]);
    expect(timetable.departures(ids, ...day, { isArrival: true }).map(({ position }) => position)).toEqual([2, 4]);
  });

  it('departures after midnight include departures of the last two service days', () => {
    const timetable = openBuses({
      stops: [{ id: 'A' }, { id: 'B' }],
      trips: [
        {
          id: 'late',
          days: ['20261125'],
          calls: [
            ['A', '34:20'],
            ['B', '34:30'],
          ],
        },
        {
          id: 'later',
          days: ['20261124'],
          calls: [
            ['A', '47:50'],
            ['B', '48:00'],
          ],
        },
      ],
    });
    const from = at('2026-11-25T23:00+11:00');
    expect(show(timetable, timetable.departures(stops(timetable, 'A'), from, from + 12 * HOUR_MS))).toEqual([
      'later 0 2026-11-25T12:50:00.000Z',
      'late 0 2026-11-25T23:20:00.000Z',
    ]);
  });

  it.each([
    ['forward', '20261004', '2026-10-03T15:00:00.000Z', '2026-10-03T21:00:00.000Z'],
    ['back', '20270404', '2027-04-03T16:00:00.000Z', '2027-04-03T22:00:00.000Z'],
  ])(
    'departures count from noon minus twelve hours in the night when the clocks go %s',
    (_way, date, atTwo, atEight) => {
      const timetable = openBuses({
        stops: [{ id: 'A' }, { id: 'B' }],
        trips: [
          {
            id: 'night',
            days: [date],
            calls: [
              ['A', '02:00'],
              ['B', '02:30'],
            ],
          },
          {
            id: 'morning',
            days: [date],
            calls: [
              ['A', '08:00'],
              ['B', '08:30'],
            ],
          },
        ],
      });
      const noon = toMoment(dayOf(date), 12 * 3600);
      expect(show(timetable, timetable.departures(stops(timetable, 'A'), noon - DAY_MS, noon))).toEqual([
        `night 0 ${atTwo}`,
        `morning 0 ${atEight}`,
      ]);
    },
  );
});

describe('the packed timetable', () => {
  const packed = buildTimetable([scheduleFile('buses', { stops: [{ id: 'A' }], trips: [] })], { importedAt: 5 });

  it('a timetable works from memory that threads share', () => {
    const timetable = new Timetable(packed);
    expect(timetable.packed).toBeInstanceOf(SharedArrayBuffer);
    expect(timetable.importedAt).toBe(5);
    expect(timetable.stop(0).id).toBe('A');
  });

  it('bytes that are cut off, of another format or of something else are refused', () => {
    const other = packed.slice();
    new DataView(other).setUint32(8, FORMAT + 1, true);
    const damaged = packed.slice();
    new Uint8Array(damaged).fill(32, 20, 40);
    for (const bytes of [
      damaged,
      new SharedArrayBuffer(0),
      packed.slice(0, 30),
      packed.slice(0, -1),
      other,
      new SharedArrayBuffer(5000),
    ]) {
      expect(() => new Timetable(bytes)).toThrow(NotATimetable);
    }
  });
});

describe('stops of the timetable', () => {
  const timetable = open(
    scheduleFile('sydneytrains', {
      stops: [
        { id: '200060', name: 'Central Station', isStation: true, wheelchair: 1, lat: -33.8839, lng: 151.2063 },
        { id: '2000336', name: 'Central Station Platform 16', parentId: '200060', lat: -33.884, lng: 151.206 },
        { id: '2000337', name: 'Central Station Platform 17', parentId: '200060', wheelchair: 2 },
        { id: 'ring', parentId: 'ring' },
      ],
      routes: [{ id: 'T1', mode: 'train', agencyName: 'Sydney Trains' }],
      trips: [
        {
          id: 't',
          route: 'T1',
          days: ['20261126'],
          calls: [
            ['2000336', '08:00'],
            ['2000337', '08:10'],
          ],
        },
      ],
    }),
    scheduleFile('nswtrains', {
      stops: [
        { id: '200060', name: 'Central Railway Station', isStation: true, lat: -1, lng: 1 },
        { id: 'pole', name: 'Elizabeth St', wheelchair: 0, lat: -33.9, lng: 151.2 },
      ],
      trips: [],
    }),
  );
  const [station, platform, other, ring, pole] = stops(timetable, '200060', '2000336', '2000337', 'ring', 'pole') as [
    number,
    number,
    number,
    number,
    number,
  ];

  it('a stop in several files has the name and position of the first', () => {
    expect(timetable.stop(station)).toEqual({
      index: station,
      id: '200060',
      name: 'Central Station',
      platform: null,
      lat: -33.8839,
      lng: 151.2063,
      parent: null,
      isWheelchairAccessible: true,
      modes: ['train'],
    });
    expect(timetable.stopCount).toBe(5);
    expect(timetable.findStop('2000338')).toBeNull();
  });

  it('a stop takes missing name and accessibility from its station', () => {
    expect(timetable.stop(platform)).toMatchObject({
      name: 'Central Station',
      platform: 'Platform 16',
      parent: station,
      isWheelchairAccessible: true,
    });
    expect(timetable.stop(other).isWheelchairAccessible).toBe(false);
    expect(timetable.stop(pole)).toMatchObject({ isWheelchairAccessible: null, modes: [] });
  });

  it('the board of a platform covers its station, and that of a pole only the pole', () => {
    const all = [station, platform, other].sort();
    expect(timetable.boardStops(platform).toSorted()).toEqual(all);
    expect(timetable.boardStops(station).toSorted()).toEqual(all);
    expect(timetable.boardStops(pole)).toEqual([pole]);
    expect(timetable.stationOf(other)).toBe(station);
    expect(timetable.stationOf(ring)).toBe(ring);
  });

  it('stops near each other have numbers near each other, whatever the order of the file', () => {
    const towns = { syd: [-33.87, 151.2], newc: [-32.92, 151.78], dubbo: [-32.24, 148.6] } as const;
    const made = Array.from({ length: 8 }, (_, at) =>
      Object.entries(towns).map(([town, [lat, lng]]) => ({
        id: `${town}${at}`,
        lat: lat + at / 1e4,
        lng: lng - at / 1e4,
      })),
    ).flat();
    const opened = openBuses({ stops: made, routes: [], trips: [] });
    for (const town of Object.keys(towns)) {
      const numbers = stops(opened, ...Array.from({ length: 8 }, (_, at) => `${town}${at}`));
      expect(Math.max(...numbers) - Math.min(...numbers)).toBe(7);
    }
  });

  it('stops around a position are listed nearest first', () => {
    const placed = fc.record({
      lat: fc.double({ min: -34, max: -33.9, noNaN: true }),
      lng: fc.double({ min: 151, max: 151.1, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.array(placed, { maxLength: 40 }),
        placed,
        fc.integer({ min: 0, max: 4000 }),
        (places, centre, metres) => {
          const around = openBuses({ stops: places.map((place, index) => ({ ...place, id: `${index}` })), trips: [] });
          const expected = places
            .map(({ lat, lng }, at) => ({
              index: around.findStop(`${at}`) as number,
              metres: distanceMetres([centre.lat, centre.lng], [lat, lng]),
            }))
            .filter((found) => found.metres <= metres)
            .sort((one, two) => one.metres - two.metres || one.index - two.index);
          expect(around.near(centre.lat, centre.lng, metres)).toEqual(expected);
        },
      ),
    );
  });
});

describe('trips of the timetable', () => {
  const days = ['20261126'];
  const calls = [
    ['A', '08:00'],
    ['B', '09:00'],
  ] as const;
  const station = [{ id: 'A' }, { id: 'B' }];

  it('a trip is found by its ID in all files, or only in the requested ones', () => {
    const timetable = open(
      scheduleFile('metro', { stops: station, trips: [{ id: 'x', days, calls }] }),
      scheduleFile('buses', {
        stops: station,
        trips: [
          { id: 'x', days, calls },
          { id: 'y', days, calls },
        ],
      }),
    );
    const files = timetable.listTripsBetween('x').map((trip) => timetable.trip(trip).file);
    expect(files).toEqual(['metro', 'buses']);
    expect(timetable.listTripsBetween('x', ['buses']).map((trip) => timetable.trip(trip).file)).toEqual(['buses']);
    expect(timetable.listTripsBetween('x', ['innerwest'])).toEqual([]);
    expect(timetable.listTripsBetween('z')).toEqual([]);
  });

  it('a trip with a date in its ID is found with any date, unless the full ID matches', () => {
    const ids = ['SN56.140126.4.N.2.1156', 'SN56.150126.4.N.2.1156', 'NP23.1257.120126.124.P.6.88113799'];
    const timetable = open(
      scheduleFile('nswtrains', { stops: station, trips: ids.map((id) => ({ id, days, calls })) }),
      scheduleFile('newcastle', { stops: station, trips: [{ id: '70764.150626.31.1143', days, calls }] }),
      scheduleFile('buses', { stops: station, trips: [{ id: '2584204', days, calls }] }),
    );
    const find = (id: string) => timetable.listTripsBetween(id).map((trip) => timetable.trip(trip).tripId);
    expect(find('SN56.140126.4.N.2.1156')).toEqual(['SN56.140126.4.N.2.1156']);
    expect(find('SN56.160126.4.N.2.1156')).toEqual(['SN56.140126.4.N.2.1156', 'SN56.150126.4.N.2.1156']);
    expect(find('NP23.1257.130126.124.P.6.88113799')).toEqual(['NP23.1257.120126.124.P.6.88113799']);
    expect(find('SN56.160126.4.N.2.1157')).toEqual([]);
    expect(find('70764.070926.31.1143')).toEqual(['70764.150626.31.1143']);
    expect(find('2584205')).toEqual([]);
  });

  it('a trip has its route, its calls and the other fields of its file', () => {
    const timetable = openBuses({
      stops: station,
      routes: [{ id: '2504_333', shortName: '333', lineName: 'Sydney Buses', network: 1 }],
      trips: [
        {
          id: 'x',
          route: '2504_333',
          days,
          access: 1,
          headsign: 'Bondi',
          calls: [
            ['A', '08:00', { departure: '08:01', flags: MAY_BOARD + BOOK_TO_BOARD, headsign: 'Bondi via Züri' }],
            ['B', '09:00'],
          ],
        },
      ],
    });
    const [trip = -1] = timetable.listTripsBetween('x');
    expect(timetable.trip(trip)).toEqual({
      tripId: 'x',
      file: 'buses',
      routeId: '2504_333',
      route: '333',
      lineName: 'Sydney Buses',
      longName: '',
      operator: 'Buses',
      lineId: 'A_333',
      mode: 'bus',
      network: 1,
      headsign: 'Bondi',
      isWheelchairAccessible: true,
    });
    const eight = at('2026-11-26T08:00+11:00');
    expect(timetable.calls(trip, dayOf('20261126'))).toEqual([
      {
        stop: timetable.findStop('A'),
        arrivesAt: eight,
        departsAt: eight + MINUTE_MS,
        mayBoard: true,
        mayAlight: false,
        mustBookToBoard: true,
        mustBookToAlight: false,
        headsign: 'Bondi via Züri',
      },
      {
        stop: timetable.findStop('B'),
        arrivesAt: eight + HOUR_MS,
        departsAt: eight + HOUR_MS,
        mayBoard: true,
        mayAlight: true,
        mustBookToBoard: false,
        mustBookToAlight: false,
        headsign: 'Bondi',
      },
    ]);
    expect(timetable.findRoute('2504_333', ['metro', 'buses'])?.route).toBe('333');
    expect(timetable.findRoute('2504_333', ['metro'])).toBeNull();
  });

  it('a trip runs on the days of its service around a moment', () => {
    const timetable = openBuses({
      stops: station,
      trips: [
        {
          id: 'x',
          days: ['20261110', '20261123', '20261124', '20261126'],
          calls: [
            ['A', '23:00'],
            ['B', '25:00'],
          ],
        },
      ],
    });
    const [trip = -1] = timetable.listTripsBetween('x');
    expect(datesFrom('20261109', '20261127').filter((date) => timetable.runsOn(trip, dayOf(date)))).toEqual([
      '20261110',
      '20261123',
      '20261124',
      '20261126',
    ]);
    const around = (text: string) => timetable.daysOf(trip, at(text)).map((day) => day - dayOf('20261123'));
    expect(around('2026-11-25T00:30+11:00')).toEqual([0, 1]);
    expect(around('2026-11-25T23:30+11:00')).toEqual([1, 3]);
    expect(around('2026-11-12T03:00+11:00')).toEqual([]);
  });

  it('a trip continues as the trip of the same block that leaves the same place within 15 minutes, on their common days', () => {
    const block = (id: string, blockId: string, from: [string, string], to: [string, string], on = days): MadeTrip => ({
      id,
      blockId,
      days: on,
      calls: [from, to],
    });
    const timetable = openBuses({
      stops: ['A', 'B', 'C'].map((id, index) => ({ id, lat: -33 - index * 0.01 })),
      trips: [
        block('101E', '1', ['A', '08:00'], ['B', '08:30'], ['20261126', '20261127']),
        block('of tomorrow', '1', ['B', '08:31'], ['C', '08:50'], ['20261127', '20261128']),
        block('101F', '1', ['B', '08:32'], ['C', '09:00'], ['20261126']),
        block('of another block', '2', ['C', '09:01'], ['A', '09:30']),
        block('later', '1', ['C', '09:16'], ['A', '09:30']),
        block('elsewhere', '1', ['B', '09:31'], ['A', '09:40']),
      ],
    });
    const next = (id: string, date = '20261126') => {
      const trip = timetable.nextTrip(timetable.listTripsBetween(id)[0] as number, dayOf(date));
      return trip === null ? null : timetable.trip(trip).tripId;
    };
    expect(['101E', '101F', 'later', 'of another block'].map((id) => next(id))).toEqual(['101F', null, null, null]);
    expect(next('101E', '20261127')).toBe('of tomorrow');
  });

  it.each([
    ['from a stand within 100 m', 0.0008, '08:31', true],
    ['not from a stand farther away', 0.001, '08:31', false],
    ['a little before it arrives by its plan', 0, '08:26', true],
    ['not long before it arrives', 0, '08:24', false],
  ])('a vehicle goes on as its next trip %s', (_, degrees, leaves, continues) => {
    const timetable = openBuses({
      stops: [
        { id: 'A', lat: -33 },
        { id: 'B', lat: -33.1 },
        { id: 'B2', lat: -33.1 - degrees },
        { id: 'C', lat: -33.2 },
      ],
      trips: [
        {
          id: 'one',
          blockId: '1',
          days,
          calls: [
            ['A', '08:00'],
            ['B', '08:30'],
          ],
        },
        {
          id: 'two',
          blockId: '1',
          days,
          calls: [
            ['B2', leaves],
            ['C', '09:00'],
          ],
        },
      ],
    });
    const [one, two] = ['one', 'two'].map((id) => timetable.listTripsBetween(id)[0] as number) as [number, number];
    expect(timetable.nextTrip(one, dayOf('20261126'))).toBe(continues ? two : null);
  });

  it('every block of trips ends, even if trips without duration form a circle', () => {
    const ends = fc.tuple(fc.constantFrom('A', 'B'), fc.constantFrom('A', 'B'));
    const trip = fc.record({ ends, minute: fc.constantFrom(0, 0, 1), minutes: fc.constantFrom(0, 0, 1) });
    fc.assert(
      fc.property(fc.array(trip, { minLength: 2, maxLength: 8 }), (trips) => {
        const timetable = openBuses({
          stops: station,
          trips: trips.map(({ ends: [from, to], minute, minutes }, index) => ({
            id: String(index),
            blockId: '1',
            days,
            calls: [
              [from, `08:0${minute}`],
              [to, `08:0${minute + minutes}`],
            ],
          })),
        });
        for (let first = 0; first < trips.length; first++) {
          let next: number | null = first;
          for (let count = 0; next !== null && count < trips.length; count++) {
            next = timetable.nextTrip(next, dayOf('20261126'));
          }
          expect(next).toBeNull();
        }
      }),
    );
  });

  it('a block of thousands of trips is ignored, and the report says so', () => {
    const trips = (blockId: string, count: number) =>
      Array.from(
        { length: count },
        (_, at): MadeTrip => ({
          id: `${blockId} ${at}`,
          blockId,
          days,
          calls: [
            ['A', at * 10],
            ['A', at * 10 + 5],
          ],
        }),
      );
    const timetable = openBuses({ stops: station, trips: [...trips('long', 5001), ...trips('short', 5000)] });
    const next = (id: string) => timetable.nextTrip(timetable.listTripsBetween(id)[0] as number, dayOf('20261126'));
    expect(next('long 0')).toBeNull();
    expect(next('short 0')).toBe(timetable.listTripsBetween('short 1')[0]);
    expect(timetable.files[0]?.leftOut).toEqual({ 'block of more than 5000 trips': 1 });
  });

  it.each([
    ['trips', 100_000, () => 1],
    ['patterns', 5000, (at: number) => at],
  ])('a line has a limited number of %s, and the report counts the trips left out', (what, limit, secondStop) => {
    const stopIds = [...new Set([0, ...Array.from({ length: limit + 2 }, (_, at) => secondStop(at))])].map(String);
    const trip = (route: string, at: number): MadeTrip => ({
      id: `${route} ${at}`,
      route,
      days,
      calls: [
        ['0', 28_800],
        [String(secondStop(at)), 28_860],
      ],
    });
    const timetable = openBuses({
      // Too far apart for walks.
      stops: stopIds.map((id, at) => ({ id, lat: -30 - at / 1000, lng: 150 })),
      routes: ['many', 'few'].map((id) => ({ id })),
      trips: [...Array.from({ length: limit + 2 }, (_, at) => trip('many', at)), trip('few', 1)],
    });
    expect(timetable.tripCount).toBe(limit + 1);
    expect(timetable.listTripsBetween('few 1')).toHaveLength(1);
    expect(timetable.files[0]?.leftOut).toEqual({ [`trip of a line with more than ${limit} ${what}`]: 2 });
  });

  it('the station of each stop is found, even if the parents in a file form a circle', () => {
    const ids = ['A', 'B', 'C', 'D', 'E', 'F'];
    const parents = fc.array(fc.constantFrom(null, ...ids), { minLength: ids.length, maxLength: ids.length });
    fc.assert(
      fc.property(parents, (parentIds) => {
        const timetable = openBuses({
          stops: ids.map((id, index) => ({ id, parentId: parentIds[index] ?? null })),
          trips: [{ id: 'T', days, calls: ids.map((id, index): [string, number] => [id, 28_800 + index]) }],
        });
        for (const stop of stops(timetable, ...ids)) {
          const station = timetable.stationOf(stop);
          expect(timetable.stop(station).parent).toBeNull();
          expect(timetable.boardStops(stop)).toContain(stop);
          expect(new Set(timetable.boardStops(stop)).size).toBe(timetable.boardStops(stop).length);
        }
      }),
    );
  });
});

describe('trains that are in two files', () => {
  const made = (id: string, days: string[], route = 'R'): MadeTrip => ({
    id,
    route,
    days,
    calls: [
      ['A', '08:00'],
      ['B', '09:00'],
    ],
  });
  const file = (id: FileId, trips: MadeTrip[]) =>
    scheduleFile(id, {
      stops: [{ id: 'A' }, { id: 'B' }],
      routes: [
        { id: 'R', mode: 'train' },
        { id: 'CTY_S1a', mode: 'train' },
      ],
      trips,
    });
  const suburban = file('sydneytrains', [
    made('KN35.1257.152.16.N.2.88112171', ['20261124', '20261126']),
    made('NP23.1257.152.16.P.2.88112172', ['20261126']),
    made('CT01.1257.152.16.K.2.88112173', ['20261126'], 'CTY_S1a'),
    made('CC01.1257.152.16.V.8.88112174', ['20261126']),
    made('ZZ99.1257.152.16.N.2.88112175', ['20261126']),
  ]);
  const trainLink = file('nswtrains', [
    made('KN35.140126.4.N.2.1200', ['20261126', '20261127']),
    made('NP23.1257.120126.124.P.6.88113799', ['20261126']),
    made('CT01.140126.4.K.2.1200', ['20261126']),
    made('CC01.140126.4.V.2.1200', ['20261126']),
  ]);

  it.each([
    ['first', [suburban, trainLink]],
    ['last', [trainLink, suburban]],
  ])('a TrainLink train comes from the exact TrainLink file when the suburban file is loaded %s', (_place, files) => {
    const timetable = open(...files);
    const runs = (date: string) => {
      const from = toMoment(dayOf(date), 0);
      const refs = timetable.departures(stops(timetable, 'A'), from, from + DAY_MS);
      return refs.map(({ trip }) => timetable.trip(trip).tripId).sort();
    };
    expect(runs('20261124')).toEqual(['KN35.1257.152.16.N.2.88112171']);
    expect(runs('20261126')).toEqual([
      'CC01.1257.152.16.V.8.88112174',
      'CC01.140126.4.V.2.1200',
      'CT01.140126.4.K.2.1200',
      'KN35.140126.4.N.2.1200',
      'NP23.1257.120126.124.P.6.88113799',
      'ZZ99.1257.152.16.N.2.88112175',
    ]);
    expect(timetable.files.find((report) => report.file === 'sydneytrains')?.leftOut).toEqual({ double: 2 });
  });

  const train = [{ id: 'R', mode: 'train' }] satisfies MadeSchedule['routes'];
  const bundled = (id: FileId, routes: MadeSchedule['routes'], trips: MadeTrip[]) =>
    scheduleFile(id, { stops: [{ id: 'A' }, { id: 'B' }], ...(routes && { routes }), trips });
  const idsOn = (timetable: Timetable, date: string) => {
    const from = toMoment(dayOf(date), 0);
    return timetable
      .departures(stops(timetable, 'A'), from, from + DAY_MS)
      .map(({ trip }) => `${timetable.trip(trip).file} ${timetable.trip(trip).tripId}`)
      .sort();
  };

  it('a trip of the bundle is left out on the days on which another file has its ID, whatever their agencies', () => {
    const ccn = (agencyName: string) =>
      [{ id: 'CCN', mode: 'train', agencyId: agencyName, agencyName }] satisfies MadeSchedule['routes'];
    const trip = (id: string, days: string[]) => ({ ...made(id, days), route: 'CCN' });
    const timetable = open(
      bundled('sydneytrains', ccn('NSW Trains'), [trip('281B.1290.171.8.H.8.90109178', ['20261126'])]),
      bundled('complete', ccn('NSW TrainLink'), [
        trip('281B.1290.171.8.H.8.90109178', ['20261126', '20261127']),
        trip('283B.1290.171.8.H.8.90109179', ['20261126']),
      ]),
    );
    expect(idsOn(timetable, '20261126')).toEqual([
      'complete 283B.1290.171.8.H.8.90109179',
      'sydneytrains 281B.1290.171.8.H.8.90109178',
    ]);
    expect(idsOn(timetable, '20261127')).toEqual(['complete 281B.1290.171.8.H.8.90109178']);
  });

  it('a trip of the bundle is left out where another file has its ID with the date of another publication', () => {
    const nlr = [{ id: 'NLR', mode: 'lightrail' }] satisfies MadeSchedule['routes'];
    const trip = (id: string) => ({ ...made(id, ['20261126']), route: 'NLR' });
    const timetable = open(
      bundled('newcastle', nlr, [trip('70764.231126.31.0800')]),
      bundled('complete', nlr, [trip('70764.091126.31.0800'), trip('70765.091126.31.0830')]),
    );
    expect(idsOn(timetable, '20261126')).toEqual(['complete 70765.091126.31.0830', 'newcastle 70764.231126.31.0800']);
    expect(timetable.files[1]?.leftOut).toEqual({ double: 1 });
  });

  it('a train of the bundle is left out where another file has its run number with the version of another publication', () => {
    const timetable = open(
      bundled('sydneytrains', train, [made('101A.1290.143.8.T.8.1', ['20261126'])]),
      bundled('complete', train, [
        made('101A.1383.143.8.T.8.7', ['20261126', '20261127']),
        made('103A.1383.143.8.T.8.9', ['20261126']),
      ]),
    );
    expect(idsOn(timetable, '20261126')).toEqual([
      'complete 103A.1383.143.8.T.8.9',
      'sydneytrains 101A.1290.143.8.T.8.1',
    ]);
    expect(idsOn(timetable, '20261127')).toEqual(['complete 101A.1383.143.8.T.8.7']);
  });

  it('a line that the bundle and another file have under different trip IDs comes from the bundle only on days that the file lacks', () => {
    const l2 = (id: string) => [{ id, shortName: 'L2', mode: 'lightrail' }] satisfies MadeSchedule['routes'];
    const trip = (id: string, route: string, days: string[]) => ({ ...made(id, days), route });
    const timetable = open(
      bundled('cbdandsoutheast', l2('1001_L2'), [
        trip('49177-10017', '1001_L2', ['20261126']),
        trip('49177-10018', '1001_L2', ['20261127']),
      ]),
      bundled('complete', l2('78-L2-sj2-1'), [
        trip('47197-10017', '78-L2-sj2-1', ['20261126', '20261128']),
        trip('47197-10019', '78-L2-sj2-1', ['20261127']),
      ]),
    );
    expect(idsOn(timetable, '20261126')).toEqual(['cbdandsoutheast 49177-10017']);
    expect(idsOn(timetable, '20261127')).toEqual(['cbdandsoutheast 49177-10018']);
    expect(idsOn(timetable, '20261128')).toEqual(['complete 47197-10017']);
    expect(timetable.files[1]?.leftOut).toEqual({ 'trip of a line of another file': 1 });
  });

  it('a TrainLink train of the bundle replaces its duplicate in the suburban file, and in the bundle itself', () => {
    const trip = (id: string) => made(id, ['20261126']);
    const timetable = open(
      bundled('sydneytrains', train, [trip('KN35.1257.152.16.N.2.88112171')]),
      bundled('complete', train, [
        trip('KN35.140126.4.N.2.1200'),
        trip('WN29.010926.2.N.2.0331'),
        trip('WN29.1290.171.16.N.2.90496462'),
        trip('KN35.1257.152.16.N.2.88112171'),
      ]),
    );
    expect(idsOn(timetable, '20261126')).toEqual([
      'complete KN35.140126.4.N.2.1200',
      'complete WN29.010926.2.N.2.0331',
    ]);
  });

  it('the bundle adds only the stops and stations that its own trips use', () => {
    const trip = (id: string, route: string, to: string): MadeTrip => ({
      id,
      route,
      days: ['20261126'],
      calls: [
        ['A', 1],
        [to, 2],
      ],
    });
    const timetable = open(
      scheduleFile('buses', { stops: [{ id: 'A' }, { id: 'unserved' }], trips: [trip('r', 'R', 'A')] }),
      scheduleFile('complete', {
        stops: [{ id: 'A' }, { id: 'B' }, { id: 'C', parentId: 'D' }, { id: 'D' }],
        routes: [{ id: 'R' }, { id: 'T' }],
        trips: [trip('r', 'R', 'B'), trip('t', 'T', 'C')],
      }),
    );
    expect(['A', 'B', 'C', 'D', 'unserved'].map((id) => timetable.findStop(id) !== null)).toEqual([
      true,
      false,
      true,
      true,
      true,
    ]);
    expect(timetable.files[1]?.leftOut).toEqual({ double: 1 });
  });
});

describe('the parents of the bundle', () => {
  const from = (...calls: [string, number][]): MadeTrip['calls'] => calls;
  const files = [
    scheduleFile('sydneytrains', {
      stops: [
        { id: '200060', name: 'Central Station', isStation: true, wheelchair: 1 },
        { id: '2000336', name: 'Central Station Platform 16', parentId: '200060' },
        { id: '213510', name: 'Redfern Station', isStation: true },
        { id: '2135238', name: 'Redfern Station Platform 8', parentId: '213510' },
      ],
      routes: [{ id: 'R', mode: 'train' }],
      trips: [{ id: 'train', days: ['20261126'], calls: from(['2000336', 1], ['2135238', 2]) }],
    }),
    scheduleFile('sydneyferries', {
      stops: [
        { id: '209573', name: 'Manly Wharf', isStation: true },
        { id: '20951', name: 'Manly Wharf 1', parentId: '209573' },
        { id: '299999', name: 'New Bay Wharf', isStation: true },
        { id: '29999', name: 'New Bay Wharf 2', parentId: '299999' },
      ],
      routes: [{ id: 'R', mode: 'ferry' }],
      trips: [{ id: 'ferry', days: ['20261126'], calls: from(['20951', 1], ['29999', 2]) }],
    }),
    scheduleFile('buses', {
      stops: [
        { id: '200039', name: 'Central Station, Eddy Av, Stand A' },
        { id: '222815', name: 'Miranda Interchange, Kiora Rd, Stand 5' },
        { id: '222833', name: 'Miranda Interchange, Kiora Rd, Stand 6' },
        { id: '1', name: 'Smith St' },
      ],
      trips: [{ id: 'bus', days: ['20261126'], calls: from(['200039', 1], ['222815', 2], ['222833', 3], ['1', 4]) }],
    }),
  ];
  const bundle = scheduleFile('complete', {
    stops: [
      { id: '200060', name: 'Central Station', isStation: true },
      { id: '2000336', name: 'Central Station, Platform 16', parentId: '200060', wheelchair: 2 },
      { id: '200039', name: 'Central Station, Eddy Av, Stand A', parentId: '200060' },
      { id: '213510', name: 'Redfern Station', isStation: true, wheelchair: 2 },
      { id: '2135238', name: 'Redfern Station, Platform 8', parentId: '213510', wheelchair: 1 },
      { id: '2999', name: 'New Bay', isStation: true },
      { id: '29999', name: 'New Bay, Wharf 2', parentId: '2999' },
      { id: 'G2228111', name: 'Miranda Interchange, Kiora Rd', isStation: true },
      { id: '222815', name: 'Miranda Interchange, Kiora Rd, Stand 5', parentId: 'G2228111' },
      { id: '222833', name: 'Miranda Interchange, Kiora Rd, Stand 6', parentId: 'G2228111' },
      { id: '5', name: 'Elsewhere', parentId: '50' },
      { id: '50', name: 'Elsewhere', isStation: true },
    ],
    trips: [],
  });
  const described = (timetable: Timetable, id: string) => {
    const stop = timetable.stop(stops(timetable, id)[0] as number);
    return [stop.parent === null ? null : timetable.stop(stop.parent).id, stop.name, stop.platform];
  };
  const board = (timetable: Timetable, id: string) => timetable.boardStopsOf(id).map((stop) => timetable.stop(stop).id);

  it('stops of all files group as the bundle says: stands, wharves and groups of poles', () => {
    const timetable = open(...files, bundle);
    expect(described(timetable, '200039')).toEqual(['200060', 'Central Station', 'Stand A']);
    expect(described(timetable, '29999')).toEqual(['2999', 'New Bay', 'Wharf 2']);
    expect(described(timetable, '20951')).toEqual(['209573', 'Manly Wharf', 'Wharf 1']);
    expect(described(timetable, '222815')).toEqual(['G2228111', 'Miranda Interchange, Kiora Rd', 'Stand 5']);
    expect(described(timetable, '1')).toEqual([null, 'Smith St', null]);
    expect(board(timetable, '200060')).toEqual(['200060', '2000336', '200039']);
    expect(board(timetable, 'G2228111')).toEqual(['G2228111', '222815', '222833']);
    expect(board(timetable, '222833')).toEqual(['G2228111', '222815', '222833']);
    expect(timetable.findStop('5')).toBeNull();
    expect(timetable.stop(stops(timetable, '200060')[0] as number).modes).toEqual(['train', 'bus']);
  });

  it('without the bundle stops group as their own file says', () => {
    const timetable = open(...files);
    expect(described(timetable, '200039')).toEqual([null, 'Central Station, Eddy Av', 'Stand A']);
    expect(described(timetable, '29999')).toEqual(['299999', 'New Bay Wharf', 'Wharf 2']);
    expect(timetable.findStop('G2228111')).toBeNull();
  });

  it('the groups of the trip planner count only for stops without a parent in the bundle', () => {
    const members: Record<string, string[]> = { '213510': ['200039', '1'] };
    const withMembers = (timetable: Timetable) => {
      timetable.useMembers((stopId) => members[stopId] ?? []);
      return board(timetable, '213510');
    };
    expect(withMembers(open(...files))).toEqual(['213510', '2135238', '200039', '1']);
    expect(withMembers(open(...files, bundle))).toEqual(['213510', '2135238', '1']);
  });

  it("a platform's own wheelchair access counts before its station's, whether better or worse", () => {
    const timetable = open(...files, bundle);
    const access = (id: string) => timetable.stop(stops(timetable, id)[0] as number).isWheelchairAccessible;
    expect(['200060', '2000336', '200039'].map(access)).toEqual([true, false, true]);
    expect(['213510', '2135238'].map(access)).toEqual([false, true]);
  });
});

describe('the lines and days of a stop', () => {
  const days = datesFrom('20261124', '20261128');
  const trip = (id: string, start: string, route: string, headsign: string): MadeTrip => ({
    id,
    route,
    headsign,
    days,
    calls: [
      ['A', start],
      ['B', '23:00'],
    ],
  });
  const timetable = open(
    scheduleFile('sydneytrains', {
      stops: [{ id: 'A' }, { id: 'B' }],
      routes: [{ id: 'T4', mode: 'train', lineName: 'Illawarra Line' }],
      trips: [trip('t', '07:00', 'T4', 'Cronulla')],
    }),
    scheduleFile('buses', {
      stops: [{ id: 'A' }, { id: 'B' }, { id: 'C' }],
      routes: [{ id: '333' }, { id: '333x', shortName: '333' }],
      trips: [
        trip('1', '08:00', '333', 'Bondi'),
        trip('2', '08:30', '333x', 'Town'),
        trip('3', '08:40', '333x', 'Town'),
        {
          id: '4',
          route: '333',
          days: ['20261201'],
          calls: [
            ['C', '08:00'],
            ['B', '08:10'],
          ],
        },
      ],
    }),
  );
  const [a, b, c] = stops(timetable, 'A', 'B', 'C') as [number, number, number];
  const moment = (text: string) => at(`2026-${text}+11:00`);

  it('the lines of a stop are the lines that depart within the given time', () => {
    const morning = [moment('11-26T06:00'), moment('11-26T10:00')] as const;
    expect(timetable.linesAt([a], ...morning)).toEqual([
      { lineId: 'A_333', route: '333', mode: 'bus', lineName: '', network: null, headsigns: ['Town', 'Bondi'] },
      {
        lineId: 'train_T4',
        route: 'T4',
        mode: 'train',
        lineName: 'Illawarra Line',
        network: null,
        headsigns: ['Cronulla'],
      },
    ]);
    expect(timetable.modesAt([a], ...morning)).toEqual(['train', 'bus']);
    expect(timetable.modesAt([a], moment('11-26T07:30'), moment('11-26T10:00'))).toEqual(['bus']);
    expect(timetable.linesAt([b], moment('11-26T22:00'), moment('11-26T23:30'))).toEqual([]);
    expect(timetable.modesAt([b], moment('11-26T22:00'), moment('11-26T23:30'))).toEqual([]);
    expect(timetable.stop(b).modes).toEqual(['train', 'bus']);
  });

  it('a stop covers the days that every file serving it covers', () => {
    expect(timetable.filesAt([a])).toEqual(['sydneytrains', 'buses']);
    expect(timetable.filesAt([c])).toEqual(['buses']);
    const covers = (stop: number, from: string, until: string) => timetable.covers([stop], moment(from), moment(until));
    expect(covers(a, '11-24T04:01', '11-29T00:00')).toBe(true);
    expect(covers(a, '11-24T03:00', '11-24T05:00')).toBe(false);
    expect(covers(a, '11-28T23:00', '11-29T00:30')).toBe(false);
    const night = [moment('11-28T23:00'), moment('11-29T00:30')] as const;
    expect(timetable.covers([a], ...night, ['bus'])).toBe(true);
    expect(timetable.covers([a], ...night, ['train'])).toBe(false);
    expect(covers(c, '11-29T04:30', '12-02T00:00')).toBe(true);
    expect(covers(c, '11-29T04:30', '12-02T01:00')).toBe(false);
  });
});
