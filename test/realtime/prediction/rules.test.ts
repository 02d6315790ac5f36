import { describe, expect, it } from 'vitest';
import type { StopSpec, TripSpec } from '../feed-bytes.ts';
import {
  arrives,
  calls,
  callsOf,
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
} from './predicted.ts';

type Calls = Parameters<typeof run>[1];

/** The calls of run R, planned as given, with these stop updates. */
function predicted(
  planned: Calls,
  stops: StopSpec[],
  more: TripSpec = {},
  file: Parameters<typeof timetable>[1] = 'buses',
) {
  const ofDay = timetable([run('R', planned)], file);
  return callsOf(ofDay, predict(ofDay, [trip('R', stops, more)], { source: file }), 'R');
}

describe('the time of a call', () => {
  it('a bus has the time of the feed, ignoring other seconds in the timetable of the feed', () => {
    expect(predicted([5, 10], [update('A', { time: 6.6, delay: 60 })])?.[0]).toBe('A 5>6.6');
  });
  it('a stop of a run without fixed times has the time of the feed', () => {
    expect(predicted([5, 10], [update('A', { time: 7 }, { scheduleRelationship: 3 })])).toEqual(['A 5>7', 'B 10>12']);
  });
  it('a call with only a delay has its planned time plus the delay', () => {
    expect(predicted([5, 10], [update('A', { delay: 90 })])?.[0]).toBe('A 5>6.5');
  });
  it('a time without a delay delays the later calls by its difference from the plan', () => {
    expect(predicted([-8, -3, 6, 14], [departs('A', { time: 12 })])).toEqual([
      'A -8>12',
      'B -3>17',
      'C 6>26',
      'D 14>34',
    ]);
  });
  it('a train has its planned minute plus the delay, also where the feed has another second', () => {
    expect(predicted([5.5, 10], [update('A', { time: 5.8, delay: 18 })], {}, 'sydneytrains')?.[0]).toBe('A 5>5.3');
  });
  it('a train whose planned time in the feed differs by more than a minute has the time of the feed', () => {
    expect(predicted([5, 10], [update('A', { time: 8, delay: 18 })], {}, 'sydneytrains')?.[0]).toBe('A 5>8');
  });
  it('a vehicle with only an arrival time in the feed leaves no earlier than planned', () => {
    expect(predicted([5, ['B', 10, 12], 20], [arrives('B', { delay: -120 })])?.[1]).toBe('B 10/12>8/12');
    expect(predicted([5, ['B', 10, 12], 20], [arrives('B', { delay: 240 })])?.[1]).toBe('B 10/12>14');
  });
  it('an arrival without a time has the delay of the departure', () => {
    expect(predicted([5, ['B', 10, 12], 20], [departs('B', { delay: 60 })])?.[1]).toBe('B 10/12>11/13');
  });
  it('a delay of the whole trip counts where no call has its own', () => {
    expect(predicted([10, 20, 30], [], { delay: 120 })).toEqual(['A 10>12', 'B 20>22', 'C 30>32']);
    expect(predicted([10, 20], [update('A', { delay: 0 })], { delay: 120 })).toEqual(['A 10>10', 'B 20>20']);
  });
  it('a trip without updates or delay, or whose updates have no times, changes nothing', () => {
    expect(predicted([5, 10], [])).toBeNull();
    expect(predicted([5, 10], [{ stopId: 'A' }])).toBeNull();
  });
});

describe('calls behind an update', () => {
  it('a delay passes on, and each update replaces it', () => {
    const planned = [10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43];
    const stops = [arrives('C', { delay: 300 }), arrives('H', { delay: 60 }), noData('J')];
    expect(predicted(planned, stops)?.slice(2)).toEqual([
      'C 16>21',
      'D 19>24',
      'E 22>27',
      'F 25>30',
      // A delay of five minutes would put it behind the next call.
      'G 28>31.5',
      'H 31>32',
      'I 34>35',
      'J 37',
      'K 40',
      'L 43',
    ]);
  });
  it('an arrival delay at the first stop also applies to the later calls', () => {
    expect(predicted([10, 20, 30], [arrives('A', { delay: 900 })])).toEqual(['A 10>25', 'B 20>35', 'C 30>45']);
  });
  it('an early departure also applies to the later calls', () => {
    expect(predicted([['A', 10, 15], ['B', 25, 30], 40], [departs('A', { time: 10 })])?.slice(1)).toEqual([
      'B 25/30>20/25',
      'C 40>35',
    ]);
  });
  it('a skipped stop passes the delay on', () => {
    expect(predicted([5, 10, 15], [update('A', { delay: 120 }), skipped('B')])).toEqual([
      'A 5>7',
      'B 10 skipped',
      'C 15>17',
    ]);
  });
  it('after NO_DATA the plan holds unless the vehicle cannot be there yet', () => {
    expect(
      predicted([-5, -2, 4, 9], [departs('A', { time: 10, delay: 900 }), noData('B'), noData('C'), noData('D')]),
    ).toEqual(['A -5>10', 'B -2>13', 'C 4>19', 'D 9>24']);
  });
});

