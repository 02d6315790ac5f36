import { describe, expect, it } from 'vitest';
import type { BoardRequest } from '#src/boards/pager.ts';
import { getScheduledBoard } from '#src/boards/scheduled.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { leavesAt } from '#src/transit/departure.ts';
import { MODES } from '#src/transit/mode.ts';
import type { TripSpec } from '#test/realtime/feed-bytes.ts';
import {
  arrives,
  departs,
  NOW,
  noData,
  predict,
  run,
  skipped,
  TODAY,
  TRIP,
  timetable,
  trip,
  update,
  YESTERDAY,
} from '#test/realtime/prediction/predicted.ts';

interface Asked {
  isArrival?: boolean;
  file?: 'buses' | 'sydneytrains' | 'sydneyferries';
}

/** The departures or arrivals of a board of now. */
function board(planned: Timetable, stopId: string, trips: TripSpec[], { file, isArrival }: Asked = {}) {
  const request: BoardRequest = {
    queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
    request: { kind: 'departureMonitor', stopId, modes: MODES, at: null, ...(isArrival && { isArrival }) },
    limit: 20,
    showsCancelled: true,
    isWanted: () => true,
  };
  const live = new LiveTimetable(planned, [predict(planned, trips, file ? { source: file } : {})]);
  const stop = planned.findStop(stopId) as number;
  return getScheduledBoard(request, null, { live, stop, now: NOW }).departures;
}

/** The rows of a board of now, with times in minutes after the feed: "run stop time state". */
function rows(...asked: Parameters<typeof board>) {
  return board(...asked).map((one) => `${one.runId} ${one.stopId} ${(leavesAt(one) - NOW) / 60_000} ${one.state.kind}`);
}

const arrivals = (planned: Timetable, stopId: string, ...trips: TripSpec[]) =>
  rows(planned, stopId, trips, { isArrival: true });
const added = (tripId: string, stops: TripSpec['stops'], more: TripSpec = {}) =>
  trip(tripId, stops ?? [], { scheduleRelationship: TRIP.added, routeId: 'R', ...more });

