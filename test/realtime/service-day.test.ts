import { describe, expect, it } from 'vitest';
import { isOnServiceDay } from '#src/realtime/join.ts';

const HOUR = 3600;
const sydney = (text: string, offset = '+11:00') => new Date(`${text}${offset}`).getTime();
const trip = (startDate: string | null, startTimeSeconds: number | null) => ({ startDate, startTimeSeconds });

describe('the service day of a trip in a feed', () => {
  const headerAt = sydney('2026-01-14T14:00:00');
  const startsAt1427 = trip('20260114', 14 * HOUR + 27 * 60);

  it('a trip matches departures of its start day, not of the day before or after', () => {
    expect(isOnServiceDay(startsAt1427, sydney('2026-01-14T14:40:00'), headerAt)).toBe(true);
    expect(isOnServiceDay(startsAt1427, sydney('2026-01-15T14:40:00'), headerAt)).toBe(false);
    expect(isOnServiceDay(startsAt1427, sydney('2026-01-13T14:40:00'), headerAt)).toBe(false);
  });

  it('a trip that started before midnight matches departures after it, with start times beyond 24 hours too', () => {
    const headerAt = sydney('2026-01-15T00:05:00');
    const beforeMidnight = trip('20260114', 23 * HOUR + 50 * 60);
    expect(isOnServiceDay(beforeMidnight, sydney('2026-01-15T00:10:00'), headerAt)).toBe(true);
    expect(isOnServiceDay(beforeMidnight, sydney('2026-01-16T00:10:00'), headerAt)).toBe(false);
    const afterMidnight = trip('20260114', 25 * HOUR);
    expect(isOnServiceDay(afterMidnight, sydney('2026-01-15T01:10:00'), headerAt)).toBe(true);
    expect(isOnServiceDay(afterMidnight, sydney('2026-01-14T01:10:00'), headerAt)).toBe(false);
  });

  it('an early trip that runs again the next morning matches only its own morning', () => {
    const atTwo = trip('20260114', 2 * HOUR);
    expect(isOnServiceDay(atTwo, sydney('2026-01-14T02:30:00'), headerAt)).toBe(true);
    expect(isOnServiceDay(atTwo, sydney('2026-01-15T02:30:00'), headerAt)).toBe(false);
  });

  it('a trip without a start time matches its service day within 12 hours of the feed', () => {
    const dated = trip('20260114', null);
    expect(isOnServiceDay(dated, sydney('2026-01-14T14:40:00'), headerAt)).toBe(true);
    expect(isOnServiceDay(dated, sydney('2026-01-15T00:40:00'), headerAt)).toBe(true);
    expect(isOnServiceDay(dated, sydney('2026-01-15T02:40:00'), headerAt)).toBe(false);
    expect(isOnServiceDay(trip('20260113', null), sydney('2026-01-14T14:40:00'), headerAt)).toBe(false);
  });

  it('a trip without a valid date matches departures up to 9 hours from the feed', () => {
    for (const undated of [trip(null, null), trip('20261399', 5), trip(null, 14 * HOUR)]) {
      expect(isOnServiceDay(undated, sydney('2026-01-14T22:59:00'), headerAt)).toBe(true);
      expect(isOnServiceDay(undated, sydney('2026-01-14T23:01:00'), headerAt)).toBe(false);
      expect(isOnServiceDay(undated, sydney('2026-01-13T23:01:00'), headerAt)).toBe(true);
      expect(isOnServiceDay(undated, sydney('2026-01-13T22:59:00'), headerAt)).toBe(false);
    }
  });

  it('a trip with times and no date matches departures within 12 hours of its times', () => {
    const time = { delaySeconds: null, at: sydney('2026-01-13T21:10:00') };
    const none = { delaySeconds: null, at: null };
    const update = { stopId: 'P1', sequence: null, relationship: 'SCHEDULED', occupancy: null } as const;
    const leftover = { ...trip(null, null), stopUpdates: [{ ...update, arrival: none, departure: time }] };
    expect(isOnServiceDay(leftover, sydney('2026-01-13T21:04:00'), headerAt)).toBe(true);
    expect(isOnServiceDay(leftover, sydney('2026-01-14T21:04:00'), headerAt)).toBe(false);
  });

  it('a trip matches the service day of the timetable, which includes the hours after midnight', () => {
    const day = Date.UTC(2026, 0, 14) / 86_400_000;
    const night = sydney('2026-01-15T01:10:00');
    for (const dated of [trip('20260114', null), trip('20260114', 25 * HOUR)]) {
      expect(isOnServiceDay(dated, night, headerAt, day)).toBe(true);
      expect(isOnServiceDay(dated, night, headerAt, day + 1)).toBe(false);
    }
    for (const date of ['20260405', '20261004']) {
      const changing = Date.parse(date.replace(/(....)(..)/, '$1-$2-')) / 86_400_000;
      expect(isOnServiceDay(trip(date, null), 0, headerAt, changing)).toBe(true);
      expect(isOnServiceDay(trip(date, null), 0, headerAt, changing - 1)).toBe(false);
    }
  });

  it('a trip in the night when clocks go forward matches whichever way its start was counted', () => {
    const headerAt = sydney('2026-10-04T01:45:00', '+10:00');
    for (const startTime of [1 * HOUR + 30 * 60, 2 * HOUR + 30 * 60]) {
      const night = trip('20261004', startTime);
      expect(isOnServiceDay(night, sydney('2026-10-04T01:30:00', '+10:00'), headerAt)).toBe(true);
      expect(isOnServiceDay(night, sydney('2026-10-04T03:15:00'), headerAt)).toBe(true);
      expect(isOnServiceDay(night, sydney('2026-10-05T01:30:00'), headerAt)).toBe(false);
      expect(isOnServiceDay(night, sydney('2026-10-03T01:30:00', '+10:00'), headerAt)).toBe(false);
    }
  });

  it('a trip in the night when clocks go back matches in both passes of the repeated hour', () => {
    const headerAt = sydney('2026-04-05T02:10:00');
    for (const startTime of [1 * HOUR + 30 * 60, 2 * HOUR + 30 * 60]) {
      const night = trip('20260405', startTime);
      expect(isOnServiceDay(night, sydney('2026-04-05T02:30:00'), headerAt)).toBe(true);
      expect(isOnServiceDay(night, sydney('2026-04-05T02:30:00', '+10:00'), headerAt)).toBe(true);
      expect(isOnServiceDay(night, sydney('2026-04-06T02:30:00', '+10:00'), headerAt)).toBe(false);
      expect(isOnServiceDay(night, sydney('2026-04-04T02:30:00'), headerAt)).toBe(false);
    }
  });
});
