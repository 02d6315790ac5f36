import { describe, expect, it } from 'vitest';
import { callsOfRun, findNextRun, findThroughHeadsign } from '#src/boards/run-calls.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { toDayNumber, toMoment } from '#src/timetable/service-day.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import type { TripSpec } from '#test/realtime/feed-bytes.ts';
import { predict } from '#test/realtime/prediction/predicted.ts';
import { type MadeTrip, scheduleFile } from '#test/support/schedule-file.ts';
import { buildTimetable } from '#test/support/timetable.ts';

const DATE = '20261118';
const DAY = toDayNumber(DATE) as number;
const at = (time: string) => {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return toMoment(DAY, hours * 3600 + minutes * 60 + seconds);
};
const NOW = at('08:00');

/** Each station has platforms 1 and 2: `R1` is platform 1 of Redfern. */
const STOPS = ['Redfern', 'Central', 'Town Hall', 'Wynyard'].flatMap((name) => [
  { id: name[0] as string, name: `${name} Station`, isStation: true },
  ...[1, 2].map((one) => ({
    id: `${name[0]}${one}`,
    name: `${name} Station Platform ${one}`,
    parentId: name[0] ?? null,
  })),
]);

function timetableOf(...trips: MadeTrip[]): Timetable {
  const routes = [{ id: 'R', mode: 'train' as const }];
  return new Timetable(
    buildTimetable([scheduleFile('sydneytrains', { stops: STOPS, routes, trips })], { importedAt: 0 }),
  );
}

const told = (stopId: string, delay: number) => ({ stopId, arrival: { delay }, departure: { delay } });
const timesOf = (time: { plannedAt: number; realtimeAt: number | null } | null | undefined) =>
  time && [time.plannedAt, time.realtimeAt];
const SKIPPED = 1;
const REPLACEMENT = 5;

const A: MadeTrip = {
  id: 'A',
  days: [DATE],
  headsign: 'Wynyard',
  calls: [
    ['R1', '08:01'],
    ['C1', '08:04', { departure: '08:05:30' }],
    ['T1', '08:08'],
    ['W1', '08:10'],
  ],
};
const runOf = (timetable: Timetable) => ({ trip: timetable.listTripsBetween('A')[0] ?? -1, day: DAY });
function callsBy(timetable: Timetable, trips: TripSpec[], now = NOW) {
  const live = new LiveTimetable(timetable, [predict(timetable, trips, { source: 'sydneytrains', now })]);
  const { trip, day } = runOf(timetable);
  return callsOfRun(live, live.run(trip, day));
}
const call = (timetable: Timetable, ...trips: TripSpec[]) => callsBy(timetable, trips);

