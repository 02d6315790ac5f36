import { describe, expect, it } from 'vitest';
import {
  at,
  call,
  cancelled,
  check,
  delayed,
  departed,
  live,
  type Row,
  STOP,
  scheduled,
  skipped,
  statesOf,
  TRIP,
  timed,
  train,
  trip,
} from './overlay-case.ts';

describe('a scheduled trip', () => {
  const rows: Record<string, Row> = {
    'of a train with a delay and no time is live at the planned time plus the delay': {
      calls: [train()],
      trips: [trip([delayed('P1', 126)])],
      states: [live('03:07:06')],
    },
    'of a train with delay and time is live at the planned time plus the delay, ignoring seconds of the feed’s timetable':
      {
        calls: [train()],
        trips: [trip([timed('P1', '03:05:36', 18)])],
        states: [live('03:05:18')],
      },
    'of a train on time is live at the planned time': {
      calls: [train()],
      trips: [trip([delayed('P1', 0)])],
      states: [live('03:05')],
    },
    'of a bus is live at the time in the feed, ignoring seconds of the feed’s timetable': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05:36', 60)])],
      states: [live('03:06:36')],
    },
    'of a ferry with a delay only is live at the planned time plus the delay': {
      calls: [call('03:05', { mode: 'ferry' })],
      trips: [trip([delayed('P1', 90)])],
      states: [live('03:06:30')],
    },
    'leaves at the time of the departure, not of the arrival': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05', 54, { arrival: { delay: -30, time: at('03:03') / 1000 } })])],
      states: [live('03:05:54')],
    },
    'with an arrival only leaves no earlier than planned': {
      calls: [call(), call('03:40', { runId: 'Q' })],
      trips: [
        trip([{ stopId: 'P1', arrival: { delay: -60, time: at('03:04') / 1000 } }]),
        trip([{ stopId: 'P1', arrival: { delay: 60, time: at('03:41') / 1000 } }], { tripId: 'Q' }),
      ],
      states: [live('03:05'), live('03:41')],
    },
    'with NO_DATA is not live, although a delay and a time are given': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05', 0, { scheduleRelationship: STOP.noData })])],
      states: [scheduled],
    },
    'with the stop SKIPPED is cancelled here and live elsewhere': {
      calls: [train(), train('03:09', { stopId: 'P2' })],
      trips: [trip([skipped('P1'), delayed('P2', 60)])],
      states: [cancelled, live('03:10')],
    },
    'of a bus with all further stops SKIPPED is cancelled here and live before': {
      calls: [call('03:05'), call('03:09', { stopId: 'P2' })],
      trips: [trip([timed('P1', '03:05', 60), timed('P2', '03:09', 60), skipped('A'), skipped('B')])],
      states: [live('03:06'), cancelled],
    },
    'of a train that skips the last stop of its run is live, because it may go on as another run': {
      calls: [train()],
      trips: [trip([delayed('P1', 60), skipped('A')])],
      states: [live('03:06')],
    },
    'with an update here without time and delay is not live': {
      calls: [call()],
      trips: [trip([{ stopId: 'P1' }])],
      states: [scheduled],
    },
    'with a delay of more than half a day is not live': {
      calls: [call()],
      trips: [trip([delayed('P1', 43_201)])],
      states: [scheduled],
    },
    'of a train without any update is not live': {
      calls: [train()],
      trips: [trip([])],
      states: [scheduled],
    },
    'that is due in a minute and has no updates is not live': {
      calls: [train('03:01'), call('03:01')],
      trips: [trip([])],
      states: [scheduled, scheduled],
    },
    'without a relationship counts as scheduled': {
      calls: [train()],
      trips: [{ tripId: 'R', stops: [{ stopId: 'P1', departure: { delay: 6 } }] }],
      states: [live('03:05:06')],
    },
  };
  it.each(Object.entries(rows))('a scheduled trip %s', (_, row) => check(row));
});

describe('a run', () => {
  it.each([
    ['lightrail', '43588-1185'],
    ['lightrail', '47597-10273:1001'],
    ['lightrail', '46697-50149:1000'],
    ['ferry', 'MFF.VJ235'],
    ['coach', '151.050525.127.1135'],
  ] as const)('a %s run with an ID like %s is found by that ID only', (mode, runId) => {
    const calls = [call('03:05', { mode, runId }), call('03:05', { mode, runId: `${runId}9` })];
    check({ calls, trips: [trip([timed('P1', '03:05', 60)], { tripId: runId })], states: [live('03:06'), scheduled] });
  });
});