describe('calls before the first update', () => {
  it('the calls before the first update count as left, whatever the plan says', () => {
    expect(
      predicted(
        [3.6, 5.6, 6.6, 10.6],
        [update('C', { time: 2.3, delay: -258 }), update('D', { time: 4.07, delay: -392 })],
      ),
    ).toEqual(['A 3.6 left', 'B 5.6 left', 'C 6.6>2.3', 'D 10.6>4.07']);
  });
  it('a run that has not begun is still to come at its first call, even if only later calls have updates', () => {
    expect(predicted([10, 25, 35], [arrives('B', { time: 30 }), arrives('C', { time: 38 })])?.[0]).toBe('A 10>15');
    expect(predicted([10, 25, 35], [arrives('B', { time: 25 }), arrives('C', { time: 35 })])?.[0]).toBe('A 10');
  });
  it('a call whose update has no usable time has not been left', () => {
    expect(
      predicted([10, 20, 30], [{ stopId: 'A' }, update('B', { delay: -3000 }), update('C', { delay: 60 })]),
    ).toEqual(['A 10', 'B 20', 'C 30>31']);
  });
  it('a run planned to begin more than a quarter of an hour later has not begun, whatever its updates', () => {
    expect(predicted([40, 50, 60, 70], [update('C', { delay: 300 })])).toEqual([
      'A 40>45',
      'B 50>55',
      'C 60>65',
      'D 70>75',
    ]);
    expect(predicted([10, 20, 30, 40], [update('C', { delay: 300 })])?.[0]).toBe('A 10 left');
  });
  it('an update without times does not make a run count as begun before its planned start', () => {
    const planned = [10, 20, 30, 40];
    expect(predicted(planned, [skipped('C')])).toEqual(['A 10', 'B 20', 'C 30 skipped', 'D 40']);
    expect(predicted(planned, [noData('C'), noData('D')])?.slice(0, 2)).toEqual(['A 10', 'B 20']);
    expect(predicted(planned, [skipped('C')], { delay: 120 })).toEqual([
      'A 10>12',
      'B 20>22',
      'C 30 skipped',
      'D 40>42',
    ]);
  });
  it('a run whose first departure is past has begun', () => {
    expect(predicted([-1, 5], [update('B', { time: 8 })])?.[0]).toBe('A -1 left');
  });
  it('a vehicle that is past the first stop has begun its run', () => {
    const planned = timetable([run('R', [5, 10, 15])]);
    const vehicles = [
      {
        trip: { tripId: 'R' },
        position: { latitude: -33, longitude: 151 },
        timestamp: NOW / 1000,
        currentStopSequence: 2,
      },
    ];
    const snapshot = predict(planned, [trip('R', [update('B', { time: 8 })])], { vehicles });
    expect(callsOf(planned, snapshot, 'R')?.[0]).toBe('A 5 left');
  });
});

describe('the order of calls', () => {
  it('no call is earlier than the previous one, and calls whose own times are in order keep them', () => {
    expect(
      predicted([10, 20, 30], [update('A', { time: 20 }), update('B', { time: 18 }), update('C', { time: 31 })]),
    ).toEqual(['A 10>20', 'B 20>20', 'C 30>31']);
  });
  it('a call between two times fits between them', () => {
    expect(predicted([0.5, 10, 20], [update('A', { time: 10.5 }), update('C', { time: 21 })])).toEqual([
      'A 0.5>10.5',
      'B 10>19.33',
      'C 20>21',
    ]);
  });
  it('a delay is passed on unchanged up to a call that is a minute late, if the vehicle can be there in time', () => {
    const stops = [update('A', { delay: 300 }), update('D', { delay: 60 })];
    expect(predicted([5, 10, 15, 20, 25], stops)).toEqual(['A 5>10', 'B 10>15', 'C 15>20', 'D 20>21', 'E 25>26']);
  });
  it('a ride without times of its own takes at least a sixth of its planned time', () => {
    const ofRun = predicted([5, 15, 25, 35], [update('A', { time: 20 }), update('C', { time: 21 })]);
    expect(ofRun).toEqual(['A 5>20', 'B 15>21.67', 'C 25>23.33', 'D 35>31']);
  });
});