describe('the calls of a run', () => {
  it('planned calls are in whole minutes, the first without an arrival, the last without a departure', () => {
    const { calls, asOf, isByFeed } = call(timetableOf(A));
    expect([asOf, isByFeed]).toEqual([null, false]);
    expect(calls[1]).toMatchObject({ stopId: 'C1', name: 'Central Station', platform: 'Platform 1', ids: ['C1', 'C'] });
    expect(calls.map(({ arrival, departure }) => [timesOf(arrival), timesOf(departure)])).toEqual([
      [null, [at('08:01'), null]],
      [
        [at('08:04'), null],
        [at('08:05'), null],
      ],
      [
        [at('08:08'), null],
        [at('08:08'), null],
      ],
      [[at('08:10'), null], null],
    ]);
  });

  it('calls have the delays of the feed that belongs to their file, not of another feed', () => {
    const late = { tripId: 'A', stops: A.calls.map(([stop]) => told(stop, 120)) };
    const { calls, asOf } = call(timetableOf(A), late);
    expect(asOf).toBe(NOW);
    expect(timesOf(calls.at(-1)?.arrival)).toEqual([at('08:10'), at('08:12')]);
    const planned = timetableOf(A);
    const other = new LiveTimetable(planned, [predict(planned, [late], { source: 'nswtrains', now: NOW })]);
    expect(callsOfRun(other, other.run(0, DAY)).isByFeed).toBe(false);
  });

  it('a moved call has its new platform', () => {
    const stops = [told('R1', 0), { stopId: 'C2', arrival: { delay: 0, time: at('08:04') / 1000 } }, told('T1', 0)];
    const { calls } = call(timetableOf(A), { tripId: 'A', stops });
    expect(calls[1]).toMatchObject({ stopId: 'C2', name: 'Central Station', platform: 'Platform 2', ids: ['C2', 'C'] });
  });

  it('a moved call of a train without times has its new platform, also after the first stops are dropped', () => {
    const { calls } = call(timetableOf(A), { tripId: 'A', stops: [told('T2', 60), told('W1', 60)] });
    expect(calls.map(({ stopId }) => stopId)).toEqual(['R1', 'C1', 'T2', 'W1']);
    expect(timesOf(calls[2]?.departure)).toEqual([at('08:08'), at('08:09')]);
  });

  it('a call is cancelled when the feed skips it, and every call when the trip is cancelled', () => {
    const skipped = [told('R1', 0), { stopId: 'C1', scheduleRelationship: SKIPPED }, told('T1', 0)];
    const { calls } = call(timetableOf(A), { tripId: 'A', stops: skipped });
    expect(calls.map(({ isCancelled }) => isCancelled)).toEqual([false, true, false, false]);
    const off = call(timetableOf(A), { tripId: 'A', scheduleRelationship: 3 });
    expect([off.calls.every(({ isCancelled }) => isCancelled), off.isByFeed]).toEqual([true, true]);
  });

  it('the calls of a replacement include stops that only the feed has, in feed order', () => {
    const [first, , third, last] = A.calls.map(([stop]) => told(stop, 60));
    const added = { stopId: 'C2', departure: { delay: 0, time: at('08:06') / 1000 } };
    const stops = [first, told('C1', 60), added, third, last].filter((one) => one !== undefined);
    const { calls } = call(timetableOf(A), { tripId: 'A', scheduleRelationship: REPLACEMENT, stops });
    expect(calls.map(({ stopId }) => stopId)).toEqual(['R1', 'C1', 'C2', 'T1', 'W1']);
  });

  it('a call that a late replacement leaves out is cancelled, although the feed has no planned times', () => {
    const timed = (stopId: string, time: string) => ({ stopId, departure: { time: at(time) / 1000 } });
    const stops = [timed('R1', '08:21'), timed('T1', '08:28'), timed('W1', '08:30')];
    const late = { tripId: 'A', scheduleRelationship: REPLACEMENT, stops };
    const { calls } = callsBy(timetableOf(A), [late], at('08:15'));
    expect(calls.map(({ stopId, isCancelled }) => [stopId, isCancelled])).toEqual([
      ['R1', false],
      ['C1', true],
      ['T1', false],
      ['W1', false],
    ]);
  });

  it('the calls of a replacement stay in order after the feed has dropped its first stops', () => {
    const { calls: planned } = A;
    const express = { ...A, calls: [...planned.slice(0, 2), ...planned.slice(3)] };
    const timed = (stopId: string, time: string) => ({ stopId, departure: { delay: 60, time: at(time) / 1000 } });
    const stops = [timed('T1', '08:09'), told('W1', 60)];
    const { calls } = call(timetableOf(express), { tripId: 'A', scheduleRelationship: REPLACEMENT, stops });
    expect(calls.map(({ stopId }) => stopId)).toEqual(['R1', 'C1', 'T1', 'W1']);
    expect(timesOf(calls[1]?.departure)).toEqual([at('08:05'), null]);
  });

  it('a replacement that begins earlier or ends later than planned has no arrival at its first stop nor departure at its last', () => {
    const short = { ...A, calls: A.calls.slice(1, 3) };
    const timed = (stopId: string, time: string) => {
      const event = { delay: 60, time: at(time) / 1000 };
      return { stopId, arrival: event, departure: event };
    };
    const skipped = { ...timed('C2', '08:05'), scheduleRelationship: SKIPPED };
    const stops = [timed('R1', '08:02'), timed('C1', '08:06'), skipped, timed('T1', '08:09'), timed('W1', '08:11')];
    const { calls } = call(timetableOf(short), { tripId: 'A', scheduleRelationship: REPLACEMENT, stops });
    expect(calls.map(({ stopId, arrival, departure }) => [stopId, arrival !== null, departure !== null])).toEqual([
      ['R1', false, true],
      ['C1', true, true],
      ['T1', true, true],
      ['W1', true, false],
    ]);
    expect(timesOf(calls[2]?.departure)).toEqual([at('08:08'), at('08:09')]);
  });

  it('the calls of a replacement are those of its own service day', () => {
    const { calls: planned } = A;
    const early = {
      ...A,
      days: ['20261117', DATE],
      calls: planned.map(([stop, time]) => [stop, time.toString().replace('08:', '04:')] as const),
    };
    const added = { stopId: 'C2', departure: { delay: 0, time: at('04:06') / 1000 - 24 * 3600 } };
    const stops = [told('R1', 60), added, told('W1', 60)];
    const yesterday = { tripId: 'A', startDate: '20261117', scheduleRelationship: REPLACEMENT, stops };
    const { calls } = call(timetableOf(early), yesterday);
    expect(calls.map(({ stopId }) => stopId)).toEqual(['R1', 'C1', 'T1', 'W1']);
  });

  it('the calls of a train that continues as another trip include that trip, each with its own feed times', () => {
    const split = { ...A, blockId: 'X', headsign: 'Wynyard via Town Hall', calls: A.calls.slice(0, 2) };
    const rest = { ...A, id: 'B', blockId: 'X', calls: A.calls.slice(1) };
    const late = { tripId: 'B', stops: A.calls.slice(1).map(([stop]) => told(stop, 180)) };
    const { calls } = call(timetableOf(split, rest), { tripId: 'A', stops: [told('R1', 60)] }, late);
    expect(calls.map(({ stopId, nextRunId }) => [stopId, nextRunId])).toEqual([
      ['R1', undefined],
      ['C1', 'B'],
      ['T1', undefined],
      ['W1', undefined],
    ]);
    expect(timesOf(calls[1]?.arrival)?.[0]).toBe(at('08:04'));
    expect(timesOf(calls[3]?.arrival)).toEqual([at('08:10'), at('08:13')]);
  });

  it('a train that goes on from another platform calls at both', () => {
    const split = { ...A, blockId: 'X', headsign: 'Wynyard via Town Hall', calls: A.calls.slice(0, 2) };
    const rest = { ...A, id: 'B', blockId: 'X', calls: [['C2', '08:06'], ...A.calls.slice(2)] as MadeTrip['calls'] };
    const { calls } = call(timetableOf(split, rest), { tripId: 'A', stops: [told('R1', 120), told('C1', 120)] });
    expect(calls.map(({ stopId, arrival, departure }) => [stopId, timesOf(arrival), timesOf(departure)])).toEqual([
      ['R1', null, [at('08:01'), at('08:03')]],
      ['C1', [at('08:04'), at('08:06')], null],
      ['C2', null, [at('08:06'), null]],
      ['T1', [at('08:08'), null], [at('08:08'), null]],
      ['W1', [at('08:10'), null], null],
    ]);
    expect(calls[1]?.nextRunId).toBe('B');
  });

  it('where a train continues as another trip, it arrives by its own feed times and leaves by those of that trip', () => {
    const split = { ...A, blockId: 'X', headsign: 'Wynyard via Town Hall', calls: A.calls.slice(0, 2) };
    const timetable = timetableOf(split, { ...A, id: 'B', blockId: 'X', calls: A.calls.slice(1) });
    const own = { tripId: 'A', stops: [told('R1', 60), told('C1', 60)] };
    const late = call(timetable, own, { tripId: 'B', stops: A.calls.slice(1).map(([stop]) => told(stop, 180)) });
    expect(timesOf(late.calls[1]?.arrival)).toEqual([at('08:04'), at('08:05')]);
    expect(timesOf(late.calls[1]?.departure)).toEqual([at('08:05'), at('08:08')]);
    const cancelled = call(timetable, own, { tripId: 'B', scheduleRelationship: 3 });
    expect(cancelled.calls.map(({ isCancelled }) => isCancelled)).toEqual([false, false, true, true]);
    expect(cancelled.calls[1]?.departure).toBeNull();
    const cutShort = { tripId: 'A', stops: [told('R1', 60), { stopId: 'C1', scheduleRelationship: SKIPPED }] };
    expect(call(timetable, cutShort).calls[1]?.isCancelled).toBe(true);
  });

  it('riders stay on a train whose headsign names the station where its run is split, and are told where it goes on to', () => {
    const split = { ...A, blockId: 'X', headsign: 'Central via Redfern', calls: A.calls.slice(0, 2) };
    const rest = { ...A, id: 'B', blockId: 'X', headsign: 'Wynyard via Town Hall', calls: A.calls.slice(1) };
    const timetable = timetableOf(split, rest);
    expect(call(timetable).calls.map(({ stopId }) => stopId)).toEqual(['R1', 'C1', 'T1', 'W1']);
    const through = (headsign: string, ...trips: TripSpec[]) =>
      findThroughHeadsign(
        new LiveTimetable(timetable, [predict(timetable, trips, { source: 'sydneytrains', now: NOW })]),
        [runOf(timetable)],
        headsign,
      );
    expect(through('Central via Redfern')).toBe('Wynyard via Town Hall');
    expect(through('Wynyard')).toBeNull();
    expect(through('Central via Redfern', { tripId: 'B', scheduleRelationship: 3 })).toBeNull();
    const next = { runId: 'B', mode: 'train', stopId: 'C1', plannedAt: at('08:05') };
    expect(findNextRun(timetable, runOf(timetable))).toEqual(next);
  });

  it('the calls of a train end where it turns round, even when it goes on as another run', () => {
    const there = { ...A, blockId: 'X', headsign: 'Central', calls: A.calls.slice(0, 2) };
    const back = {
      ...A,
      id: 'B',
      blockId: 'X',
      headsign: 'Redfern',
      calls: [
        ['C1', '08:10'],
        ['R2', '08:14'],
      ] as MadeTrip['calls'],
    };
    const timetable = timetableOf(there, back);
    expect(call(timetable).calls).toHaveLength(2);
    expect(findThroughHeadsign(new LiveTimetable(timetable), [runOf(timetable)], 'Central')).toBeNull();
    expect(findNextRun(timetable, runOf(timetable))?.runId).toBe('B');
  });

  it('an added trip has the calls of its feed at known stops', () => {
    const timed = (stopId: string, time: string) => ({ stopId, departure: { delay: 60, time: at(time) / 1000 } });
    const stops = [timed('R1', '08:03'), timed('signal', '08:04'), { stopId: 'C1' }, timed('T1', '08:09')];
    const planned = timetableOf(A);
    const added = { tripId: 'X', routeId: 'R', scheduleRelationship: 1, stops };
    const live = new LiveTimetable(planned, [predict(planned, [added], { source: 'sydneytrains', now: NOW })]);
    const calls = live.listAdded('X').flatMap((run) => callsOfRun(live, run).calls);
    expect(calls.map(({ stopId, arrival, departure }) => [stopId, timesOf(arrival), timesOf(departure)])).toEqual([
      ['R1', null, [at('08:02'), at('08:03')]],
      ['T1', [at('08:08'), at('08:09')], null],
    ]);
  });
});