describe('a board of departures', () => {
  const planned = timetable([
    run('R', [
      ['A', -5],
      ['S1', 5],
      ['B', 15],
      ['C', 25],
    ]),
  ]);

  it('a vehicle that skips the stop is cancelled there, and live elsewhere', () => {
    const trips = [trip('R', [skipped('S1'), update('B', { delay: 60 })])];
    expect(rows(planned, 'S', trips)).toEqual(['R S1 5 cancelled']);
    expect(rows(planned, 'B', trips)).toEqual(['R B 16 live']);
  });
  it('a vehicle that skips all later stops is cancelled where it ends, at its planned time', () => {
    const late = timetable([
      run('R', [
        ['A', -80],
        ['S1', -70],
        ['B', -60],
      ]),
    ]);
    const trips = [trip('R', [update('S1', { delay: 4500 }), skipped('B')])];
    expect(rows(late, 'S', trips)).toEqual([]);
    expect(arrivals(late, 'S', ...trips)).toEqual(['R S1 5 live']);
  });
  it('a vehicle whose feed has dropped the stop is not listed, however early it is', () => {
    expect(rows(planned, 'S', [trip('R', [update('B', { time: 4 })])])).toEqual([]);
  });
  it('a replaced run is cancelled at the stops that it leaves out, late or not', () => {
    const replaced = (delay: number) =>
      trip('R', [update('A', { time: -5 + delay }), update('B', { time: 15 + delay })], {
        scheduleRelationship: TRIP.replacement,
      });
    expect(rows(planned, 'S', [replaced(0)])).toEqual(['R S1 5 cancelled']);
    expect(rows(planned, 'S', [replaced(20)])).toEqual(['R S1 5 cancelled']);
  });
  it('a replaced run is listed where it calls only today, and at another platform of the station', () => {
    const stops = [
      update('A', { time: -5 }),
      update('S2', { time: 6 }),
      update('E', { time: 10 }),
      update('C', { time: 25 }),
    ];
    const trips = [trip('R', stops, { scheduleRelationship: TRIP.replacement })];
    expect(rows(planned, 'S', trips)).toEqual(['R S2 6 live']);
    expect(rows(planned, 'E', trips)).toEqual(['R E 10 live']);
  });
  it('a call that has moved to another stop is live there and cancelled where it was planned', () => {
    const stops = [
      update('A', { time: -5, delay: 0 }),
      update('E', { time: 6, delay: 60 }),
      update('B', { time: 16, delay: 60 }),
    ];
    expect(rows(planned, 'E', [trip('R', stops)])).toEqual(['R E 6 live']);
    expect(rows(planned, 'S', [trip('R', stops)])).toEqual(['R S1 5 cancelled']);
  });
  it('an added run is listed at each of its stops ahead but the last', () => {
    const trips = [added('X', [departs('D', { time: 3 }), update('A', { time: 8 }), arrives('E', { time: 20 })])];
    expect(['D', 'A', 'E'].map((stop) => rows(planned, stop, trips))).toEqual([['X D 3 live'], ['X A 8 live'], []]);
    expect(arrivals(planned, 'E', ...trips)).toEqual(['X E 20 live']);
    expect(arrivals(planned, 'D', ...trips)).toEqual([]);
  });
  it('an unscheduled or new run is listed as an added one', () => {
    const stops = [departs('D', { time: 3 }), arrives('E', { time: 20 })];
    for (const scheduleRelationship of [TRIP.unscheduled, TRIP.new]) {
      expect(rows(planned, 'D', [added('X', stops, { scheduleRelationship })])).toEqual(['X D 3 live']);
    }
  });
  it('an added run that has passed or has no time at the stop is not listed, and one that skips it is cancelled', () => {
    const stopsOf = (here: NonNullable<TripSpec['stops']>[number]) => [here, arrives('E', { time: 20 })];
    expect(rows(planned, 'D', [added('X', stopsOf(departs('D', { time: -2 })))])).toEqual([]);
    expect(rows(planned, 'D', [added('X', stopsOf(departs('D', { delay: 60 })))])).toEqual([]);
    const here = skipped('D', { departure: { time: NOW / 1000 + 60 } });
    expect(rows(planned, 'D', [added('X', stopsOf(here))])).toEqual(['X D 1 cancelled']);
  });
  it('a trip with a relationship that this version does not know runs as planned', () => {
    const future = trip('R', [update('S1', { time: 9 })], { scheduleRelationship: 42 });
    expect(rows(planned, 'S', [future])).toEqual(['R S1 5 scheduled']);
  });
  it('a feed has no runs of the files of other feeds', () => {
    const late = trip('R', [update('S1', { delay: 60 })]);
    expect(rows(planned, 'S', [late], { file: 'sydneytrains' })).toEqual(['R S1 5 scheduled']);
  });
});

describe('a board of arrivals', () => {
  const planned = timetable([
    run('R', [
      ['A', -5],
      ['S1', 5, 6],
      ['B', 15],
    ]),
  ]);

  it('a board of arrivals shows arrival times, early ones too', () => {
    expect(arrivals(planned, 'S', trip('R', [arrives('S1', { delay: -120 }, { departure: { delay: 600 } })]))).toEqual([
      'R S1 3 live',
    ]);
  });
  it('a board of arrivals shows where a vehicle arrives that goes no further, and not where it begins', () => {
    const short = trip('R', [update('S1', { delay: 60 }), skipped('B')]);
    expect(arrivals(planned, 'S', short)).toEqual(['R S1 6 live']);
    const begins = trip('R', [skipped('A'), update('S1', { delay: 60 }), update('B', { delay: 60 })]);
    expect(arrivals(planned, 'S', begins)).toEqual(['R S1 5 cancelled']);
    expect(rows(planned, 'S', [begins])).toEqual(['R S1 7 live']);
  });
  it('a board of arrivals shows the first stop that the run serves today as its origin', () => {
    const two = timetable([run('R', [5, 10, 15, 20])]);
    const originOf = (...trips: TripSpec[]) => board(two, 'D', trips, { isArrival: true }).map(({ origin }) => origin);
    expect(originOf()).toEqual(['A']);
    expect(originOf(trip('R', [skipped('A'), skipped('C')]))).toEqual(['B']);
    expect(originOf(trip('R', [], { scheduleRelationship: TRIP.canceled }))).toEqual(['A']);
    const stops = [skipped('A'), update('B', { time: 8 }), update('D', { time: 12 })];
    expect(originOf(added('X', stops))).toEqual(['B', 'A']);
  });
  it('a board of arrivals shows skipped and moved calls', () => {
    expect(arrivals(planned, 'S', trip('R', [skipped('S1'), update('B', { delay: 0 })]))).toEqual(['R S1 5 cancelled']);
    const moved = trip('R', [update('S2', { time: 7, delay: 120 }), update('B', { delay: 120 })]);
    expect(arrivals(planned, 'S', moved)).toEqual(['R S2 7 live']);
  });
});

