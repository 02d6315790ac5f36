import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '#src/core/clock.ts';
import type { JourneyQuery } from '#src/journeys/source.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { BOOK_TO_ALIGHT, BOOK_TO_BOARD, MAY_ALIGHT, MAY_BOARD } from '#src/timetable/call-flags.ts';
import type { ScheduleFile } from '#src/timetable/import/schedule-file.ts';
import type { Journey } from '#src/transit/journey.ts';
import { MODES } from '#src/transit/mode.ts';
import type { Position } from '#src/transit/place.ts';
import { toSydneyClock } from '#src/transit/time.ts';
import type { FeedSpec } from '../realtime/feed-bytes.ts';
import { harbourFile } from '../support/harbour.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import { datesFrom, type MadeSchedule, scheduleFile } from '../support/schedule-file.ts';
import { snapshotOf } from '../support/snapshots.ts';
import { currentOf, timetableOf } from '../support/timetable.ts';

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const DAYS = datesFrom('20261120', '20261212');

const bus = (id: string, calls: [string, string][], more: object = {}) => ({ id, days: DAYS, calls, ...more });

/** One travels from A to C with a change at B; D is next to C. Half a degree is about 50 km. */
const TOWNS: MadeSchedule = {
  stops: [
    { id: '1', name: 'A', lat: -33, lng: 150 },
    { id: '2', name: 'B', lat: -33.5, lng: 150 },
    { id: '3', name: 'C', lat: -34, lng: 150 },
    { id: '4', name: 'D', lat: -34.003, lng: 150 },
  ],
  routes: [{ id: 'R' }, { id: 'Q' }],
  trips: [
    bus('early', [
      ['1', '08:10'],
      ['2', '08:40'],
    ]),
    bus(
      'onward',
      [
        ['2', '08:45'],
        ['3', '09:15'],
      ],
      { route: 'Q' },
    ),
    bus(
      'next',
      [
        ['2', '09:45'],
        ['3', '10:15'],
      ],
      { route: 'Q' },
    ),
    bus('late', [
      ['1', '24:30'],
      ['2', '25:00'],
    ]),
    bus(
      'last',
      [
        ['2', '25:05'],
        ['3', '25:30'],
      ],
      { route: 'Q' },
    ),
    bus('away', [
      ['4', '03:00'],
      ['1', '05:00'],
    ]),
  ],
};

/** One vehicle from A to C, which continues as another run at B. */
const ONE_VEHICLE: MadeSchedule = {
  ...TOWNS,
  trips: [
    bus(
      'one',
      [
        ['1', '08:10'],
        ['2', '08:20'],
      ],
      { blockId: 'X' },
    ),
    bus(
      'two',
      [
        ['2', '08:22'],
        ['3', '08:30'],
      ],
      { blockId: 'X', route: 'Q' },
    ),
  ],
};

/** The same, but it goes on from a stand 60 m away, a minute later, on fewer days. */
const OTHER_STAND: MadeSchedule = {
  ...TOWNS,
  stops: [...TOWNS.stops, { id: '5', name: 'B', lat: -33.50054, lng: 150 }],
  trips: [
    ONE_VEHICLE.trips[0] as MadeSchedule['trips'][0],
    {
      ...(ONE_VEHICLE.trips[1] as MadeSchedule['trips'][0]),
      headsign: 'Harbour',
      days: ['20261126'],
      calls: [
        ['5', '08:21'],
        ['3', '08:30'],
      ],
    },
  ],
};

function open(made: MadeSchedule = TOWNS, members: Record<string, string[]> = {}) {
  return openWith([scheduleFile('buses', made)], members);
}

