import { describe, expect, it } from 'vitest';
import { createQuotaDays } from '../../src/access/day.ts';

const HOUR = 3_600_000;

describe.each([
  // In Sydney, 2026-10-04 has 23 hours and 2026-04-05 has 25.
  { zone: 'UTC', day: '20261004', startsAt: '2026-10-04T00:00:00.000Z', hours: 24 },
  { zone: 'Australia/Sydney', day: '20261003', startsAt: '2026-10-02T14:00:00.000Z', hours: 24 },
  { zone: 'Australia/Sydney', day: '20261004', startsAt: '2026-10-03T14:00:00.000Z', hours: 23 },
  { zone: 'Australia/Sydney', day: '20260405', startsAt: '2026-04-04T13:00:00.000Z', hours: 25 },
])('quota days of $zone on $day', ({ zone, day, startsAt, hours }) => {
  const start = Date.parse(startsAt);
  const end = start + hours * HOUR;

  it('every moment from the start until just before the end belongs to the day', () => {
    const { quotaDay } = createQuotaDays(zone);
    const others = [start - 1, end].map((ms) => quotaDay(ms));
    expect([start, start + 7 * HOUR, end - 1, start].map((ms) => quotaDay(ms))).toEqual(Array(4).fill(day));
    expect(others).not.toContain(day);
  });

  it('the end and the length are known also for a day that is not today', () => {
    const days = createQuotaDays(zone);
    for (const now of [start + HOUR, end + 40 * 24 * HOUR]) {
      days.quotaDay(now);
      expect(days.endOfDay(day)).toBe(end);
      expect(days.endOfDayText(day)).toBe(new Date(end).toISOString());
      expect(days.secondsOfDay(day)).toBe(hours * 3600);
    }
  });

  it('days before and after follow the calendar, whatever the length of the days between', () => {
    const { quotaDay, quotaDayFrom } = createQuotaDays(zone);
    const noon = new Date(start + 12 * HOUR);
    expect(quotaDayFrom(noon.getTime(), 1)).toBe(quotaDay(end));
    expect(quotaDayFrom(noon.getTime(), -1)).toBe(quotaDay(start - 1));
    expect(quotaDayFrom(noon.getTime(), 0)).toBe(day);
  });
});
