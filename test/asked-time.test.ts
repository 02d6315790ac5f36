import { describe, expect, it } from 'vitest';
import { askedWallClock } from '#src/operation.ts';

describe('the moment asked for', () => {
  const now = new Date('2026-04-15T06:25:30Z');

  it('is now when neither date nor time is given', () => {
    expect(askedWallClock({}, now)).toBeNull();
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
  ])('%j', (query, asked) => {
    expect(askedWallClock(query, now)).toEqual(asked);
  });

  it('is refused for a day gone by, whatever the time', () => {
    expect(() => askedWallClock({ date: '20260414', time: '2359' }, now)).toThrow('20260414 is in the past');
    expect(() => askedWallClock({ date: '20251231' }, now)).toThrow('today (20260415 in Sydney)');
  });

  it('counts days as Sydney does, not as UTC does', () => {
    const justAfterMidnight = new Date('2026-04-14T14:00:00Z');
    expect(() => askedWallClock({ date: '20260414' }, justAfterMidnight)).toThrow('in the past');
    expect(askedWallClock({ date: '20260415' }, justAfterMidnight)).toEqual({ date: '20260415', time: '0000' });
    const justBeforeMidnight = new Date('2026-04-14T13:59:00Z');
    expect(askedWallClock({ date: '20260414' }, justBeforeMidnight)).toEqual({ date: '20260414', time: '2359' });
  });
});
