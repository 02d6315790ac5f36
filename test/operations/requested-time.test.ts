import { describe, expect, it } from 'vitest';
import { requestedWallClock } from '#src/operations/operation.ts';

describe('the requested date and time', () => {
  const now = Date.parse('2026-04-15T06:25:30Z');

  it('the requested time is now when neither date nor time is given', () => {
    expect(requestedWallClock({}, now)).toBeNull();
  });

  it.each([
    [{ time: '0800' }, { date: '20260415', time: '0800' }],
    [{ time: '2359' }, { date: '20260415', time: '2359' }],
    [{ date: '20260415' }, { date: '20260415', time: '1625' }],
    [{ date: '20260416' }, { date: '20260416', time: '1625' }],
    [
      { date: '20260415', time: '0000' },
      { date: '20260415', time: '0000' },
    ],
    [
      { date: '20261004', time: '0230' },
      { date: '20261004', time: '0230' },
    ],
  ])('the query %j requests the time %j', (query, sent) => {
    expect(requestedWallClock(query, now)).toEqual(sent);
  });

  it('the requested day may be yesterday, whatever the time, but no earlier day', () => {
    expect(requestedWallClock({ date: '20260414', time: '2359' }, now)).toEqual({ date: '20260414', time: '2359' });
    expect(() => requestedWallClock({ date: '20260413', time: '2359' }, now)).toThrow(
      '`date` 20260413 is too far in the past',
    );
    expect(() => requestedWallClock({ date: '20251231' }, now)).toThrow('yesterday (20260414 in Sydney)');
    expect(() => requestedWallClock({ time: '20260413T2359' }, now)).toThrow('`time` 20260413 is too far in the past');
  });

  it('the time may contain the date, and `date` may then only name the same day', () => {
    const sent = { date: '20260416', time: '0800' };
    expect(requestedWallClock({ time: '20260416T0800' }, now)).toEqual(sent);
    expect(requestedWallClock({ date: '20260416', time: '20260416T0800' }, now)).toEqual(sent);
    expect(() => requestedWallClock({ date: '20260417', time: '20260416T0800' }, now)).toThrow(
      '`date` must be left out if `time` includes a day (20260416 in Sydney).',
    );
  });

  it('the requested days are days in Sydney, not in UTC', () => {
    const justAfterMidnight = Date.parse('2026-04-14T14:00:00Z');
    expect(() => requestedWallClock({ date: '20260413' }, justAfterMidnight)).toThrow('in the past');
    expect(requestedWallClock({ date: '20260415' }, justAfterMidnight)).toEqual({ date: '20260415', time: '0000' });
    const justBeforeMidnight = Date.parse('2026-04-14T13:59:00Z');
    expect(requestedWallClock({ date: '20260413' }, justBeforeMidnight)).toEqual({ date: '20260413', time: '2359' });
  });

  it('yesterday is accepted across the end of a month or year and on days when clocks change', () => {
    for (const [present, date] of [
      ['2026-12-31T13:00:00Z', '20261231'],
      ['2028-02-29T13:00:00Z', '20280229'],
      ['2026-10-03T16:00:00Z', '20261003'],
      ['2026-04-04T16:30:00Z', '20260404'],
    ] as const)
      expect(requestedWallClock({ date }, Date.parse(present))).toMatchObject({ date });
  });
});
