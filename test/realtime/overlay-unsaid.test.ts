import { describe, expect, it } from 'vitest';
import { overlayStop } from '#src/realtime/overlay.ts';
import { feedOf, type TripSpec } from './feed-bytes.ts';
import {
  at,
  call,
  cancelled,
  check,
  delayed,
  departed,
  live,
  overlayOf,
  type Row,
  STOP,
  scheduled,
  timed,
  train,
  trip,
} from './overlay-case.ts';

describe('a run that no living feed speaks of', () => {
  const wasLive = { state: { kind: 'live', leavesAt: at('03:07') } as const };
  const rows: Record<string, Row> = {
    'and that never was live is not live': { calls: [call(), train()], trips: [], states: [scheduled, scheduled] },
    'and that was live is not live any more, and the departure monitor is asked': {
      calls: [call('03:05', wasLive)],
      trips: [trip([timed('P1', '03:05')], { tripId: 'NonTimetabled.R' })],
      states: [scheduled],
      asks: ['gone from the feed'],
    },
    'and that was about to leave has departed': {
      calls: [call('02:58', { state: { kind: 'live', leavesAt: at('03:00:30') } })],
      trips: [],
      states: [departed],
    },
    'and that the departure monitor has cancelled stays cancelled': {
      calls: [call('03:05', { state: { kind: 'cancelled' } })],
      trips: [],
      states: [cancelled],
    },
    'because the authority gives it no identifier is not live, whatever was said before': {
      calls: [call('03:05', { ...wasLive, runId: null })],
      trips: [],
      states: [scheduled],
    },
    'and that is a train due in a minute lets the departure monitor be asked': {
      calls: [train('03:01'), train('03:03')],
      trips: [],
      states: [scheduled, scheduled],
      asks: ['no updates'],
    },
  };
  it.each(Object.entries(rows))('%s', (_, row) => check(row));

  it('is not looked for in the feed of another mode', () => {
    const trips = [trip([timed('P1', '03:05', 60)])];
    expect(overlayOf([call()], trips, { modes: ['ferry'] }).states).toEqual([scheduled]);
  });
});

describe('a run with updates, but none for the stop', () => {
  const rows: Record<string, Row> = {
    'is as late as at the last stop before, unless it is a train': {
      calls: [call()],
      trips: [trip([timed('A', '03:01', 90), timed('B', '03:03', 120), timed('C', '03:09', 60)])],
      states: [live('03:07')],
    },
    'is as late as before the stops that it skips': {
      calls: [call()],
      trips: [trip([timed('A', '03:01', 90), timed('B', '03:03', 0, { scheduleRelationship: STOP.skipped })])],
      states: [live('03:06:30')],
    },
    'is not live after a stop with NO_DATA': {
      calls: [call()],
      trips: [trip([timed('A', '03:01', 90), timed('B', '03:03', 0, { scheduleRelationship: STOP.noData })])],
      states: [scheduled],
    },
    'has passed when only later stops are left': {
      calls: [call('03:02')],
      trips: [trip([timed('A', '03:04', 60, { stopSequence: 9 })])],
      states: [departed],
    },
    'does not call when only later stops are left long before: the departure monitor is asked': {
      calls: [call('03:20')],
      trips: [trip([timed('A', '03:30', 60, { stopSequence: 9 })])],
      states: [scheduled],
      asks: ['no call here'],
    },
    'gives no planned times: it is not live, and the departure monitor is asked if it was': {
      calls: [call(), call('03:05', { runId: 'Q', state: { kind: 'live', leavesAt: at('03:05') } })],
      trips: [trip([delayed('A', 60)]), trip([delayed('A', 60)], { tripId: 'Q' })],
      states: [scheduled, scheduled],
      asks: ['no call here'],
    },
    'is a train that has passed': {
      calls: [train('02:59'), train('02:57', { runId: 'Q', state: { kind: 'live', leavesAt: at('03:00:50') } })],
      trips: [trip([delayed('A', 60)]), trip([delayed('A', 60)], { tripId: 'Q' })],
      states: [departed, departed],
    },
    'is a train that is not due yet: it is not live, and the departure monitor is asked': {
      calls: [train()],
      trips: [trip([delayed('A', 60)])],
      states: [scheduled],
      asks: ['SCHEDULED without a call here'],
    },
  };
  it.each(Object.entries(rows))('%s', (_, row) => check(row));
});

describe('the authority’s occupancy', () => {
  it.each([
    [0, 'MANY_SEATS'],
    [1, 'MANY_SEATS'],
    [2, 'FEW_SEATS'],
    [3, 'STANDING_ONLY'],
    [4, 'STANDING_ONLY'],
    [5, 'STANDING_ONLY'],
    [6, null],
    [7, null],
    [undefined, null],
  ])('%s in field 6 of a train’s stop update reads as %s', (number, occupancy) => {
    const update = delayed('P1', 0, number === undefined ? {} : { occupancy: number });
    check({ calls: [train()], trips: [trip([update])], states: [live('03:05', { occupancy })] });
  });
});

describe('a departure that the departure monitor has cancelled', () => {
  it('stays so while the feed says that it runs, and the departure monitor is asked', () => {
    check({
      calls: [call('03:05', { state: { kind: 'cancelled' } })],
      trips: [trip([timed('P1', '03:05')])],
      states: [cancelled],
      asks: ['runs again'],
    });
  });
});

describe('a run that two living feeds speak of', () => {
  const silent = trip([timed('P1', '03:05', 0, { scheduleRelationship: STOP.noData })]);
  const speaking = trip([timed('P1', '03:05', 60)]);
  const [at0300, later] = [at('03:00') / 1000, at('03:00:10') / 1000];
  const stateOf = (...trips: TripSpec[]) => {
    const timetable = { stopIds: new Set(['P1']), calls: [call()], coveredUntil: at('05:00') };
    const feeds = trips.map((one, index) => ({
      source: 'buses' as const,
      modes: ['bus'] as const,
      feed: feedOf({ timestamp: index === 0 ? at0300 : later, trips: [one] }),
    }));
    return overlayStop(timetable, feeds, at('03:00:10')).states;
  };

  it('is what the one says that says more than that it is scheduled', () => {
    expect(stateOf(silent, speaking)).toEqual([live('03:06', { headerAt: later * 1000 })]);
    expect(stateOf(speaking, silent)).toEqual([live('03:06', { headerAt: at0300 * 1000 })]);
  });

  it('is what the first says where both do', () => {
    expect(stateOf(speaking, speaking)).toEqual([live('03:06', { headerAt: at0300 * 1000 })]);
  });
});

it('without a living feed nothing is live', () => {
  const timetable = { stopIds: new Set(['P1']), calls: [call(), train()], coveredUntil: at('05:00') };
  expect(overlayStop(timetable, [], at('03:00')).states).toEqual([scheduled, scheduled]);
});