describe('a trip that does not follow the timetable', () => {
  const replacement = { scheduleRelationship: TRIP.replacement };
  const rows: Record<string, Row> = {
    'CANCELED is cancelled at every stop': {
      calls: [train(), train('03:30')],
      trips: [trip([], { scheduleRelationship: TRIP.canceled })],
      states: [cancelled, cancelled],
    },
    'DELETED is cancelled at every stop': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05')], { scheduleRelationship: 7 })],
      states: [cancelled],
    },
    'REPLACEMENT with a call here is live': {
      calls: [train()],
      trips: [trip([timed('A', '03:01', 21), timed('P1', '03:05:06', 21)], replacement)],
      states: [live('03:05:21')],
    },
    'REPLACEMENT that omits the stop is cancelled here': {
      calls: [train()],
      trips: [trip([timed('A', '03:01'), timed('B', '03:12')], replacement)],
      states: [cancelled],
    },
    'REPLACEMENT that omits the stop and is late is cancelled here, not departed': {
      calls: [train('02:59')],
      trips: [trip([timed('A', '02:55', 600), timed('B', '03:12', 600)], replacement)],
      states: [cancelled],
    },
    'REPLACEMENT that begins at a later stop is cancelled here': {
      calls: [train()],
      trips: [trip([timed('B', '03:12')], replacement)],
      states: [cancelled],
    },
    'REPLACEMENT that has just left has departed': {
      calls: [train('03:00')],
      trips: [trip([timed('B', '03:12')], replacement)],
      states: [departed],
    },
    'REPLACEMENT at another platform is live there': {
      calls: [train()],
      trips: [trip([timed('A', '03:01'), timed('P2', '03:05', 60)], replacement)],
      states: [live('03:06')],
      moved: ['P2'],
    },
    'REPLACEMENT that ends here is cancelled': {
      calls: [train()],
      trips: [
        trip([timed('A', '03:01'), { stopId: 'P1', arrival: { delay: 0, time: at('03:05') / 1000 } }], replacement),
      ],
      states: [cancelled],
    },
    'REPLACEMENT that calls at an unplanned stop adds a call': {
      calls: [],
      trips: [trip([timed('P1', '03:05'), timed('B', '03:12')], replacement)],
      states: [],
      adds: ['R P1 03:05'],
    },
    'REPLACEMENT of a trip that is planned here at another time adds no call': {
      calls: [],
      trips: [trip([timed('P1', '03:05'), timed('B', '03:12')], replacement)],
      isPlanned: (tripId) => tripId === 'R',
      states: [],
    },
    'REPLACEMENT that has passed here with a time and no delay is live in the past': {
      calls: [train('02:58')],
      trips: [trip([{ stopId: 'P1', departure: { time: at('02:59') / 1000 } }, timed('A', '03:02', 60)], replacement)],
      states: [live('02:59')],
    },
    'ADDED that is listed as planned is live': {
      calls: [call('03:05', { mode: 'lightrail' })],
      trips: [trip([{ stopId: 'P1', departure: { time: at('03:07') / 1000 } }], { scheduleRelationship: TRIP.added })],
      states: [live('03:07')],
    },
    'ADDED that is listed at the stop without a platform is live at its platform': {
      calls: [call('03:05', { stopId: 'S' })],
      trips: [
        trip(
          ['A', 'P1'].map((stopId, index) => ({ stopId, departure: { time: at(`03:0${index + 6}`) / 1000 } })),
          { scheduleRelationship: TRIP.added },
        ),
      ],
      states: [live('03:07')],
      moved: ['P1'],
    },
    'ADDED without a planned trip adds its calls to the planned ones': {
      calls: [call()],
      trips: [
        trip([timed('P1', '03:08'), timed('P1', '03:28'), timed('A', '03:38')], {
          tripId: 'R:X',
          scheduleRelationship: TRIP.added,
        }),
      ],
      states: [scheduled],
      adds: ['R:X P1 03:08', 'R:X P1 03:28'],
    },
    'UNSCHEDULED or NEW adds its calls too': {
      calls: [],
      trips: [
        trip([timed('P2', '03:08'), timed('A', '03:18')], { scheduleRelationship: TRIP.unscheduled }),
        trip([timed('P1', '03:09'), timed('A', '03:18')], { tripId: 'Q', scheduleRelationship: 8 }),
      ],
      states: [],
      adds: ['Q P1 03:09', 'R P2 03:08'],
    },
    'ADDED that has passed, that ends here, that skips the stop, that calls elsewhere or at no time adds nothing': {
      calls: [],
      trips: [
        trip([timed('P1', '02:58'), timed('A', '03:18')], { tripId: 'passed', scheduleRelationship: TRIP.added }),
        trip([timed('A', '03:02'), timed('P1', '03:08')], { tripId: 'ends', scheduleRelationship: TRIP.added }),
        trip([timed('P1', '03:08', 0, { scheduleRelationship: 1 }), timed('A', '03:18')], {
          tripId: 'skips',
          scheduleRelationship: 1,
        }),
        trip([timed('A', '03:08')], { tripId: 'elsewhere', scheduleRelationship: TRIP.added }),
        trip([delayed('P1', 60), timed('A', '03:18')], { tripId: 'no time', scheduleRelationship: TRIP.added }),
      ],
      states: [],
    },
    'DUPLICATED, with the ID of another run, is not live and adds nothing': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05'), timed('A', '03:18')], { scheduleRelationship: TRIP.duplicated })],
      states: [scheduled],
    },
    'with a relationship of a future version is not live and adds nothing': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05'), timed('A', '03:18')], { scheduleRelationship: 42 })],
      states: [scheduled],
    },
  };
  it.each(Object.entries(rows))('a trip marked %s', (_, row) => check(row));
});

