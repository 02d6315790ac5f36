import { describe, it } from 'vitest';
import {
  at,
  call,
  cancelled,
  check,
  delayed,
  live,
  type Row,
  STOP,
  scheduled,
  skipped,
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
    'of a train with both is live at the planned time plus the delay, whatever the seconds of the feed’s timetable': {
      calls: [train()],
      trips: [trip([timed('P1', '03:05:36', 18)])],
      states: [live('03:05:18')],
    },
    'of a train on time is live at the planned time': {
      calls: [train()],
      trips: [trip([delayed('P1', 0)])],
      states: [live('03:05')],
    },
    'of a bus is live at the time, whatever the seconds of the feed’s timetable': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05:36', 60)])],
      states: [live('03:06:36')],
    },
    'of a ferry with a delay only is live at the planned time plus the delay': {
      calls: [call('03:05', { mode: 'ferry' })],
      trips: [trip([delayed('P1', 90)])],
      states: [live('03:06:30')],
    },
    'leaves at the departure’s time, not at the arrival’s': {
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
    'with an update here that says neither time nor delay is not live': {
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
    'of a train that is due in a minute and has no updates is not live, and the departure monitor is asked': {
      calls: [train('03:01')],
      trips: [trip([])],
      states: [scheduled],
      asks: ['no updates'],
    },
    'of a bus that is due in a minute and has no updates is not live': {
      calls: [call('03:01')],
      trips: [trip([])],
      states: [scheduled],
    },
    'without a relationship is taken as scheduled': {
      calls: [train()],
      trips: [{ tripId: 'R', stops: [{ stopId: 'P1', departure: { delay: 6 } }] }],
      states: [live('03:05:06')],
    },
  };
  it.each(Object.entries(rows))('%s', (_, row) => check(row));
});

describe('a run', () => {
  it.each([
    ['lightrail', '43588-1185'],
    ['lightrail', '47597-10273:1001'],
    ['lightrail', '46697-50149:1000'],
    ['ferry', 'MFF.VJ235'],
    ['coach', '151.050525.127.1135'],
  ] as const)('of the %s with an identifier like %s is found by it, and no other is', (mode, runId) => {
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
    'REPLACEMENT without a call here is not live, and the departure monitor is asked': {
      calls: [train()],
      trips: [trip([timed('A', '03:01'), timed('B', '03:12')], replacement)],
      states: [scheduled],
      asks: ['REPLACEMENT without a call here'],
    },
    'REPLACEMENT without a call here that the departure monitor has cancelled stays cancelled': {
      calls: [train('03:05', { state: { kind: 'cancelled' } })],
      trips: [trip([timed('A', '03:01'), timed('P2', '03:05')], replacement)],
      states: [cancelled],
      asks: ['not listed'],
    },
    'REPLACEMENT that has ended its run here is not live, and the departure monitor is asked': {
      calls: [train()],
      trips: [
        trip([timed('A', '03:01'), { stopId: 'P1', arrival: { delay: 0, time: at('03:05') / 1000 } }], replacement),
      ],
      states: [scheduled],
      asks: ['ends here'],
    },
    'REPLACEMENT that has passed here, listed with its time and no delay, is live in the past': {
      calls: [train('02:58')],
      trips: [trip([{ stopId: 'P1', departure: { time: at('02:59') / 1000 } }, timed('A', '03:02', 60)], replacement)],
      states: [live('02:59')],
    },
    'ADDED that the departure monitor lists is live': {
      calls: [call('03:05', { mode: 'lightrail' })],
      trips: [trip([{ stopId: 'P1', departure: { time: at('03:07') / 1000 } }], { scheduleRelationship: TRIP.added })],
      states: [live('03:07')],
    },
    'ADDED that the departure monitor lists at the stop, without a platform, is live, and it is asked for the platform':
      {
        calls: [call('03:05', { stopId: 'S' })],
        trips: [
          trip(
            ['A', 'P1'].map((stopId, index) => ({ stopId, departure: { time: at(`03:0${index + 6}`) / 1000 } })),
            {
              scheduleRelationship: TRIP.added,
            },
          ),
        ],
        states: [live('03:07')],
        asks: ['moved to P1'],
      },
    'ADDED that the departure monitor does not list lets it be asked': {
      calls: [call()],
      trips: [trip([timed('P1', '03:08')], { tripId: 'R:X', scheduleRelationship: TRIP.added })],
      states: [scheduled],
      asks: ['not listed'],
    },
    'UNSCHEDULED that the departure monitor does not list lets it be asked': {
      calls: [],
      trips: [trip([timed('P2', '03:08')], { scheduleRelationship: TRIP.unscheduled })],
      states: [],
      asks: ['not listed'],
    },
    'ADDED that has passed, that ends here, that skips the stop or that calls elsewhere is nothing to ask about': {
      calls: [],
      trips: [
        trip([timed('P1', '02:58')], { tripId: 'passed', scheduleRelationship: TRIP.added }),
        trip([{ stopId: 'P1', arrival: { time: at('03:08') / 1000 } }], { tripId: 'ends', scheduleRelationship: 1 }),
        trip([timed('P1', '03:08', 0, { scheduleRelationship: 1 })], { tripId: 'skips', scheduleRelationship: 1 }),
        trip([timed('A', '03:08')], { tripId: 'elsewhere', scheduleRelationship: TRIP.added }),
        trip([timed('P1', '05:08')], { tripId: 'beyond the listed', scheduleRelationship: TRIP.added }),
      ],
      states: [],
    },
    'DUPLICATED has the identifier of another run: not live, and the departure monitor is asked': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05')], { scheduleRelationship: TRIP.duplicated })],
      states: [scheduled],
      asks: ['DUPLICATED'],
    },
    'with a relationship of the future: not live, and the departure monitor is asked': {
      calls: [call()],
      trips: [trip([timed('P1', '03:05')], { scheduleRelationship: 42 })],
      states: [scheduled],
      asks: ['UNKNOWN'],
    },
  };
  it.each(Object.entries(rows))('%s', (_, row) => check(row));
});