describe('skipped calls', () => {
  it('updates by sequence number alone are found', () => {
    const stops = [1, 2, 4, 6].map((stopSequence) => skipped(null, { stopSequence }));
    expect(predicted([10, 20, 30, 40, 50, 60], stops)).toEqual([
      'A 10 skipped',
      'B 20 skipped',
      'C 30 start',
      'D 40 skipped',
      'E 50 end',
      'F 60 skipped',
    ]);
  });
  it('a run ends early only if it skips all later stops, not where the list of updates ends', () => {
    const stops = [departs('A', { time: 6, delay: 60 }, { stopSequence: 1 }), skipped('C'), skipped('D')];
    expect(predicted([5, 10, 14, 20], stops)).toEqual(['A 5>6', 'B 10>11 end', 'C 14 skipped', 'D 20 skipped']);
    expect(predicted([5, 10, 14, 20], [departs('A', { time: 6 }), skipped('B')])?.[0]).toBe('A 5>6');
  });
});

describe('an impossible time', () => {
  it.each([
    ['50 minutes early', -3000],
    ['more than four hours early', -15_887],
    ['12 hours and a minute late', 43_260],
  ])('%s is no estimate, and the run stays', (_, delay) => {
    expect(predicted([15, 20], [update('A', { delay }), update('B', { delay })])).toBeNull();
  });
  it('ten minutes early at the first stop is possible', () => {
    expect(predicted([15, 20], [update('A', { delay: -600 }), update('B', { delay: -600 })])?.[0]).toBe('A 15>5');
  });
  it('an impossible time costs one update, not the others', () => {
    expect(predicted([15, 20, 25], [update('A', { delay: 60 }), update('B', { delay: -3000 })])).toEqual([
      'A 15>16',
      'B 20>21',
      'C 25>26',
    ]);
  });
  it('an impossible time of an arrival is no estimate, and the departure stays', () => {
    expect(predicted([15, 20, 25], [update('A', { delay: 60 }), arrives('B', { delay: -3 * 3600 })])).toEqual([
      'A 15>16',
      'B 20>21',
      'C 25>26',
    ]);
    const stops = [{ ...departs('A', { delay: 60 }), arrival: { delay: -3600 } }];
    expect(predicted([['A', 15, 16], 20], stops)).toEqual(['A 15/16>16/17', 'B 20>21']);
  });
  it('an impossible time of the whole trip is no estimate', () => {
    expect(predicted([15, 20], [], { delay: -3000 })).toBeNull();
    expect(predicted([15, 20], [], { delay: 43_260 })).toBeNull();
  });
  it('an impossible time is counted, also if the trip says nothing else', () => {
    const planned = timetable([run('R', [15, 20])]);
    const snapshot = predict(planned, [trip('R', [update('A', { delay: -3000 })])]);
    expect(snapshot.about.leftOut).toEqual({ 'impossible time': { count: 1, examples: ['R'] } });
  });
  it('an impossible time of years ahead does not hide the other times of its run', () => {
    const stops = [update('A', { time: 60 * 24 * 4000 }), update('B', { time: 22 })];
    expect(predicted([15, 20, 25], stops)).toEqual(['A 15', 'B 20>22', 'C 25>27']);
  });
});

