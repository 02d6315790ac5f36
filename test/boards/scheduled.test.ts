import { describe, expect, it } from 'vitest';
import type { BoardRequest } from '#src/boards/pager.ts';
import { getScheduledBoard } from '#src/boards/scheduled.ts';
import { findCallAt } from '#src/operations/departures/calls.ts';
import { toDeparture as toDepartureBody } from '#src/operations/departures/departure.ts';
import { noLines } from '#src/operations/sources.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { MAY_ALIGHT } from '#src/timetable/call-flags.ts';
import { toDayNumber, toMoment } from '#src/timetable/service-day.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { isCallAt, type RunCall } from '#src/transit/call.ts';
import { type Departure, leavesAt } from '#src/transit/departure.ts';
import { MODES } from '#src/transit/mode.ts';
import { packAccess } from '#src/transit/vehicle-access.ts';
import type { TripSpec } from '#test/realtime/feed-bytes.ts';
import { predict } from '#test/realtime/prediction/predicted.ts';
import { type MadeTrip, scheduleFile } from '#test/support/schedule-file.ts';
import { buildTimetable } from '#test/support/timetable.ts';
import { ids } from '../support/ids.ts';

const TODAY = '20261126';
const day = toDayNumber(TODAY) as number;
const at = (time: string, of = day) => {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return toMoment(of, hours * 3600 + minutes * 60 + seconds);
};

/** Station S with two platforms, and three destinations. */
const STOPS = [
  { id: 'S', name: 'Central Station', isStation: true, wheelchair: 1 as const },
  { id: 'P1', name: 'Central Station Platform 1', parentId: 'S' },
  { id: 'P2', name: 'Central Station Platform 2', parentId: 'S' },
  ...['A', 'B', 'C'].map((id) => ({ id, name: `${id} Station` })),
];
const ROUTES = [
  { id: 'T1', mode: 'train' as const },
  { id: 'T2', mode: 'train' as const },
];
const days = [TODAY];

function timetableOf(trips: readonly MadeTrip[], lastDay = '20261210') {
  const made = { stops: STOPS, routes: ROUTES, trips, firstDay: '20261120', lastDay };
  return new Timetable(buildTimetable([scheduleFile('sydneytrains', made)], { importedAt: 0 }));
}

const trip = (id: string, leaves: string, more: Partial<MadeTrip> = {}): MadeTrip => ({
  id,
  route: 'T1',
  headsign: 'B',
  days,
  calls: [
    ['P1', leaves],
    ['B', addMinutes(leaves, 10)],
  ],
  ...more,
});

function addMinutes(time: string, more: number): string {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return `${Math.floor((hours * 60 + minutes + more) / 60)}:${String((minutes + more) % 60).padStart(2, '0')}`;
}

interface Requested extends Partial<Omit<BoardRequest, 'queryUpstream' | 'request'>> {
  timetable: Timetable;
  trips?: TripSpec[];
  now?: string | number;
  at?: number | null;
  stopId?: string;
  isArrival?: boolean;
}

function board({
  timetable,
  trips = [],
  now = '08:00:20',
  at: sent = null,
  stopId = 'S',
  isArrival,
  ...more
}: Requested) {
  const moment = typeof now === 'string' ? at(now) : now;
  const headerAt = Math.floor(moment / 1000) * 1000;
  const request: BoardRequest = {
    queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
    request: { kind: 'departureMonitor', stopId, modes: MODES, at: null, ...(isArrival && { isArrival }) },
    limit: 10,
    showsCancelled: false,
    isWanted: () => true,
    ...more,
  };
  const snapshots = trips.length > 0 ? [predict(timetable, trips, { source: 'sydneytrains', now: headerAt })] : [];
  return getScheduledBoard(request, sent, {
    live: new LiveTimetable(timetable, snapshots),
    stop: timetable.findStop(stopId) as number,
    now: moment,
  });
}

const rows = ({ departures }: { departures: readonly Departure[] }) =>
  departures.map((one) => `${one.runId} ${one.platform} ${clock(leavesAt(one))} ${one.state.kind}`);
const clock = (moment: number) => {
  const seconds = Math.round((moment - at('00:00')) / 1000);
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
};
const delayed = (stopId: string, delay: number) => ({ stopId, arrival: { delay }, departure: { delay } });
const SKIPPED = 1;
const CANCELED = 3;
const REPLACEMENT = 5;