describe('a loop that calls twice at a stop', () => {
  const planned = timetable([
    run('R', [
      ['S1', 5],
      ['B', 15],
      ['S1', 25],
      ['C', 35],
    ]),
  ]);
  const timed = (stop: string, minutes: number, delay: number) =>
    update(stop, { time: minutes + delay, delay: delay * 60 });

  it('each call at a stop that a run serves twice has its own update, by planned time', () => {
    const stops = [timed('S1', 5, 1), timed('B', 15, 1.5), timed('S1', 25, 2), timed('C', 35, 2)];
    expect(rows(planned, 'S', [trip('R', stops)])).toEqual(['R S1 6 live', 'R S1 27 live']);
  });
  it('the second call at a stop has its own update once the feed has dropped the first', () => {
    expect(rows(planned, 'S', [trip('R', [timed('B', 15, 1.5), timed('S1', 25, 2)])])).toEqual([
      'R S1 6.5 live',
      'R S1 27 live',
    ]);
    const begun = timetable([
      run('R', [
        ['S1', -2],
        ['B', 15],
        ['S1', 25],
        ['C', 35],
      ]),
    ]);
    expect(rows(begun, 'S', [trip('R', [timed('B', 15, 1.5), timed('S1', 25, 2)])])).toEqual(['R S1 27 live']);
  });
  it('updates without times for a stop of a loop belong to its last calls', () => {
    const stops = [update('S1', { delay: 30 }), update('B', { delay: 60 }), update('S1', { delay: 90 })];
    expect(rows(planned, 'S', [trip('R', stops)])).toEqual(['R S1 5.5 live', 'R S1 26.5 live']);
  });
  it('when one of two calls at a stop is skipped, the other one takes place', () => {
    const stops = [skipped('S1', { stopSequence: 1 }), timed('S1', 25, 1)];
    expect(rows(planned, 'S', [trip('R', stops)])).toEqual(['R S1 5 cancelled', 'R S1 26 live']);
  });
});

describe('the same trip on several days', () => {
  it('an update of today says nothing about the runs of yesterday and tomorrow', () => {
    const planned = timetable([run('R', [5, 15], { days: [YESTERDAY, TODAY, '20261128'] })]);
    const live = new LiveTimetable(planned, [predict(planned, [trip('R', [update('A', { delay: 60 })])])]);
    expect([20_783, 20_784, 20_785].map((day) => live.find(0, day) !== null)).toEqual([false, true, false]);
    const undated = predict(planned, [{ tripId: 'R', stops: [update('A', { delay: 60 })] }]);
    expect([20_783, 20_784, 20_785].map((day) => undated.findRun(0, day) >= 0)).toEqual([false, true, false]);
  });
  it('two updates with the same trip ID each apply to the day that they name', () => {
    const planned = timetable([run('R', [14 * 60, 15 * 60], { days: [TODAY, '20261128'] })]);
    const snapshot = predict(planned, [
      trip('R', [update('A', { delay: 60 })]),
      trip('R', [], { startDate: '20261128', scheduleRelationship: TRIP.canceled }),
    ]);
    const [today, tomorrow] = [snapshot.findRun(0, 20_784), snapshot.findRun(0, 20_785)];
    expect([snapshot.isCancelled(today), snapshot.isCancelled(tomorrow)]).toEqual([false, true]);
  });
});

it('a call for which the feed reports NO_DATA is scheduled', () => {
  const planned = timetable([
    run('R', [
      ['A', 5],
      ['S1', 12],
      ['B', 20],
    ]),
  ]);
  expect(rows(planned, 'S', [trip('R', [noData('S1')])])).toEqual(['R S1 12 scheduled']);
});