describe('the call of an update', () => {
  it('the second call at a stop has its own update once the feed has dropped the first', () => {
    expect(
      predicted(
        [
          ['A', -5],
          ['B', 10],
          ['A', 20],
        ],
        [update('B', { time: 20, delay: 600 }), arrives('A', { delay: 600 })],
      ),
    ).toEqual(['A -5 left', 'B 10>20', 'A 20>30']);
    expect(
      predicted(
        [
          ['A', 10],
          ['B', 25],
          ['A', 35],
        ],
        [arrives('B', { time: 30 }), arrives('A', { time: 38 })],
      )?.[2],
    ).toBe('A 35>38');
  });
  it('the first call at a stop has the update that is nearer to its time', () => {
    expect(
      predicted(
        [
          ['A', 10],
          ['B', 25],
          ['A', 35],
        ],
        [update('A', { time: 12 })],
      )?.[0],
    ).toBe('A 10>12');
  });
  it('another platform of the station is a platform change, also as an assigned stop', () => {
    const planned = [
      ['S1', 8],
      ['B', 30],
    ] as const;
    const moved = 'S2 8>10';
    expect(predicted(planned, [departs('S2', { time: 10, delay: 120 })])?.[0]).toBe(moved);
    expect(predicted(planned, [departs(null, { time: 10 }, { stopSequence: 1, assignedStopId: 'S2' })])?.[0]).toBe(
      moved,
    );
    expect(predicted(planned, [update('S2', { delay: 120 })], {}, 'sydneytrains')?.[0]).toBe(moved);
  });
  it('the station itself is no platform change', () => {
    expect(
      predicted(
        [
          ['S1', 8],
          ['B', 30],
        ],
        [departs('S', { time: 10 })],
      )?.[0],
    ).toBe('S1 8>10');
  });
  it('a call at another stop with the same planned time has moved there', () => {
    const stops = [
      update('A', { time: 3, delay: 60 }),
      update('F', { time: 9, delay: 60 }),
      update('C', { time: 15, delay: 60 }),
    ];
    expect(predicted([2, 8, 14], stops)).toEqual(['A 2>3', 'F 8>9', 'C 14>15']);
  });
  it('a second update for a call adds no call', () => {
    const planned = timetable([run('R', [2, 8])]);
    const stops = [update('A', { time: 3 }), update('A', { time: 4 }), update('B', { time: 9 })];
    const snapshot = predict(planned, [trip('R', stops)]);
    expect(callsOf(planned, snapshot, 'R')).toEqual(['A 2>4', 'B 8>9']);
    expect(snapshot.about.leftOut).toEqual({ 'update of no call': { count: 1, examples: ['R A'] } });
  });
  it('a new platform without a time is a platform change', () => {
    expect(
      predicted(
        [
          ['S1', 8],
          ['B', 30],
        ],
        [{ stopId: 'S1', assignedStopId: 'S2' }],
      ),
    ).toEqual(['S2 8', 'B 30']);
  });
  it('updates by sequence number are found in any order', () => {
    const stops = [3, 1, 2].map((stopSequence) => update(null, { delay: stopSequence * 60 }, { stopSequence }));
    expect(predicted([10, 20, 30], stops)).toEqual(['A 10>11', 'B 20>22', 'C 30>33']);
  });
  it('an update for a stop that the plan lacks adds a call to the run', () => {
    const stops = [update('A', { time: 3 }), update('F', { time: 6 }), update('B', { time: 9 })];
    expect(predicted([2, 8], stops)).toEqual(['A 2>3', 'F 6>6', 'B 8>9']);
  });
  it('an update for an unknown stop is left out alone', () => {
    const planned = timetable([run('R', [2, 8])]);
    const snapshot = predict(planned, [trip('R', [update('A', { time: 3 }), update('elsewhere', { time: 6 })])]);
    expect(callsOf(planned, snapshot, 'R')).toEqual(['A 2>3', 'B 8>9']);
    expect(snapshot.about.leftOut).toEqual({ 'stop not in the timetable': { count: 1, examples: ['R elsewhere'] } });
  });
});