describe('the usual load on a board', () => {
  /** Standing only on Thursdays, when these tests run. */
  const load = 3 << (2 * 3);
  const calls: MadeTrip['calls'] = [
    ['P1', '8:04', { load }],
    ['A', '8:10', { load: 1 << (2 * 3) }],
    ['B', '8:20'],
  ];
  const timetable = timetableOf([trip('usual', '8:04', { calls })]);
  const include = ['occupancy', 'calls'] as const;
  const body = (trips: TripSpec[], asked: Parameters<typeof toDepartureBody>[2]['include']) => {
    const found = board({ timetable, trips, showsCancelled: true });
    const [departure] = found.departures;
    if (!departure) throw new Error('no departure');
    const {
      occupancy,
      occupancy_source,
      calls: listed,
    } = toDepartureBody(
      departure,
      at('08:00'),
      { cancelled: 'include', include: asked },
      { calls: found.callsOf(departure), ids, lines: noLines },
    );
    return [occupancy, occupancy_source, listed?.map((call) => [call.occupancy, call.occupancy_source])];
  };

  it('a departure and its calls have the usual load of the weekday, if the caller asks for it', () => {
    const standing = ['STANDING_ONLY', 'usual'];
    expect(body([], include)).toEqual([...standing, [standing, ['MANY_SEATS', 'usual'], [null, null]]]);
    expect(body([], ['calls'])).toEqual([
      null,
      undefined,
      [
        [null, undefined],
        [null, undefined],
        [null, undefined],
      ],
    ]);
  });

  it('a reported occupancy replaces the usual one, and a cancelled train has none', () => {
    const stops = [{ ...delayed('P1', 0), occupancy: 1 }, delayed('A', 0), delayed('B', 0)];
    const live = body([{ tripId: 'usual', startDate: TODAY, stops }], include);
    expect(live).toEqual([
      'MANY_SEATS',
      'live',
      [
        ['MANY_SEATS', 'live'],
        ['MANY_SEATS', 'usual'],
        [null, null],
      ],
    ]);
    const cancelled = { tripId: 'usual', startDate: TODAY, scheduleRelationship: CANCELED, stops: [] };
    expect(body([cancelled], ['occupancy'])).toEqual([null, null, undefined]);
  });
});

describe('runs of a frequency on a board', () => {
  const everyTenMinutes = (headway: number) =>
    timetableOf([0, 600, 1200].map((shift) => trip('frequent', '8:00', { shift, headway })));
  const described = ({ departures }: { departures: readonly Departure[] }) =>
    departures.map((one) => `${clock(leavesAt(one))} ${one.state.kind} ${one.alerts.join()}`);
  const HINT = 'No fixed times: one leaves about every 10 minutes.';

  it('runs of a frequency are separate departures, which say that they have no fixed times', () => {
    expect(described(board({ timetable: everyTenMinutes(600) }))).toEqual([
      `08:00 scheduled ${HINT}`,
      `08:10 scheduled ${HINT}`,
      `08:20 scheduled ${HINT}`,
    ]);
  });

  it('runs of an exact frequency have fixed times', () => {
    expect(described(board({ timetable: everyTenMinutes(0) }))).toEqual([
      '08:00 scheduled ',
      '08:10 scheduled ',
      '08:20 scheduled ',
    ]);
  });

  it('a feed names a run of a frequency by its start, and its live times need no hint', () => {
    const live = { startDate: TODAY, startTime: '08:10:00', stops: [delayed('P1', 120)] };
    expect(described(board({ timetable: everyTenMinutes(600), trips: [{ tripId: 'frequent', ...live }] }))).toEqual([
      `08:00 scheduled ${HINT}`,
      '08:12 live ',
      `08:20 scheduled ${HINT}`,
    ]);
  });
});