function openWith(files: readonly ScheduleFile[], members: Record<string, string[]> = {}) {
  const timetable = timetableOf(...files);
  timetable.useMembers((stopId) => members[stopId] ?? []);
  const engine = createInlineEngine(timetable);
  return async (query: Partial<JourneyQuery>, now = EIGHT, feed: FeedSpec | null = null): Promise<Journey[]> => {
    engine.take(feed ? [snapshotOf(timetable, feed)] : []);
    const source = timetableJourneys({
      timetable: currentOf(timetable),
      engines: engine,
      feeds: FEEDS,
      now: () => now,
    });
    const sent = {
      from: '1',
      to: '3',
      at: null,
      isArrival: false,
      modes: MODES,
      isAccessible: false,
      cancelled: 'exclude' as const,
      mayBeNone: true,
    };
    return (await source.fetch({ ...sent, ...query })).journeys;
  };
}

it('a ride on a run of a frequency says that it has no fixed times', async () => {
  const frequent = [0, 900, 1800].map((shift) =>
    bus(
      'frequent',
      [
        ['1', '08:10'],
        ['3', '08:40'],
      ],
      { shift, headway: 900 },
    ),
  );
  const journeys = await open({ ...TOWNS, trips: frequent })({ at: { date: '20261126', time: '0805' } });
  expect(written(journeys)).toEqual([['frequent 08:10 08:40'], ['frequent 08:25 08:55'], ['frequent 08:40 09:10']]);
  for (const { legs } of journeys) {
    expect(legs[0]?.alerts).toEqual(['No fixed times: one leaves about every 15 minutes.']);
  }
});

/** The service's feeds, next polled in 20 seconds. */
const FEEDS = {
  request() {},
  untilRead: async () => {},
  list: () => [],
  freshUntil: () => EIGHT + 20_000,
};

const written = (journeys: readonly Journey[]) =>
  journeys.map(({ legs }) =>
    legs.map(({ mode, runId, origin, destination }) =>
      [
        runId ?? mode,
        clock(origin.realtimeAt ?? origin.plannedAt),
        clock(destination.realtimeAt ?? destination.plannedAt),
      ].join(' '),
    ),
  );
const isToday = ({ legs: [first] }: Journey) => Number(first?.origin.plannedAt) < EIGHT + 12 * HOUR_MS;
const clock = (moment: number) => toSydneyClock(moment);

function lateBus(trip: string, delaySeconds: number, stops: string[], relationship?: number): FeedSpec {
  const time = { delay: delaySeconds };
  return {
    timestamp: EIGHT / 1000,
    trips: [
      {
        tripId: trip,
        startDate: '20261126',
        ...(relationship !== undefined && { scheduleRelationship: relationship }),
        stops: stops.map((stopId) => ({ stopId, arrival: time, departure: time })),
      },
    ],
  };
}

