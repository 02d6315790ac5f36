import { describe, expect, it } from 'vitest';
import { isCancelled, toTimes } from '#src/efa/realtime.ts';
import { bestKnown } from '#src/transit/time.ts';

const planned = '2026-04-15T06:30:00Z';
const baseTimetable = '2026-04-15T06:30:06Z';
const estimated = '2026-04-15T06:32:48Z';
const date = (text: string) => Date.parse(text);
const none = { planned: undefined, baseTimetable: undefined, estimated: undefined };

describe('a planned time and its estimate', () => {
  it('a tracked vehicle has a planned and a live time, and the live time is the best known', () => {
    const time = toTimes({ planned, baseTimetable, estimated }, true);
    expect(time).toEqual({ plannedAt: date(planned), realtimeAt: date(estimated) });
    expect(time && bestKnown(time)).toEqual(date(estimated));
  });

  it('the estimate of an untracked vehicle is ignored', () => {
    const time = toTimes({ planned, baseTimetable, estimated }, false);
    expect(time).toEqual({ plannedAt: date(planned), realtimeAt: null });
    expect(time && bestKnown(time)).toEqual(date(planned));
  });

  it('a tracked vehicle without an estimate has no live time', () => {
    expect(toTimes({ ...none, planned }, true)).toEqual({ plannedAt: date(planned), realtimeAt: null });
    expect(toTimes({ ...none, planned, estimated: 'soon' }, true)).toEqual({
      plannedAt: date(planned),
      realtimeAt: null,
    });
  });

  it('a missing planned time falls back to the base timetable, then the estimate', () => {
    expect(toTimes({ ...none, baseTimetable, estimated }, true)?.plannedAt).toEqual(date(baseTimetable));
    expect(toTimes({ ...none, planned: 'soon', estimated }, true)?.plannedAt).toEqual(date(estimated));
  });

  it('a stop without any time has null times', () => {
    expect(toTimes(none, true)).toBeNull();
  });
});

describe('cancellations', () => {
  it.each<[call: 'departure' | 'arrival', flag: boolean | undefined, statuses: string[], cancelled: boolean]>([
    ['departure', true, [], true],
    ['departure', undefined, [], false],
    ['departure', false, ['MONITORED', 'EXTRA_STOPS', 'EXTRA_TRIP', 'EXTRA_STOP'], false],
    ['departure', undefined, ['TRIP_CANCELLED', 'MONITORED'], true],
    ['departure', undefined, ['DEPARTURE_CANCELLED'], true],
    ['departure', undefined, ['ARRIVAL_CANCELLED'], false],
    ['arrival', undefined, ['ARRIVAL_CANCELLED'], true],
    ['arrival', undefined, ['TRIP_CANCELLED'], true],
    ['arrival', undefined, ['DEPARTURE_CANCELLED'], false],
  ])('cancellation of a %s with flag %s and statuses %j is %s', (call, flag, statuses, cancelled) => {
    expect(isCancelled(call, flag, undefined, statuses)).toBe(cancelled);
  });
});