describe('the run of an update', () => {
  it('a start date on which the trip does not run means the nearest run', () => {
    const planned = timetable([
      run('R', [24 * 60 + 6, 24 * 60 + 11], { days: [YESTERDAY] }),
      run('Q', [24 * 60 + 12, 24 * 60 + 17], { days: [YESTERDAY] }),
    ]);
    const snapshot = predict(planned, [
      trip('R', [update('A', { time: 12, delay: 360 })], { startTime: '09:06:00' }),
      trip('Q', [], { startTime: '09:12:00', scheduleRelationship: TRIP.canceled }),
    ]);
    expect(callsOf(planned, snapshot, 'R', 20_783)?.[0]).toBe('A 6>12');
    expect(callsOf(planned, snapshot, 'Q', 20_783)).toEqual(['cancelled']);
  });
  it('an update without date and times is left out if its trip has no run within half a day', () => {
    const planned = timetable([run('R', [-16 * 60, -15 * 60], { days: [TODAY] })]);
    const snapshot = predict(planned, [{ tripId: 'R', stops: [update('A', { delay: 60 })] }]);
    expect(snapshot.runCount).toBe(0);
    expect(snapshot.about.leftOut).toEqual({ 'trip does not run then': { count: 1, examples: ['R'] } });
  });
  it('a ferry is found with another date of publication', () => {
    const planned = timetable([run('A.050926.32.2319', [5, 10])], 'sydneyferries');
    const snapshot = predict(planned, [trip('A.290826.32.2319', [update('A', { time: 6 })])], {
      source: 'sydneyferries',
    });
    expect(callsOf(planned, snapshot, 'A.050926.32.2319')?.[0]).toBe('A 5>6');
  });
  it.each([
    ['the running one wins over the cancelled one', {}, {}, 'A 5>7'],
    ['and also if it is older', { timestamp: NOW / 1000 - 60 }, { timestamp: NOW / 1000 }, 'A 5>7'],
  ])('of two updates %s', (_, running, cancelled, first) => {
    const planned = timetable([run('R', [5, 10])]);
    const trips = [
      trip('R', [update('A', { time: 7 })], running),
      trip('R', [], { scheduleRelationship: TRIP.canceled, ...cancelled }),
    ];
    for (const ordered of [trips, trips.toReversed()]) {
      expect(callsOf(planned, predict(planned, ordered), 'R')?.[0]).toBe(first);
    }
  });
  it('an update without content replaces no other update of the run, whatever their order', () => {
    const planned = timetable([run('R', [5, 10])]);
    for (const other of [
      trip('R', [update('A', { time: 7 })]),
      trip('R', [], { scheduleRelationship: TRIP.canceled }),
    ]) {
      const trips = [trip('R', [], { timestamp: NOW / 1000 }), other];
      const [one, reversed] = [trips, trips.toReversed()].map((ordered) =>
        callsOf(planned, predict(planned, ordered), 'R'),
      );
      expect(one?.[0]).toMatch(/A 5>7|cancelled/);
      expect(reversed).toEqual(one);
    }
  });
  it('of several updates of one added run the newest wins', () => {
    const planned = timetable([run('R', [5, 10])]);
    const added = (time: number, timestamp: number) =>
      trip('X', [departs('A', { time }), arrives('B', { time: time + 5 })], {
        scheduleRelationship: TRIP.added,
        routeId: 'R',
        timestamp,
      });
    const snapshot = predict(planned, [added(20, 10), added(22, 30), added(21, 20)]);
    expect(snapshot.listAdded('X').map((one) => calls(planned, snapshot, one))).toEqual([['A 22>22', 'B 27>27']]);
  });
  it('of two running updates the newer one wins, whatever their order', () => {
    const planned = timetable([run('R', [5, 10])]);
    const trips = [
      trip('R', [update('A', { time: 7 })], { timestamp: NOW / 1000 }),
      trip('R', [update('A', { time: 9 })], { timestamp: NOW / 1000 - 30 }),
    ];
    for (const ordered of [trips, trips.toReversed()]) {
      expect(callsOf(planned, predict(planned, ordered), 'R')?.[0]).toBe('A 5>7');
    }
  });
});