describe('journeys from the timetable', () => {
  it('a timetable journey has the times of its rides, and its changes leave enough time', async () => {
    const [first] = await open()({});
    expect(written([first as Journey])).toEqual([['early 08:10 08:40', 'onward 08:45 09:15']]);
    expect(first?.legs[0]).toMatchObject({ route: 'R', direction: 'City', stops: 0, isLive: false });
  });

  it('a timetable journey avoids a change that a delay makes impossible and takes the next vehicle', async () => {
    const [first] = await open()({}, EIGHT, lateBus('early', 600, ['1', '2']));
    expect(written([first as Journey])).toEqual([['early 08:20 08:50', 'next 09:45 10:15']]);
    expect(first?.legs[0]?.isLive).toBe(true);
  });

  it('a timetable journey takes a vehicle that is late enough to be caught', async () => {
    const feed = lateBus('onward', 1200, ['2', '3']);
    const find = open();
    const [first] = await find({ from: '1' }, EIGHT, feed);
    expect(written([first as Journey])).toEqual([['early 08:10 08:40', 'onward 09:05 09:35']]);
  });

  it('a timetable journey boards before the first live time until the run should have begun', async () => {
    const time = { delay: 60 };
    const unknown = { stopId: '1', arrival: { delay: 0 }, departure: { delay: 0 }, scheduleRelationship: 2 };
    for (const before of [[unknown], []]) {
      const stops = [...before, { stopId: '2', arrival: time, departure: time }];
      const findAt = async (now: number) => {
        const trips = [{ tripId: 'early', startDate: '20261126', stops }];
        const at = { date: '20261126', time: '0805' };
        const [first] = await open()({ at }, now, { timestamp: now / 1000, trips });
        return written([first as Journey]);
      };
      // A call without data keeps its plan. Without an update, the vehicle leaves a running time before the next call.
      const early = [[`early ${before.length > 0 ? '08:10' : '08:11'} 08:41`, 'onward 08:45 09:15']];
      expect(await findAt(EIGHT)).toEqual(early);
      expect(await findAt(EIGHT + 9 * 60_000)).toEqual(early);
      // A call that the feed has dropped has been left.
      const dropped = [['late 00:30 01:00', 'last 01:05 01:30']];
      expect(await findAt(EIGHT + 11 * 60_000)).toEqual(before.length > 0 ? early : dropped);
    }
  });

  it('timetable journeys are fresh until the next poll of a feed that may change them, else for a minute', async () => {
    const timetable = timetableOf(scheduleFile('buses', TOWNS));
    const parts = { timetable: currentOf(timetable), engines: createInlineEngine(timetable), now: () => EIGHT };
    const source = timetableJourneys({ ...parts, feeds: FEEDS });
    const sent = {
      from: '1',
      to: '3',
      modes: MODES,
      isArrival: false,
      isAccessible: false,
      cancelled: 'exclude',
    } as const;
    const freshUntil = async (at: JourneyQuery['at']) =>
      (await source.fetch({ ...sent, at, mayBeNone: true })).freshness?.freshUntil;
    expect(await freshUntil(null)).toBe(EIGHT + 20_000);
    expect(await freshUntil({ date: '20261127', time: '0800' })).toBe(EIGHT + 60_000);
  });

  it('timetable journeys are as old as the feeds with live times of them', async () => {
    const timetable = timetableOf(scheduleFile('buses', TOWNS));
    const engine = createInlineEngine(timetable);
    const parts = { timetable: currentOf(timetable), engines: engine, now: () => EIGHT };
    const source = timetableJourneys({ ...parts, feeds: FEEDS });
    const sent = { from: '1', to: '2', at: null, modes: MODES, isArrival: false, isAccessible: false } as const;
    const retrievedAt = async (updates: object[]) => {
      const update = { tripId: 'early', startDate: '20261126', stops: updates };
      engine.take([snapshotOf(timetable, { timestamp: EIGHT / 1000 - 600, trips: [update] })]);
      const found = await source.fetch({ ...sent, cancelled: 'exclude', mayBeNone: true });
      return [found.journeys[0]?.legs[0]?.isLive, EIGHT - found.freshness.retrievedAt];
    };
    const stops = ['1', '2'].map((stopId) => ({ stopId, departure: { delay: 0 } }));
    const fresh = await retrievedAt(stops.map(({ stopId }) => ({ stopId, scheduleRelationship: 2 })));
    expect(fresh[0]).toBe(false);
    expect(fresh[1]).toBeLessThan(600_000);
    expect(await retrievedAt(stops)).toEqual([true, 600_000]);
  });

  it('a timetable journey uses no cancelled run', async () => {
    const journeys = await open()({}, EIGHT, lateBus('onward', 0, [], 3));
    expect(written(journeys).flat().join()).not.toContain('onward 08:45');
  });

  it('a timetable journey continues past midnight on the previous service day', async () => {
    const journeys = await open()({ at: { date: '20261127', time: '0010' } });
    expect(written(journeys)[0]).toEqual(['late 00:30 01:00', 'last 01:05 01:30']);
  });

  it('a timetable journey arrives by the requested time', async () => {
    const journeys = await open()({ at: { date: '20261126', time: '1015' }, isArrival: true });
    expect(written(journeys)[0]).toEqual(['early 08:10 08:40', 'onward 08:45 09:15']);
  });

  it('a timetable journey may arrive up to the end of the requested minute, but a walk arrives by its start', async () => {
    const trips = [
      bus('seconds', [
        ['1', '08:10:10'],
        ['3', '09:15:50'],
      ]),
    ];
    const find = open({ ...TOWNS, trips });
    const by = (time: string) => find({ at: { date: '20261126', time }, isArrival: true });
    expect(written(await by('0915'))).toEqual([['seconds 08:10 09:15']]);
    expect(written(await by('0914'))).not.toEqual([['seconds 08:10 09:15']]);
    const [walk] = await open()({ from: '3', to: '4', at: { date: '20261126', time: '0915' }, isArrival: true });
    expect(walk?.legs[0]?.destination.plannedAt).toBe(EIGHT + 75 * 60_000);
  });

  it('a timetable journey that arrives after midnight may change vehicles the evening before', async () => {
    const evening = [
      bus('evening', [
        ['1', '20:00'],
        ['2', '21:30'],
      ]),
      bus(
        'night',
        [
          ['2', '21:40'],
          ['3', '24:10'],
        ],
        { route: 'Q' },
      ),
    ];
    const find = open({ ...TOWNS, trips: evening });
    for (const time of ['0015', '1000', '1300']) {
      const journeys = await find({ at: { date: '20261127', time }, isArrival: true });
      expect(written(journeys), time).toEqual([['evening 20:00 21:30', 'night 21:40 00:10']]);
    }
  });

  it('the best journey of the evening before is found even if a slower one arrives later', async () => {
    const trips = [
      bus('slow', [
        ['1', '20:00'],
        ['3', '22:30'],
      ]),
      bus('evening', [
        ['1', '21:00'],
        ['2', '21:40'],
      ]),
      bus(
        'night',
        [
          ['2', '21:45'],
          ['3', '22:25'],
        ],
        { route: 'Q' },
      ),
    ];
    const journeys = await open({ ...TOWNS, trips })({ at: { date: '20261127', time: '0700' }, isArrival: true });
    expect(written(journeys)).toContainEqual(['evening 21:00 21:40', 'night 21:45 22:25']);
  });

  it('a timetable journey that must arrive before the first vehicle of the day is one of the evening before', async () => {
    const find = open({
      ...TOWNS,
      trips: [
        bus('evening', [
          ['1', '19:00'],
          ['3', '20:30'],
        ]),
      ],
    });
    for (const time of ['0015', '0900', '1300', '1859']) {
      const journeys = await find({ at: { date: '20261127', time }, isArrival: true });
      expect(written(journeys), time).toEqual([['evening 19:00 20:30']]);
    }
  });

  it('a ride that must be booked where it begins or ends is a journey with a notice, unless such rides are not wanted', async () => {
    const [both, board, alight] = [MAY_BOARD + MAY_ALIGHT, MAY_BOARD + BOOK_TO_BOARD, MAY_ALIGHT + BOOK_TO_ALIGHT];
    const coach = (id: string, flags: [number, number, number]) => ({
      id,
      days: DAYS,
      calls: [
        ['1', '08:10', { flags: flags[0] }],
        ['2', '08:20', { flags: flags[1] }],
        ['3', '08:30', { flags: flags[2] }],
      ] as MadeSchedule['trips'][0]['calls'],
    });
    const ridden = async (flags: [number, number, number], query: Partial<JourneyQuery>) => {
      const find = open({ ...TOWNS, trips: [coach('coach', flags)] });
      const planned = [query, { ...query, at: { date: '20261126', time: '0900' }, isArrival: true }];
      const found = await Promise.all(planned.map((one) => find(one)));
      expect(written(found[1] ?? [])).toEqual(written(found[0] ?? []));
      return found[0]?.flatMap(({ legs }) => legs.map(({ needsBooking, alerts }) => [needsBooking, alerts])) ?? [];
    };
    const free = [[false, []]];
    const booked = [[true, ['This ride must be booked before you travel.']]];
    expect(await ridden([board, board, alight], {})).toEqual(booked);
    expect(await ridden([both, both, alight], {})).toEqual(booked);
    expect(await ridden([both, board | alight, both], {})).toEqual(free);
    expect(await ridden([board, board, alight], { withoutBooking: true })).toEqual([]);
    expect(await ridden([both, both, alight], { withoutBooking: true })).toEqual([]);
    expect(await ridden([both, board | alight, both], { withoutBooking: true })).toEqual(free);
    expect(await ridden([board, both, alight], { withoutBooking: true, to: '2' })).toEqual([]);
    expect(await ridden([both, both, alight], { withoutBooking: true, to: '2' })).toEqual(free);
    expect(await ridden([MAY_ALIGHT, both, both], {})).toEqual([]);
  });

  describe('days ahead', () => {
    const on = (days: string[], id: string, calls: [string, string][], route = 'R') => ({
      ...bus(id, calls, { route }),
      days,
    });
    const coach = (days: string[]) =>
      on(days, 'coach', [
        ['2', '06:00'],
        ['3', '09:00'],
      ]);
    const feeder = (days: string[]) =>
      on(
        days,
        'feeder',
        [
          ['1', '08:10'],
          ['2', '08:40'],
        ],
        'Q',
      );
    const legsOf = (journeys: readonly Journey[]) =>
      journeys.map(({ legs }) =>
        legs.map(({ runId, origin, destination }) =>
          [runId, origin.plannedAt, destination.plannedAt]
            .map((one) => (typeof one === 'number' ? new Date(one).toISOString().slice(5, 16) : one))
            .join(' '),
        ),
      );

    it('a timetable journey two days later is found, also if its parts run on different days', async () => {
      const direct = await open({ ...TOWNS, trips: [coach(['20261128'])] })({ from: '2' });
      expect(legsOf(direct)).toEqual([['coach 11-27T19:00 11-27T22:00']]);
      const trips = [feeder(['20261126']), coach(['20261128'])];
      const both = ['feeder 11-25T21:10 11-25T21:40', 'coach 11-27T19:00 11-27T22:00'];
      expect(legsOf(await open({ ...TOWNS, trips })({}))).toEqual([both]);
      const arriving = { at: { date: '20261128', time: '2000' }, isArrival: true };
      expect(legsOf(await open({ ...TOWNS, trips })(arriving))).toEqual([both]);
    });

    it('a timetable journey may take longer than a day', async () => {
      const trips = [feeder(['20261126']), coach(['20261127'])];
      expect(legsOf(await open({ ...TOWNS, trips })({}))).toEqual([
        ['feeder 11-25T21:10 11-25T21:40', 'coach 11-26T19:00 11-26T22:00'],
      ]);
    });

    it('a timetable journey that would arrive more than three days later is not found, and the error says who searched', async () => {
      const late = open({ ...TOWNS, trips: [coach(['20261129'])] });
      await expect(late({ from: '2', at: { date: '20261126', time: '0859' }, mayBeNone: false })).rejects.toMatchObject(
        {
          code: 'NO_JOURNEYS_FOUND',
          message: 'No journey in the timetable from 2 to 3 within three days of this time.',
        },
      );
      expect(await late({ from: '2', at: { date: '20261126', time: '0900' } })).toHaveLength(1);
      const early = { from: '2', at: { date: '20261202', time: '0601' }, isArrival: true };
      await expect(late({ ...early, mayBeNone: false })).rejects.toMatchObject({ code: 'NO_JOURNEYS_FOUND' });
      expect(await late({ ...early, at: { date: '20261202', time: '0559' } })).toHaveLength(1);
    });
  });

  it('a rider stays in a late vehicle for its next run, which is late too', async () => {
    const find = (late: FeedSpec | null) => open(ONE_VEHICLE)({}, EIGHT, late);
    expect(written(await find(null))).toEqual([['one 08:10 08:30']]);
    expect(written(await find(lateBus('one', 300, ['1', '2'])))).toEqual([['one 08:15 08:33']]);
    expect(written(await find(lateBus('one', 1800, ['1', '2'])))).toEqual([['one 08:40 08:58']]);
  });

  it('a rider stays in a vehicle that goes on from another stand, on the days of both runs', async () => {
    const find = open(OTHER_STAND);
    const [journey] = await find({});
    expect(journey?.legs.map(({ runId, direction, throughTo, stops }) => [runId, direction, throughTo, stops])).toEqual(
      [['one', 'City', 'Harbour', 2]],
    );
    expect(written(await find({}, EIGHT, lateBus('one', 600, ['1', '2'])))).toEqual([['one 08:20 08:39']]);
    expect(written(await find({ at: { date: '20261126', time: '0900' }, isArrival: true }))).toEqual([
      ['one 08:10 08:30'],
    ]);
    expect(written(await find({ at: { date: '20261127', time: '0800' } }))).toEqual([]);
  });

  it('a rider stays in a late vehicle only if its next run, by its own update, does not leave before it', async () => {
    const next = lateBus('two', 0, ['2', '3']).trips ?? [];
    const find = (delaySeconds: number) => {
      const late = lateBus('one', delaySeconds, ['1', '2']);
      return open(ONE_VEHICLE)({}, EIGHT, { ...late, trips: [...(late.trips ?? []), ...next] });
    };
    expect(written(await find(300))).toEqual([['one 08:15 08:30']]);
    expect(written((await find(1800)).filter(isToday))).toEqual([]);
  });

  it('a rider does not stay in a vehicle that ends its run early', async () => {
    const time = { delay: 0 };
    const stops = [
      { stopId: '1', arrival: time, departure: time },
      { stopId: '2', scheduleRelationship: 1 },
    ];
    const cutShort = { timestamp: EIGHT / 1000, trips: [{ tripId: 'one', startDate: '20261126', stops }] };
    expect(written((await open(ONE_VEHICLE)({}, EIGHT, cutShort)).filter(isToday))).toEqual([]);
  });

  it('timetable journeys keep their clock times on the days when clocks change', async () => {
    const nights = [
      { days: ['20260404', '20260405'], now: Date.UTC(2026, 3, 3, 20) },
      { days: ['20261003', '20261004'], now: Date.UTC(2026, 9, 2, 20) },
    ] as const;
    for (const { days, now } of nights) {
      const trips = TOWNS.trips.map((trip) => ({ ...trip, days: [...days] }));
      const find = open({ ...TOWNS, trips, firstDay: days[0], lastDay: days[1] });
      for (const date of days) {
        const [first] = await find({ at: { date, time: '0800' } }, now);
        expect(written([first as Journey])).toEqual([['early 08:10 08:40', 'onward 08:45 09:15']]);
      }
    }
  });

  it('a timetable journey is a walk when that is short, and may end with a walk to a stop nearby', async () => {
    const find = open();
    const [walk] = await find({ from: '3', to: '4' });
    expect(walk?.legs.map(({ mode }) => mode)).toEqual(['walk']);
    const [journey] = await find({ to: '4' });
    expect(journey?.legs.map(({ mode }) => mode)).toEqual(['bus', 'bus', 'walk']);
  });

  it('a timetable journey can begin at a position', async () => {
    const [journey] = await open()({ from: [-33.0005, 150] });
    expect(journey?.legs[0]).toMatchObject({ mode: 'walk', origin: { stopId: '-33.0005,150' } });
  });

  it('a timetable journey starts no earlier than the requested minute, also on foot to a ride whose time is cut to the minute', async () => {
    const trips = [
      bus('seconds', [
        ['1', '08:11:50'],
        ['3', '09:15'],
      ]),
    ];
    const find = open({ ...TOWNS, trips });
    const [journey] = await find({ from: [-33.00075, 150], at: { date: '20261126', time: '0810' } });
    const [walk, ride] = journey?.legs ?? [];
    const starts = [10, 11].map((minute) => EIGHT + minute * 60_000);
    expect([walk?.origin.plannedAt, ride?.origin.plannedAt]).toEqual(starts);
    expect(walk?.durationMs).toBe(60_000);
  });

  it('a timetable journey does not walk across water from wharf to wharf', async () => {
    const wharf = (id: string, lat: number, lng: number) => ({ id, name: `${id} Wharf`, lat, lng });
    const find = open({
      stops: [wharf('10', -33.8479, 151.2085), wharf('11', -33.8445, 151.2085), wharf('12', -33.8607, 151.2116)],
      routes: [{ id: 'F', mode: 'ferry' }],
      trips: [
        {
          id: 'over',
          route: 'F',
          days: DAYS,
          calls: [
            ['12', '08:10'],
            ['10', '08:20'],
          ],
        },
        {
          id: 'beyond',
          route: 'F',
          days: DAYS,
          calls: [
            ['11', '08:40'],
            ['12', '08:50'],
          ],
        },
      ],
    });
    expect(await find({ from: '12', to: '11' })).toEqual([]);
  });

  it('a timetable journey crosses the harbour only by ferry', async () => {
    const ferry = (id: string, calls: [string, string][]) => ({ id, route: 'F', days: DAYS, calls });
    const find = open({
      stops: [
        { id: 'CQ', name: 'Circular Quay', lat: -33.8607, lng: 151.2116 },
        { id: 'MP', name: 'Milsons Point Wharf', lat: -33.8519, lng: 151.2107 },
        { id: 'MY', name: 'Manly Wharf', lat: -33.8004, lng: 151.2838 },
        { id: 'WB', name: 'Watsons Bay Wharf', lat: -33.8437, lng: 151.2815 },
      ],
      routes: [{ id: 'F', mode: 'ferry' }],
      trips: [
        ferry('over', [
          ['CQ', '08:10'],
          ['MP', '08:15'],
        ]),
        ferry('east', [
          ['CQ', '08:20'],
          ['WB', '08:45'],
          ['MY', '09:05'],
        ]),
        ferry('back', [
          ['MY', '09:20'],
          ['WB', '09:40'],
        ]),
      ],
    });
    expect(written(await find({ from: 'CQ', to: 'MP' }))).toEqual([['over 08:10 08:15']]);
    expect(written(await find({ from: 'MY', to: 'WB' }))).toEqual([['back 09:20 09:40']]);
    expect(await find({ from: 'MP', to: 'CQ' })).toEqual([]);
  });

  it('a timetable journey does not walk across water from shore to shore', async () => {
    const find = openWith(harbourFile());
    const modesOf = async (from: Position, to: Position) =>
      (await find({ from, to })).map(({ legs }) => legs.map(({ mode }) => mode));
    expect(await modesOf([-33.859, 151.2012], [-33.8635, 151.2024])).toContainEqual(['walk']);
    expect(await modesOf([-33.8585, 151.196], [-33.859, 151.2012])).toEqual([]);
    expect(await modesOf([-33.8525, 151.213], [-33.8595, 151.2145])).toEqual([['walk', 'ferry', 'walk']]);
  });

  it('a timetable journey begins and ends at places, whose position is in their ID', async () => {
    const near = 'poiID:1:95325016:-1:Epping Library:Epping:Epping Library:ANY:POI:4878275:3744510:GDAV:nsw';
    const [lat, lng] = [-33.773186, 151.084041];
    const stops = TOWNS.stops.map((stop) => (stop.id === '1' ? { ...stop, lat: lat + 0.001, lng } : stop));
    const find = open({ ...TOWNS, stops });
    const [journey] = await find({ from: near });
    expect(journey?.legs.map(({ mode }) => mode)).toEqual(['walk', 'bus', 'bus']);
    expect(journey?.legs[0]?.origin).toMatchObject({ stopId: near, name: 'Epping Library', position: [lat, lng] });
    await expect(find({ from: near.replace('GDAV', 'MGA') })).rejects.toThrow();
  });

  it('a timetable journey from a group begins at the pole with the same number when its poles are unknown', async () => {
    const [journey] = await open()({ from: 'G1' });
    expect(written([journey as Journey])).toEqual([['early 08:10 08:40', 'onward 08:45 09:15']]);
  });

  it('a timetable journey begins at a group of poles that only the trip planner has', async () => {
    const [journey] = await open(TOWNS, { G1: ['1'] })({ from: 'G1' });
    expect(written([journey as Journey])).toEqual([['early 08:10 08:40', 'onward 08:45 09:15']]);
  });

  it('a timetable journey uses only the requested modes', async () => {
    expect(await open()({ modes: ['train'] })).toEqual([]);
  });
});
