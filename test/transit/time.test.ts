import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  dateParameter,
  earliestMoment,
  formatTimestamp,
  fromSydneyWallClock,
  minutesBetween,
  nextWeekdayMorning,
  parseTimestamp,
  timeParameter,
  toSydneyWallClock,
  wallClockFrom,
  wallClockUntil,
} from '#src/transit/time.ts';

describe('the wall clock in Sydney', () => {
  it.each([
    ['2026-04-15T06:25:30Z', '20260415', '1625'],
    ['2026-01-14T00:14:36Z', '20260114', '1114'],
    // Midnight, in winter and in summer.
    ['2026-07-01T13:59:59Z', '20260701', '2359'],
    ['2026-07-01T14:00:00Z', '20260702', '0000'],
    ['2026-12-31T12:59:00Z', '20261231', '2359'],
    ['2026-12-31T13:00:00Z', '20270101', '0000'],
    // The first Sunday of April: 02:00 to 02:59 occurs twice.
    ['2026-04-04T15:30:00Z', '20260405', '0230'],
    ['2026-04-04T16:30:00Z', '20260405', '0230'],
    ['2026-04-04T17:00:00Z', '20260405', '0300'],
    // The first Sunday of October: 02:00 to 02:59 does not exist.
    ['2026-10-03T15:59:00Z', '20261004', '0159'],
    ['2026-10-03T16:00:00Z', '20261004', '0300'],
  ])('%s is %s %s on the wall clock in Sydney', (instant, date, time) => {
    expect(toSydneyWallClock(Date.parse(instant))).toEqual({ date, time });
  });

  // Upstream reads a time in the repeated hour with the offset in force now.
  it.each([
    ['2026-11-19T21:00:30Z', 'any time', '0800', '0801'],
    ['2026-11-20T12:59:30Z', 'any time', '2359', '0000'],
    ['2026-04-04T15:30:30Z', 'before the change', '0230', '0231'],
    ['2026-04-04T16:30:30Z', 'before the change', '0259', '0300'],
    ['2026-04-04T15:30:30Z', 'after the change', '0159', '0200'],
    ['2026-04-04T16:30:30Z', 'after the change', '0230', '0231'],
    ['2026-10-03T15:59:30Z', 'any time', '0159', '0300'],
  ])('upstream lists everything around %s, requested at %s, from %s until %s', (instant, when, from, until) => {
    const now = Date.parse(when === 'after the change' ? '2026-04-04T20:00:00Z' : '2026-04-04T10:00:00Z');
    expect(wallClockFrom(Date.parse(instant), now).time).toBe(from);
    expect(wallClockUntil(Date.parse(instant), now).time).toBe(until);
  });
});

describe('the UTC time of a local time, in every season', () => {
  afterEach(() => void vi.useRealTimers());

  it.each(['2026-01-15', '2026-07-15'])('read on %s, the first pass of a repeated hour is the earliest', (today) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(today) });
    const read = (date: string, time: string) => new Date(earliestMoment({ date, time })).toISOString();
    expect(read('20260405', '0230')).toBe('2026-04-04T15:30:00.000Z');
    expect(fromSydneyWallClock({ date: '20260405', time: '0230' })).toBeNull();
    expect(read('20260405', '0300')).toBe('2026-04-04T17:00:00.000Z');
    expect(read('20261004', '0230')).toBe('2026-10-03T16:30:00.000Z');
    expect(fromSydneyWallClock({ date: '20261004', time: '0230' })).toBeNull();
  });
});

describe('date and time parameters', () => {
  it.each(['20260415', '20280229', '20261231', ' 20260415 ', '2026-04-15'])('%j is a valid date', (text) => {
    expect(dateParameter.parse(text)).toBe(text.trim().replaceAll('-', ''));
  });

  it.each(['20260229', '20260431', '20261301', '20260400', '2026415', '2026-0415', '15042026', 'today', ''])(
    '%j is not a valid date',
    (text) => {
      expect(dateParameter.safeParse(text).success).toBe(false);
    },
  );

  it.each(['0000', '0800', '1959', '2359', '08:00', '23:59'])('%j is a valid time', (text) => {
    expect(timeParameter.parse(text)).toBe(text.replace(':', ''));
  });

  it.each(['2400', '0860', '800', '8:00', '24:00', '8am', '-100', ''])('%j is not a valid time', (text) => {
    expect(timeParameter.safeParse(text).success).toBe(false);
  });
});

