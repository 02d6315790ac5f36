import { describe, expect, it } from 'vitest';
import { callsOfRun } from '#src/boards/run-calls.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { toDayNumber, toMoment } from '#src/timetable/service-day.ts';
import type { TripSpec } from './feed-bytes.ts';
import { noData, predict, run, skipped, TRIP, timetable, trip, update } from './prediction/predicted.ts';

const DAY = 20_784;

describe('how full a vehicle is', () => {
  const planned = timetable([run('R', [5, 10, 15])], 'sydneytrains');
  const callsOf = (one: TripSpec, now?: number) => {
    const snapshot = predict(planned, [one], { source: 'sydneytrains', ...(now !== undefined && { now }) });
    const live = new LiveTimetable(planned, [snapshot]);
    return callsOfRun(live, live.run(0, DAY)).calls;
  };

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
  ])('the value %s in field 6 of a stop update reads as %s', (number, occupancy) => {
    const one = update('A', { delay: 0 }, number === undefined ? {} : { occupancy: number });
    expect(callsOf(trip('R', [one]))[0]?.occupancy).toBe(occupancy);
  });

  const carriages = [1, 3].map((occupancy, index) => ({ position: index + 1, occupancy }));
  const full = [
    { position: 1, occupancy: 'MANY_SEATS' },
    { position: 2, occupancy: 'STANDING_ONLY' },
  ];

  it('each call has the carriages of its own stop update', () => {
    const one = trip('R', [
      update('A', { delay: 0 }),
      update('B', { delay: 0 }, { carriages }),
      update('C', { delay: 0 }),
    ]);
    expect(callsOf(one).map((call) => call.carriages)).toEqual([null, full, null]);
    const replaced = { ...one, scheduleRelationship: TRIP.replacement };
    expect(callsOf(replaced).map((call) => call.carriages)).toEqual([null, full, null]);
  });
  it.each([
    ['that is skipped', trip('R', [{ ...skipped('B'), carriages }, update('C', { delay: 0 })])],
    ['without data', trip('R', [update('A', { delay: 0 }), { ...noData('B'), carriages }])],
    [
      'of a cancelled run',
      trip('R', [update('B', { delay: 0 }, { carriages })], { scheduleRelationship: TRIP.canceled }),
    ],
    ['of a run that is not in the feed', trip('Q', [update('B', { delay: 0 }, { carriages })])],
  ])('a call %s has no carriages', (_, one) => {
    expect(callsOf(one)[1]?.carriages).toBeNull();
  });
});

describe('nights', () => {
  const at = (date: string, time: string) => {
    const [hours = 0, minutes = 0] = time.split(':').map(Number);
    return toMoment(toDayNumber(date) as number, hours * 3600 + minutes * 60);
  };
  /** The delay in seconds of the first call of the run on this service day, five minutes before, by an update with this date. */
  function delayOf(date: string, time: string, more: TripSpec) {
    const planned = timetable([
      {
        id: 'R',
        days: [date],
        calls: [
          ['A', time],
          ['B', '30:00'],
        ],
      },
    ]);
    const leaves = at(date, time);
    const stops = [{ stopId: 'A', departure: { time: leaves / 1000 + 60, delay: 60 } }];
    const snapshot = predict(planned, [{ tripId: 'R', stops, ...more }], { now: leaves - 300_000 });
    const live = new LiveTimetable(planned, [snapshot]);
    const [call] = live.run(0, toDayNumber(date) as number).calls;
    return call?.isLive ? (call.departsAt - call.plannedDepartsAt) / 1000 : null;
  }

  it('a run after midnight is live by its service day, by the calendar day and without a date', () => {
    for (const startDate of ['20261126', '20261127', undefined]) {
      expect(delayOf('20261126', '25:10', startDate ? { startDate } : {})).toBe(60);
    }
  });
  it.each(['20261003', '20261004', '20270403', '20270404'])(
    'a run of %s, when clocks change, is live through the night',
    (date) => {
      for (const time of ['0:30', '1:30', '2:30', '3:30', '25:30', '26:30', '27:30']) {
        for (const startTime of [undefined, time.padStart(5, '0')]) {
          expect(delayOf(date, time, { startDate: date, ...(startTime && { startTime: `${startTime}:00` }) })).toBe(60);
        }
      }
    },
  );
  it('two runs at the same clock time of the repeated hour have their own updates', () => {
    const planned = timetable([
      {
        id: 'R',
        days: ['20270404'],
        calls: [
          ['A', '1:30'],
          ['B', '6:00'],
        ],
      },
      {
        id: 'Q',
        days: ['20270404'],
        calls: [
          ['A', '2:30'],
          ['B', '6:00'],
        ],
      },
    ]);
    const [first, second] = [at('20270404', '1:30'), at('20270404', '2:30')];
    expect(second - first).toBe(3_600_000);
    const stop = (leaves: number, delay: number) => ({
      stopId: 'A',
      departure: { time: leaves / 1000 + delay, delay },
    });
    const trips = [
      { tripId: 'R', startDate: '20270404', stops: [stop(first, 60)] },
      { tripId: 'Q', startDate: '20270404', stops: [stop(second, 120)] },
    ];
    const live = new LiveTimetable(planned, [predict(planned, trips, { now: first - 600_000 })]);
    const leaves = [0, 1].map((number) => live.run(number, toDayNumber('20270404') as number).calls[0]?.departsAt);
    expect(leaves).toEqual([first + 60_000, second + 120_000]);
  });
});