describe('runs that do not follow the timetable', () => {
  const planned = timetable([
    run('R', [100, 110]),
    run('Z', [
      ['C', 300],
      ['B', 310],
    ]),
  ]);

  it('a replaced run has the calls of the feed, with planned times from the timetable however far apart', () => {
    const stops = [departs('A', { time: 30 }), update('B', { time: 45 }), arrives('C', { time: 60 })];
    expect(
      callsOf(planned, predict(planned, [trip('R', stops, { scheduleRelationship: TRIP.replacement })]), 'R'),
    ).toEqual(['A 100>30', 'B 110>45', 'C 60>60']);
  });
  it('a replaced run does not make the calls that the feed leaves out', () => {
    const three = timetable([run('R', [5, 10, 15])]);
    const stops = [update('A', { time: 5 }), update('C', { time: 15 })];
    expect(
      callsOf(three, predict(three, [trip('R', stops, { scheduleRelationship: TRIP.replacement })]), 'R')?.[1],
    ).toBe('B 10 skipped');
  });
  it('a replaced run without known stops stays as planned', () => {
    for (const stops of [[], [update('elsewhere', { time: 30 })]]) {
      const replaced = trip('R', stops, { scheduleRelationship: TRIP.replacement, delay: 60 });
      expect(callsOf(planned, predict(planned, [replaced]), 'R')).toEqual(['A 100>101', 'B 110>111']);
    }
  });
  it('a replaced run makes the calls of the feed also if they have no times', () => {
    const three = timetable([run('R', [5, 10, 15])]);
    const replaced = trip('R', [{ stopId: 'A' }, { stopId: 'C' }], { scheduleRelationship: TRIP.replacement });
    expect(callsOf(three, predict(three, [replaced]), 'R')).toEqual(['A 5', 'B 10 skipped', 'C 15']);
  });
  it('a copy of another year is left out and counted', () => {
    const copy = { tripId: 'R-2', startDate: '99991231', startTime: '10:55:00' };
    const snapshot = predict(planned, [trip('R', [], { scheduleRelationship: TRIP.duplicated, copy })]);
    expect(snapshot.runCount).toBe(0);
    expect(snapshot.about.leftOut).toEqual({ 'trip does not run then': { count: 1, examples: ['R'] } });
  });
  it('a replaced run that the timetable lacks is counted', () => {
    const replaced = trip('X', [departs('A', { time: 30 })], { scheduleRelationship: TRIP.replacement });
    expect(predict(planned, [replaced]).about.leftOut).toEqual({
      'trip not in the timetable': { count: 1, examples: ['X'] },
    });
  });
  it('a cancelled run is cancelled', () => {
    for (const scheduleRelationship of [TRIP.canceled, TRIP.deleted]) {
      expect(callsOf(planned, predict(planned, [trip('R', [], { scheduleRelationship })]), 'R')).toEqual(['cancelled']);
    }
  });
  it('a new run with the identifier of a planned one is refused, and the planned one stays', () => {
    const stops = [departs('A', { time: 30 }), arrives('B', { time: 40 })];
    const snapshot = predict(planned, [trip('R', stops, { scheduleRelationship: TRIP.new, routeId: 'R' })]);
    expect(snapshot.runCount).toBe(0);
  });
  it('an added run without a known route is left out and counted', () => {
    const stops = [departs('A', { time: 30 }), arrives('B', { time: 40 })];
    const snapshot = predict(planned, [trip('X', stops, { scheduleRelationship: TRIP.added })]);
    expect(snapshot.runCount).toBe(0);
    expect(snapshot.about.leftOut).toEqual({ 'added trip without a known route': { count: 1, examples: ['X'] } });
  });
  it('an added run has the calls of the feed', () => {
    const stops = [departs('A', { time: 30 }), arrives('B', { time: 40, delay: 60 })];
    const snapshot = predict(planned, [trip('X', stops, { scheduleRelationship: TRIP.added, routeId: 'R' })]);
    expect(snapshot.listAdded('X').map((one) => calls(planned, snapshot, one))).toEqual([['A 30>30', 'B 39>40']]);
  });
  it('an added run has the planned times of the feed, with a live time, a delay or both', () => {
    const stops = [
      departs('A', { time: 30, planned: 28 }),
      update('B', { delay: 120, planned: 38 }),
      arrives('C', { time: 50, delay: 60, planned: 48 }),
    ];
    const snapshot = predict(planned, [trip('X', stops, { scheduleRelationship: TRIP.added, routeId: 'R' })]);
    expect(snapshot.listAdded('X').map((one) => calls(planned, snapshot, one))).toEqual([
      ['A 28>30', 'B 38>40', 'C 49>50'],
    ]);
  });
  it('an added run named after a planned one with a suffix has its planned times', () => {
    const stops = [departs('A', { time: 105 }), arrives('B', { time: 117 })];
    const snapshot = predict(planned, [trip('R_2', stops, { scheduleRelationship: TRIP.added })]);
    expect(snapshot.listAdded('R_2').map((one) => calls(planned, snapshot, one))).toEqual([['A 100>105', 'B 110>117']]);
  });
  it('a copy of a run is a second vehicle at its own time', () => {
    const stops = [
      update('A', { time: 116, delay: 60 }, { stopSequence: 1 }),
      update('B', { time: 126, delay: 60 }, { stopSequence: 2 }),
    ];
    const copy = {
      scheduleRelationship: TRIP.duplicated,
      copy: { tripId: 'R-2', startDate: TODAY, startTime: '10:55:00' },
    };
    for (const [updates, expected] of [
      [stops, ['A 115>116', 'B 125>126']],
      [[], ['A 115', 'B 125']],
    ] as const) {
      const snapshot = predict(planned, [trip('R', [...updates], copy)]);
      expect(callsOf(planned, snapshot, 'R')).toBeNull();
      expect(snapshot.listAdded('R-2').map((one) => calls(planned, snapshot, one))).toEqual([expected]);
    }
  });
  it('a copy without properties begins at the start time of the update, unless the planned run does', () => {
    const copy = { scheduleRelationship: TRIP.duplicated };
    const snapshot = predict(planned, [trip('R', [], { ...copy, startTime: '10:55:00' })]);
    expect(callsOf(planned, snapshot, 'R')).toBeNull();
    expect(snapshot.listAdded('R 39300').map((one) => calls(planned, snapshot, one))).toEqual([['A 115', 'B 125']]);
    for (const startTime of [undefined, '10:40:00']) {
      const { about } = predict(planned, [trip('R', [], { ...copy, ...(startTime && { startTime }) })]);
      expect(about.leftOut).toEqual({ 'copy of no trip': { count: 1, examples: ['R'] } });
    }
  });
  it('a copy makes also the calls for which the feed has no update', () => {
    const three = timetable([run('R', [10, 20, 30])]);
    const copy = {
      scheduleRelationship: TRIP.duplicated,
      copy: { tripId: 'R-2', startDate: TODAY, startTime: '09:40:00' },
    };
    for (const [update, expected] of [
      [departs('A', { delay: 300 }), ['A 40>45', 'B 50>55', 'C 60>65']],
      [skipped('B'), ['A 40', 'B 50 skipped', 'C 60']],
    ] as const) {
      const snapshot = predict(three, [trip('R', [update], copy)]);
      expect(snapshot.listAdded('R-2').map((one) => calls(three, snapshot, one))).toEqual([expected]);
    }
  });
  it('a call that only the update of a copy has is in order with the others', () => {
    const two = timetable([
      run('R', [10, 20]),
      run('other', [
        ['D', 10],
        ['E', 20],
      ]),
    ]);
    const copy = {
      scheduleRelationship: TRIP.duplicated,
      copy: { tripId: 'R-2', startDate: TODAY, startTime: '09:40:00' },
    };
    const tooEarly = departs('D', { time: 30, delay: -3600 });
    const snapshot = predict(two, [trip('R', [tooEarly], copy)]);
    expect(snapshot.listAdded('R-2').map((one) => calls(two, snapshot, one))).toEqual([
      ['D 40>30', 'A 40>30', 'B 50>40'],
    ]);
  });
  it('trips with a relationship that this version does not know are left out and counted', () => {
    const snapshot = predict(planned, [trip('R', [update('A', { time: 1 })], { scheduleRelationship: 42 })]);
    expect(snapshot.about.leftOut).toEqual({ 'unknown relationship': { count: 1, examples: ['R'] } });
  });
});