describe('the `time` parameter as a timestamp', () => {
  it.each([
    ['2026-11-23T08:00+11:00', '20261123T0800'],
    ['2026-11-23T08:00 11:00', '20261123T0800'],
    ['2026-11-22T21:00Z', '20261123T0800'],
    ['2026-11-22t21:00:59.999z', '20261123T0800'],
    ['2026-11-22T16:00:00-0500', '20261123T0800'],
    ['2026-11-23 08:00', '20261123T0800'],
    [' 2026-11-23T05:30+08:30 ', '20261123T0800'],
    ['2026-12-31T23:30+09', '20270101T0130'],
    // The first Sunday of October: 02:00 to 02:59 does not exist.
    ['2026-10-04T01:59+10:00', '20261004T0159'],
    ['2026-10-03T15:59Z', '20261004T0159'],
    ['2026-10-04T02:30+10:00', '20261004T0330'],
    ['2026-10-03T16:00Z', '20261004T0300'],
    ['2026-10-04T03:00+11:00', '20261004T0300'],
    // The first Sunday of April: 02:00 to 02:59 occurs twice.
    ['2026-04-05T01:59+11:00', '20260405T0159'],
    ['2026-04-05T02:30+11:00', '20260405T0230'],
    ['2026-04-05T02:30+10:00', '20260405T0230'],
    ['2026-04-04T16:59Z', '20260405T0259'],
    ['2026-04-05T03:00+11:00', '20260405T0200'],
    ['2026-04-04T17:00Z', '20260405T0300'],
  ])('the `time` parameter %j is read as %s in Sydney', (text, wallClock) => {
    expect(timeParameter.parse(text)).toBe(wallClock);
  });

  it.each([
    '2026-02-30T08:00Z',
    '2026-11-23T25:00',
    '2026-11-23',
    '2026-11-23T08:00+',
    '2026-11-23T08:00+25:00',
    '9999-12-31T23:59Z',
    '1795000000',
    '2026-11-23T08Z',
    'now',
  ])('the `time` parameter %j is refused', (text) => {
    expect(timeParameter.safeParse(text).success).toBe(false);
  });
});

describe('the next weekday morning', () => {
  it.each([
    ['Wednesday afternoon', '2026-04-15T06:25:30Z', '20260416'],
    ['Thursday night, Friday in Sydney', '2026-04-16T14:30:00Z', '20260420'],
    ['Friday', '2026-04-17T02:00:00Z', '20260420'],
    ['Saturday', '2026-04-18T02:00:00Z', '20260420'],
    ['Sunday', '2026-04-19T02:00:00Z', '20260420'],
    ['Monday before eight', '2026-04-19T20:00:00Z', '20260421'],
    ['the Saturday before the clocks go back', '2026-04-04T13:30:00Z', '20260406'],
    ['the Sunday on which they go forward', '2026-10-03T15:30:00Z', '20261005'],
  ])('the next weekday morning is found from %s', (_what, now, date) => {
    expect(nextWeekdayMorning(Date.parse(now))).toEqual({ date, time: '0800' });
  });
});

describe('timestamps', () => {
  it('timestamps are written in UTC in whole seconds', () => {
    expect(formatTimestamp(Date.parse('2026-04-15T16:25:30.999+10:00'))).toBe('2026-04-15T06:25:30Z');
  });

  it.each([
    ['2026-04-15T06:25:00Z', '2026-04-15T06:25:00.000Z'],
    ['2026-04-15T06:25:30.5Z', '2026-04-15T06:25:30.500Z'],
    ['2026-04-15T16:25:00+10:00', '2026-04-15T06:25:00.000Z'],
    ['2026-04-15T06:25:00', '2026-04-15T06:25:00.000Z'],
  ])('the timestamp %s is read as %s', (text, instant) => {
    expect(parseTimestamp(text)).toBe(Date.parse(instant));
  });

  it.each([
    undefined,
    '',
    'soon',
    '2026-04-31T00:00:00Z',
    '0000-00-00T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '9999-12-31T23:59:59Z',
  ])('%j is not read as a timestamp', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it('minutes between two times are whole and never negative, across both clock changes', () => {
    const between = (from: string, until: string) => minutesBetween(Date.parse(from), Date.parse(until));
    expect(between('2026-04-04T15:30:00Z', '2026-04-04T16:30:20Z')).toBe(60);
    expect(between('2026-10-03T16:00:00Z', '2026-10-03T15:59:00Z')).toBe(0);
  });
});
