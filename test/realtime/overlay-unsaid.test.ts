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

describe('a run that is in no trusted feed', () => {
  it('a run in no trusted feed is scheduled, whether it is due or not', () => {
    const calls = [call(), train(), train('03:01'), call('02:58'), call('03:05', { runId: null })];
    const other = trip([timed('P1', '03:05')], { tripId: 'NonTimetabled.R' });
    expect(statesOf(calls, [other])).toEqual(calls.map(() => scheduled));
  });

  it('a run is not searched in the feed of another mode', () => {
    const trips = [trip([timed('P1', '03:05', 60)])];
    expect(statesOf([call()], trips, { modes: ['ferry'] })).toEqual([scheduled]);
  });
});

describe('a run with updates for other stops only', () => {
  const rows: Record<string, Row> = {
    'is as late as at the previous stop, unless it is a train': {
      calls: [call()],
      trips: [trip([timed('A', '03:01', 90), timed('B', '03:03', 120), timed('C', '03:09', 60)])],
      states: [live('03:07')],
    },
    'is as late as before the stops it skips': {
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
    'is scheduled long before when only later stops are left': {
      calls: [call('03:20')],
      trips: [trip([timed('A', '03:30', 60, { stopSequence: 9 })])],
      states: [scheduled],
    },
    'is scheduled where the feed gives no planned times': {
      calls: [call()],
      trips: [trip([delayed('A', 60)])],
      states: [scheduled],
    },
    'has passed if it is a train': {
      calls: [train('02:59'), train('03:00:50', { runId: 'Q' })],
      trips: [trip([delayed('A', 60)]), trip([delayed('A', 60)], { tripId: 'Q' })],
      states: [departed, departed],
    },
    'is scheduled if it is a train not due yet': {
      calls: [train()],
      trips: [trip([delayed('A', 60)])],
      states: [scheduled],
    },
  };
  it.each(Object.entries(rows))('a run without an update for the stop %s', (_, row) => check(row));
});

describe('upstream’s occupancy', () => {
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
  ])('the value %s in field 6 of a train’s stop update reads as %s', (number, occupancy) => {
    const update = delayed('P1', 0, number === undefined ? {} : { occupancy: number });
    check({ calls: [train()], trips: [trip([update])], states: [live('03:05', { occupancy })] });
  });
});

describe('a run in two trusted feeds', () => {
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

  it('a run in two trusted feeds takes the state that says more than "scheduled"', () => {
    expect(stateOf(silent, speaking)).toEqual([live('03:06', { headerAt: later * 1000 })]);
    expect(stateOf(speaking, silent)).toEqual([live('03:06', { headerAt: at0300 * 1000 })]);
  });

  it('a run in two trusted feeds takes the state of the first when both have one', () => {
    expect(stateOf(speaking, speaking)).toEqual([live('03:06', { headerAt: at0300 * 1000 })]);
  });
});

it('nothing is live without a trusted feed', () => {
  const timetable = { stopIds: new Set(['P1']), calls: [call(), train()] };
  const unmoved = { state: scheduled, movedTo: null };
  expect(overlayStop(timetable, [], at('03:00'))).toEqual({ calls: [unmoved, unmoved], added: [] });
});