describe('the next run of a vehicle', () => {
  const block = { blockId: 'b' };
  const planned = timetable([
    run(
      'R',
      [
        ['A', -8],
        ['B', 0],
        ['C', 5],
      ],
      block,
    ),
    run(
      'Q',
      [
        ['C', 8],
        ['D', 15],
        ['E', 20],
      ],
      block,
    ),
    run(
      'P',
      [
        ['E', 60],
        ['F', 70],
      ],
      block,
    ),
  ]);
  const late = [update('B', { time: 30, delay: 1800 }), arrives('C', { time: 35, delay: 1800 })];

  it('the next run of a vehicle leaves no earlier than the late one arrives, and keeps its running times', () => {
    const snapshot = predict(planned, [trip('R', late)]);
    expect(callsOf(planned, snapshot, 'Q')).toEqual(['C 8>35', 'D 15>42', 'E 20>47']);
    expect(callsOf(planned, snapshot, 'P')).toBeNull();
  });
  it('the next run of a vehicle has its own update if there is one', () => {
    const snapshot = predict(planned, [trip('R', late), trip('Q', [update('C', { time: 9 })])]);
    expect(callsOf(planned, snapshot, 'Q')?.[0]).toBe('C 8>9');
  });
  it('the next run of a vehicle is as planned if the vehicle ends its run early or is cancelled', () => {
    const short = [update('B', { time: 30, delay: 1800 }), skipped('C')];
    expect(callsOf(planned, predict(planned, [trip('R', short)]), 'Q')).toBeNull();
    expect(
      callsOf(planned, predict(planned, [trip('R', [], { scheduleRelationship: TRIP.canceled })]), 'Q'),
    ).toBeNull();
  });
  it('the prediction of runs that form a circle at one time ends', () => {
    const circle = timetable([
      run(
        'R',
        [
          ['A', 5],
          ['A', 5],
        ],
        block,
      ),
      run(
        'Q',
        [
          ['A', 5],
          ['A', 5],
        ],
        block,
      ),
    ]);
    expect(predict(circle, [trip('R', [update('A', { delay: 600 })])]).runCount).toBe(1);
  });
});