describe('a board from the timetable', () => {
  it('a timetable board lists departures of all platforms from this minute on, without vehicles that end there', () => {
    const timetable = timetableOf([
      trip('gone', '7:58'),
      trip('first', '8:00'),
      trip('second', '8:04', {
        calls: [
          ['P2', '8:04'],
          ['C', '8:20'],
        ],
      }),
      trip('ends', '8:05', {
        calls: [
          ['A', '7:50'],
          ['P1', '8:05'],
        ],
      }),
      trip('not on', '8:06', {
        calls: [
          ['P1', '8:06', { flags: MAY_ALIGHT }],
          ['B', '8:16'],
        ],
      }),
    ]);
    const found = board({ timetable });
    expect(rows(found)).toEqual(['first Platform 1 08:00 scheduled', 'second Platform 2 08:04 scheduled']);
    expect([found.stopName, found.stopModes]).toEqual(['Central Station', ['train']]);
    expect(board({ timetable, stopId: 'P2' }).departures).toEqual(found.departures);
    expect(rows(board({ timetable, isArrival: true }))).toEqual(['ends Platform 1 08:05 scheduled']);
    expect(board({ timetable, isArrival: true }).departures[0]?.origin).toBe('A Station');
  });

  it('a timetable board rounds planned times down to the minute, like the trip planner', () => {
    const timetable = timetableOf([
      trip('R', '8:04', {
        calls: [
          ['P1', '8:04:50'],
          ['B', '8:16'],
        ],
      }),
    ]);
    expect(board({ timetable }).departures[0]?.plannedAt).toBe(at('08:04'));
  });

  it('a timetable board prefers the headsign of the call', () => {
    const timetable = timetableOf([
      trip('R', '8:04', {
        calls: [
          ['P1', '8:04', { headsign: 'City Circle' }],
          ['B', '8:16'],
        ],
      }),
    ]);
    expect(board({ timetable }).departures[0]?.destination).toBe('City Circle');
  });

  it('a timetable board gives the accessibility of the vehicle, else of the stop', () => {
    const timetable = timetableOf([trip('no word', '8:01'), trip('no', '8:02', { access: 2 })]);
    expect(board({ timetable }).departures.map((one) => [one.isWheelchairAccessible, one.access.wheelchairs])).toEqual([
      [true, null],
      [false, false],
    ]);
  });

  it('a timetable board says whether bicycles are allowed, where its schedule file does', () => {
    const timetable = timetableOf([
      trip('no word', '8:01'),
      trip('yes', '8:02', { access: packAccess('2', '1') }),
      trip('no', '8:03', { access: packAccess('', '2') }),
    ]);
    expect(board({ timetable }).departures.map((one) => one.access.bikes)).toEqual([null, true, false]);
  });

  it('a timetable board looks ahead to fill its limit, at most a week and never past the days covered', () => {
    const next = ['20261127', '20261202', '20261204'];
    const timetable = timetableOf(next.map((date) => trip(date, '9:00', { days: [date] })));
    expect(rows(board({ timetable })).map((row) => row.slice(0, 8))).toEqual(next.slice(0, 2));
    const short = timetableOf([trip('20261127', '9:00', { days: ['20261127'] })], '20261127');
    const found = board({ timetable: short, limit: 2 });
    expect(found.departures).toHaveLength(1);
    expect(found.knownUntil).toBeLessThanOrEqual(at('24:00', day + 1));
  });

  it("a timetable board lists the runs of yesterday's service day past midnight and when clocks change", () => {
    const yesterday = timetableOf([trip('night', '25:10', { days: ['20261125'] })]);
    expect(rows(board({ timetable: yesterday, now: '01:00' }))).toEqual(['night Platform 1 01:10 scheduled']);
    for (const [date, wall] of [
      ['20261003', '2026-10-03T16:30:00Z'],
      ['20270403', '2027-04-03T15:30:00Z'],
    ] as const) {
      const number = toDayNumber(date) as number;
      const of = {
        stops: STOPS,
        routes: ROUTES,
        trips: [trip('night', '26:30', { days: [date] })],
        firstDay: date,
        lastDay: '20270410',
      };
      const timetable = new Timetable(buildTimetable([scheduleFile('sydneytrains', of)], { importedAt: 0 }));
      const [found] = board({ timetable, now: at('26:00', number) }).departures;
      expect(found && new Date(found.plannedAt).toISOString(), date).toBe(wall.replace('Z', '.000Z'));
    }
  });

  it('a timetable board lists a vehicle that calls twice once for each departure', () => {
    const loop = trip('loop', '8:01', {
      calls: [
        ['P1', '8:01'],
        ['A', '8:10'],
        ['P1', '8:20'],
        ['B', '8:30'],
      ],
    });
    const found = board({ timetable: timetableOf([loop]) });
    expect(rows(found).map((row) => row.slice(0, 21))).toEqual(['loop Platform 1 08:01', 'loop Platform 1 08:20']);
    expect(new Set(found.departures.map(({ key }) => key)).size).toBe(2);
  });

  it('a timetable board with `per_route` lists the next few of each route and looks further ahead for other routes', () => {
    const often = Array.from({ length: 60 }, (_, n) => trip(`T1-${n}`, addMinutes('8:00', n)));
    const timetable = timetableOf([...often, trip('T2', '9:30', { route: 'T2' })]);
    const found = board({ timetable, perRoute: 2, limit: 3 });
    expect(found.departures.map(({ runId }) => runId)).toEqual(['T1-0', 'T1-1', 'T2']);
  });

  it('a timetable board with `to` lists only what calls there later, trains that continue under another number included', () => {
    const timetable = timetableOf([
      trip('direct', '8:01'),
      trip('elsewhere', '8:02', {
        calls: [
          ['P1', '8:02'],
          ['A', '8:09'],
        ],
      }),
      trip('before', '8:03', {
        calls: [
          ['B', '7:50'],
          ['P1', '8:03'],
          ['A', '8:10'],
        ],
      }),
      trip('first half', '8:04', {
        blockId: 'X',
        headsign: 'B via A',
        calls: [
          ['P1', '8:04'],
          ['A', '8:11'],
        ],
      }),
      trip('second half', '8:12', {
        blockId: 'X',
        calls: [
          ['A', '8:12'],
          ['B', '8:20'],
        ],
      }),
    ]);
    const found = board({
      timetable,
      only: { to: 'B' },
      isWanted: (_, calls) =>
        calls()
          ?.slice(1)
          .some(({ stopId }) => stopId === 'B') ?? false,
    });
    expect(found.departures.map(({ runId }) => runId)).toEqual(['direct', 'first half']);
  });

  it('a timetable board knows which vehicles call at a group of stops that only the trip planner lists', () => {
    const timetable = timetableOf([trip('direct', '8:01')]);
    timetable.useMembers((stopId) => (stopId === 'G7' ? ['A', 'B'] : []));
    const isAtGroup = (_: Departure, calls: () => RunCall[] | null) =>
      calls()
        ?.slice(1)
        .some((call) => isCallAt(call, 'G7')) ?? false;
    const found = board({ timetable, only: { to: 'G7' }, isWanted: isAtGroup });
    expect(found.departures.map(({ runId }) => runId)).toEqual(['direct']);
  });
});

