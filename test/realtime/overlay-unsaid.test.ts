import { describe, expect, it } from 'vitest';
import { overlayStop } from '#src/realtime/overlay.ts';
import { feedOf, type TripSpec } from './feed-bytes.ts';
import {
  at,
  call,
  check,
  delayed,
  departed,
  live,
  type Row,
  STOP,
  scheduled,
  statesOf,
  timed,
  train,
  trip,
} from './overlay-case.ts';

describe('a run that no living feed speaks of', () => {
  it('is scheduled, whether it is due or not', () => {
    const calls = [call(), train(), train('03:01'), call('02:58'), call('03:05', { runId: null })];
    const other = trip([timed('P1', '03:05')], { tripId: 'NonTimetabled.R' });
    expect(statesOf(calls, [other])).toEqual(calls.map(() => scheduled));
  });

  it('is not looked for in the feed of another mode', () => {
    const trips = [trip([timed('P1', '03:05', 60)])];
    expect(statesOf([call()], trips, { modes: ['ferry'] })).toEqual([scheduled]);
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
    'is scheduled when only later stops are left long before': {
      calls: [call('03:20')],
      trips: [trip([timed('A', '03:30', 60, { stopSequence: 9 })])],
      states: [scheduled],
    },
    'is scheduled where the feed gives no planned times': {
      calls: [call()],
      trips: [trip([delayed('A', 60)])],
      states: [scheduled],
    },
    'is a train that has passed': {
      calls: [train('02:59'), train('03:00:50', { runId: 'Q' })],
      trips: [trip([delayed('A', 60)]), trip([delayed('A', 60)], { tripId: 'Q' })],
      states: [departed, departed],
    },
    'is a train that is not due yet, and scheduled': {
      calls: [train()],
      trips: [trip([delayed('A', 60)])],
      states: [scheduled],
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

describe('a run that two living feeds speak of', () => {
  const silent = trip([timed('P1', '03:05', 0, { scheduleRelationship: STOP.noData })]);
  const speaking = trip([timed('P1', '03:05', 60)]);
  const [at0300, later] = [at('03:00') / 1000, at('03:00:10') / 1000];
  const stateOf = (...trips: TripSpec[]) => {
    const timetable = { stopIds: new Set(['P1']), calls: [call()] };
    const feeds = trips.map((one, index) => ({
      source: 'buses' as const,
      modes: ['bus'] as const,
      feed: feedOf({ timestamp: index === 0 ? at0300 : later, trips: [one] }),
    }));
    return overlayStop(timetable, feeds, at('03:00:10')).calls.map(({ state }) => state);
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
  const timetable = { stopIds: new Set(['P1']), calls: [call(), train()] };
  const unmoved = { state: scheduled, movedTo: null };
  expect(overlayStop(timetable, [], at('03:00'))).toEqual({ calls: [unmoved, unmoved], added: [] });
});