describe('a vehicle that stands', () => {
  const planned = timetable([run('R', [-10, -2, 5])]);
  const vehicle = (currentStatus: number, stopId: string) => [
    {
      trip: { tripId: 'R' },
      position: { latitude: -33, longitude: 151 },
      timestamp: NOW / 1000,
      currentStatus,
      stopId,
    },
  ];
  const trips = [trip('R', [update('B', { time: -1 }), update('C', { time: 6 })])];

  it('at a stop whose update is still in the feed has not left it', () => {
    expect(callsOf(planned, predict(planned, trips, { vehicles: vehicle(1, 'B') }), 'R')?.[1]).toBe('B -2>-1/0');
  });
  it('a vehicle that stands leaves as planned if the feed has no time', () => {
    const waiting = timetable([run('R', [-10, ['B', -2, 3], 5])]);
    const snapshot = predict(waiting, [trip('R', [noData('B'), noData('C')])], { vehicles: vehicle(1, 'B') });
    expect(callsOf(waiting, snapshot, 'R')?.slice(1)).toEqual(['B -2/3>0/3', 'C 5']);
  });
  it('a vehicle on its way to a stop keeps its estimate there', () => {
    expect(callsOf(planned, predict(planned, trips, { vehicles: vehicle(2, 'B') }), 'R')?.[1]).toBe('B -2>-1');
  });
  it('at another platform of the station than planned has not left it', () => {
    const station = timetable([run('R', [-10, ['S1', -2], ['B', 5]])]);
    const stops = [update('S2', { time: -1, delay: 60 }), update('B', { time: 6 })];
    for (const stopId of ['S1', 'S2', 'S']) {
      const snapshot = predict(station, [trip('R', stops)], { vehicles: vehicle(1, stopId) });
      expect(callsOf(station, snapshot, 'R')?.[1]).toBe('S2 -2>-1/0');
    }
  });
  it('a vehicle that stands has not left its stop where the feed inserts a call before it', () => {
    const stops = [update('K', { time: -5 }), update('B', { time: -1 }), update('C', { time: 6 })];
    const snapshot = predict(planned, [trip('R', stops)], { vehicles: vehicle(1, 'B') });
    expect(callsOf(planned, snapshot, 'R')?.[2]).toBe('B -2>-1/0');
  });
  it('a vehicle that stands has not left its stop on a run that only the feed has', () => {
    const stops = [update('A', { time: -8 }), update('B', { time: -1 }), update('C', { time: 6 })];
    const added = trip('X', stops, { scheduleRelationship: TRIP.added, routeId: 'R' });
    const position = [{ ...vehicle(1, 'B')[0], trip: { tripId: 'X' } }];
    const snapshot = predict(planned, [added], { vehicles: position });
    expect(calls(planned, snapshot, 0)[1]).toBe('B -1>-1/0');
  });
  it('a vehicle that stands has not left its stop where its position has the ID of another publication', () => {
    const dated = timetable([run('F.150626.31.0850', [-10, -2, 5])], 'sydneyferries');
    const position = [{ ...vehicle(1, 'B')[0], trip: { tripId: 'F.160626.31.0850' } }];
    const updates = [trip('F.170626.31.0850', trips[0]?.stops ?? [])];
    const snapshot = predict(dated, updates, { source: 'sydneyferries', vehicles: position });
    expect(callsOf(dated, snapshot, 'F.150626.31.0850')?.[1]).toBe('B -2>-1/0');
  });
  it('stands at the second call of a loop if the first one is no longer listed', () => {
    const loop = timetable([
      run('R', [
        ['A', -20],
        ['B', -10],
        ['A', -1],
        ['C', 10],
      ]),
    ]);
    const stops = [update('A', { time: -0.5 }), update('C', { time: 11 })];
    const snapshot = predict(loop, [trip('R', stops)], { vehicles: vehicle(1, 'A') });
    expect(callsOf(loop, snapshot, 'R')?.[2]).toBe('A -1>-0.5/0');
  });
  it('stands at the stop that it reports if its sequence number is that of another stop', () => {
    const position = [{ ...vehicle(1, 'B')[0], currentStopSequence: 3 }];
    expect(callsOf(planned, predict(planned, trips, { vehicles: position }), 'R')?.[1]).toBe('B -2>-1/0');
  });
});