describe('a timetable board with feeds', () => {
  const timetable = timetableOf([
    trip('early', '7:30', {
      calls: [
        ['A', '7:20'],
        ['P1', '7:30'],
        ['B', '8:40'],
      ],
    }),
    trip('R', '8:05'),
    trip('T', '8:10'),
  ]);

  it('a live timetable board lists a vehicle that is half an hour late and has not left', () => {
    const late = { tripId: 'early', stops: [delayed('P1', 2100), delayed('B', 2100)] };
    expect(rows(board({ timetable, trips: [late] }))[0]).toBe('early Platform 1 08:05 live');
    const onTime = { tripId: 'early', stops: [delayed('B', 0)] };
    expect(rows(board({ timetable, trips: [onTime] }))[0]).toBe('R Platform 1 08:05 scheduled');
  });

  it('a live timetable board sorts by best-known time, and shows cancellations and moved platforms', () => {
    const trips = [
      { tripId: 'R', stops: [delayed('P1', 600), delayed('B', 600)] },
      { tripId: 'T', stops: [{ stopId: 'P2', departure: { time: at('08:10') / 1000, delay: 0 } }, delayed('B', 0)] },
    ];
    expect(rows(board({ timetable, trips }))).toEqual(['T Platform 2 08:10 live', 'R Platform 1 08:15 live']);
    const off = [
      { tripId: 'R', scheduleRelationship: CANCELED },
      { tripId: 'T', stops: [{ stopId: 'P1', scheduleRelationship: SKIPPED }, delayed('B', 0)] },
    ];
    const cancelled = ['R Platform 1 08:05 cancelled', 'T Platform 1 08:10 cancelled'];
    expect(rows(board({ timetable, trips: off, showsCancelled: true }))).toEqual(cancelled);
    // Cancelled departures keep their position and fill no limit.
    expect(rows(board({ timetable, trips: off, limit: 1 }))).toEqual(cancelled);
  });

  it('a live timetable board gives the accessibility of the platform that a vehicle was moved to', () => {
    const stops = STOPS.map((stop) => (stop.id === 'P2' ? { ...stop, wheelchair: 2 as const } : stop));
    const made = { stops, routes: ROUTES, trips: [trip('T', '8:10')], firstDay: '20261120', lastDay: '20261210' };
    const steps = new Timetable(buildTimetable([scheduleFile('sydneytrains', made)], { importedAt: 0 }));
    const accessOf = (stopId: string) => {
      const moved = { tripId: 'T', stops: [delayed(stopId, 0), delayed('B', 0)] };
      const [found] = board({ timetable: steps, trips: [moved] }).departures;
      return [found?.platform, found?.isStopAccessible, found?.isWheelchairAccessible];
    };
    expect(accessOf('P1')).toEqual(['Platform 1', true, true]);
    expect(accessOf('P2')).toEqual(['Platform 2', false, false]);
  });

  it('a live timetable board matches both calls of a loop, however many departures lie between them', () => {
    const loop = trip('loop', '8:01', {
      calls: [
        ['P1', '8:01'],
        ['A', '8:10'],
        ['P1', '8:59'],
        ['B', '9:10'],
      ],
    });
    const others = Array.from({ length: 100 }, (_, n) => trip(`T${n}`, addMinutes('8:02', n % 50)));
    const trips = [{ tripId: 'loop', stops: ['P1', 'A', 'P1', 'B'].map((id, at) => delayed(id, 60 * (at + 1))) }];
    const isWanted = ({ runId }: Departure) => runId === 'loop';
    const found = board({ timetable: timetableOf([loop, ...others]), trips, isWanted, limit: 2 });
    expect(rows(found)).toEqual(['loop Platform 1 08:02 live', 'loop Platform 1 09:02 live']);
  });

  it('a live timetable board lists a TrainLink train once, although both feeds of trains have it', () => {
    const calls = [
      ['P1', '8:05'],
      ['C', '8:20'],
    ] as const;
    const made = { stops: STOPS, routes: ROUTES, firstDay: '20261120', lastDay: '20261210' };
    const double = 'SN33.1287.134.112.N.2.89912763';
    const both = [
      scheduleFile('nswtrains', { ...made, trips: [trip('SN33.140126.112.N.2.0805', '8:05', { calls })] }),
      scheduleFile('sydneytrains', { ...made, trips: [trip(double, '8:05', { calls })] }),
    ];
    const timed = (stopId: string, moment: string) => ({ stopId, departure: { time: at(moment) / 1000, delay: 0 } });
    const stops = [timed('P1', '08:05'), timed('C', '08:20')];
    const trips = [{ tripId: double, routeId: 'T1', scheduleRelationship: REPLACEMENT, stops }];
    const found = board({ timetable: new Timetable(buildTimetable(both, { importedAt: 0 })), trips });
    expect(rows(found)).toEqual(['SN33.140126.112.N.2.0805 Platform 1 08:05 scheduled']);
  });

  it('a live timetable board with `to` lists a replaced run that calls there only now', () => {
    const timed = (stopId: string, moment: string) => {
      const time = { time: at(moment) / 1000, delay: 0 };
      return { stopId, arrival: time, departure: time };
    };
    const stops = [timed('P1', '08:05'), timed('C', '08:10'), timed('B', '08:15')];
    const trips = [{ tripId: 'R', scheduleRelationship: REPLACEMENT, stops }];
    const found = board({
      timetable,
      trips,
      only: { to: 'C' },
      isWanted: (_, calls) =>
        calls()
          ?.slice(1)
          .some((call) => isCallAt(call, 'C')) ?? false,
    });
    expect(rows(found)).toEqual(['R Platform 1 08:05 live']);
  });

  it('a live timetable board with `to` lists a cancelled run that would have called there', () => {
    const trips = [{ tripId: 'R', scheduleRelationship: CANCELED, stops: [] }];
    const found = board({
      timetable,
      trips,
      only: { to: 'B' },
      showsCancelled: true,
      isWanted: (_, calls) => findCallAt(calls(), 'B') !== undefined,
    });
    expect(rows(found)).toContain('R Platform 1 08:05 cancelled');
  });

  it('a live timetable board lists a run that goes on from its planned last stop', () => {
    const ends = trip('ends', '7:50', {
      calls: [
        ['A', '7:50'],
        ['P1', '8:05'],
      ],
    });
    const timed = (stopId: string, moment: string) => {
      const time = { time: at(moment) / 1000, delay: 0 };
      return { stopId, arrival: time, departure: time };
    };
    const stops = [timed('A', '07:50'), timed('P1', '08:05'), timed('C', '08:20')];
    const trips = [{ tripId: 'ends', scheduleRelationship: REPLACEMENT, stops }];
    expect(rows(board({ timetable: timetableOf([ends]), trips }))).toEqual(['ends Platform 1 08:05 live']);
    const asPlanned = [{ ...trips[0], stops: stops.slice(0, 2) }];
    expect(rows(board({ timetable: timetableOf([ends]), trips: asPlanned }))).toEqual([]);
  });

  it('a live board of arrivals lists a run that begins before its planned first stop, and none at its first stop', () => {
    const timed = (stopId: string, moment: string) => {
      const time = { time: at(moment) / 1000, delay: 0 };
      return { stopId, arrival: time, departure: time };
    };
    const arrivals = (...stops: ReturnType<typeof timed>[]) => {
      const trips = [{ tripId: 'starts', scheduleRelationship: REPLACEMENT, stops }];
      return rows(board({ timetable: timetableOf([trip('starts', '8:10')]), trips, isArrival: true }));
    };
    const planned = [timed('P1', '08:10'), timed('B', '08:20')];
    expect(arrivals(timed('A', '08:00'), ...planned)).toEqual(['starts Platform 1 08:10 live']);
    expect(arrivals(...planned)).toEqual([]);
    expect(arrivals(timed('P2', '08:04'), timed('A', '08:07'), timed('B', '08:20'))).toEqual([]);
  });

  it('a live timetable board lists a run that only the feed has, with its line and last stop', () => {
    const time = (moment: string) => ({ time: at(moment) / 1000 });
    const added = {
      tripId: 'X',
      routeId: 'T2',
      scheduleRelationship: 1,
      stops: [
        { stopId: 'P2', departure: time('08:07') },
        { stopId: 'C', arrival: time('08:20') },
      ],
    };
    const found = board({ timetable, trips: [added] });
    expect(rows(found)[1]).toBe('X Platform 2 08:07 live');
    expect(found.departures[1]).toMatchObject({ route: 'T2', destination: 'C Station' });
    expect(found.callsOf(found.departures[1] as Departure)?.map(({ stopId }) => stopId)).toEqual(['P2', 'C']);
  });

  it('a live timetable board names the last stop that an added run does not skip, and its planned time without live data', () => {
    const time = (moment: string) => ({ time: at(moment) / 1000, delay: 0 });
    const NO_DATA = 2;
    const added = {
      tripId: 'X',
      routeId: 'T2',
      scheduleRelationship: 1,
      stops: [
        { stopId: 'P2', departure: time('08:07'), scheduleRelationship: NO_DATA },
        { stopId: 'B', arrival: time('08:14'), departure: time('08:14') },
        { stopId: 'C', arrival: time('08:20'), scheduleRelationship: SKIPPED },
      ],
    };
    const found = board({ timetable, trips: [added] });
    expect(rows(found)[1]).toBe('X Platform 2 08:07 scheduled');
    expect(found.departures[1]?.destination).toBe('B Station');
  });

  it('the calls of a departure begin with the departure itself', () => {
    const found = board({ timetable, trips: [{ tripId: 'R', stops: [delayed('P1', 60), delayed('B', 120)] }] });
    const calls = found.callsOf(found.departures[0] as Departure);
    expect(calls?.map((call) => [call.stopId, call.arrival?.realtimeAt, call.departure?.realtimeAt])).toEqual([
      ['P1', undefined, at('08:06')],
      ['B', at('08:17'), undefined],
    ]);
  });

  it('a live timetable board lists the planned departures of a past time', () => {
    const found = board({ timetable, at: at('07:00'), trips: [{ tripId: 'early', stops: [delayed('B', 0)] }] });
    expect(rows(found)[0]).toBe('early Platform 1 07:30 scheduled');
  });
});