describe('a board of arrivals', () => {
  const replacement = { scheduleRelationship: TRIP.replacement };
  const arrives = (stopId: string, planned: string, delay: number, more = {}) => ({
    stopId,
    arrival: { delay, time: at(planned) / 1000 + delay },
    ...more,
  });
  const rows: Record<string, Row> = {
    'shows arrival times, not departure times': {
      calls: [call('03:05')],
      trips: [trip([arrives('P1', '03:05', 60, { departure: { delay: 0, time: at('03:20') / 1000 } })])],
      states: [live('03:06')],
    },
    'shows an early arrival as early': {
      calls: [call('03:05'), train('03:05', { runId: 'Q' })],
      trips: [trip([arrives('P1', '03:05', -120)]), trip([delayed('P1', -120)], { tripId: 'Q' })],
      states: [live('03:03'), live('03:03')],
    },
    'shows the last call of a run': {
      calls: [train()],
      trips: [trip([timed('A', '03:01'), arrives('P1', '03:05', 60)], replacement)],
      states: [live('03:06')],
    },
    'shows skipped and moved calls': {
      calls: [train(), call('03:09', { runId: 'Q' })],
      trips: [
        trip([skipped('P1'), delayed('A', 60)]),
        trip([timed('A', '03:01'), arrives('P2', '03:09', 60)], { tripId: 'Q' }),
      ],
      states: [cancelled, live('03:10')],
      moved: [null, 'P2'],
    },
    'shows no arrival where a replacement begins': {
      calls: [train()],
      trips: [
        trip(
          [{ stopId: 'P1', stopSequence: 1, departure: { time: at('03:05') / 1000 } }, timed('A', '03:09')],
          replacement,
        ),
      ],
      states: [cancelled],
    },
    'adds arrivals of added trips except at their first stop': {
      calls: [],
      trips: [
        trip([timed('P1', '03:05', 0, { stopSequence: 1 }), timed('P2', '03:09')], {
          scheduleRelationship: TRIP.added,
        }),
      ],
      states: [],
      adds: ['R P2 03:09'],
    },
  };
  it.each(Object.entries(rows))('a board of arrivals %s', (_, row) => check({ ...row, isArrival: true }));
});

describe('a call that names its feed', () => {
  it('a call that names its feed is searched there, whatever its mode', () => {
    const trips = [trip([timed('P1', '03:05', 60)])];
    expect(statesOf([call('03:05', { feed: 'buses', mode: 'coach' })], trips)).toEqual([live('03:06')]);
    expect(statesOf([call('03:05', { feed: 'nswtrains' })], trips)).toEqual([scheduled]);
    expect(statesOf([call('03:05', { feed: null })], trips)).toEqual([scheduled]);
  });
});
