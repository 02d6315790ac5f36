import { expect, it } from 'vitest';
import {
  calendarDayAt,
  serviceDayStart,
  toDate,
  toDayNumber,
  toMoment,
  weekdayOf,
} from '#src/timetable/service-day.ts';

const dayOf = (date: string) => toDayNumber(date) ?? Number.NaN;
const at = (date: string, hours: number) => new Date(toMoment(dayOf(date), hours * 3600)).toISOString();

it('a service day converts from a date to a number and back', () => {
  expect(toDayNumber('19700101')).toBe(0);
  expect(toDate(dayOf('20261126'))).toBe('20261126');
  expect(['20260230', '20261301', '2026-11-26', '', '202611261'].map(toDayNumber)).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});

it('the weekday of a service day counts from Monday', () => {
  expect(['20261123', '20261126', '20261129'].map((date) => weekdayOf(dayOf(date)))).toEqual([0, 3, 6]);
  expect(weekdayOf(dayOf('19691231'))).toBe(2);
});

it('times of a service day count from noon minus twelve hours', () => {
  expect(at('20261126', 8)).toBe('2026-11-25T21:00:00.000Z');
  expect(at('20260701', 8)).toBe('2026-06-30T22:00:00.000Z');
  expect(at('20261126', 34.5)).toBe('2026-11-26T23:30:00.000Z');
});

it('08:00 is at 08:00 on days when clocks change, and earlier times are shifted by an hour', () => {
  // Clocks go forward at 02:00 on 2026-10-04, so the service day starts at 23:00 the day before.
  expect(at('20261004', 8)).toBe('2026-10-03T21:00:00.000Z');
  expect(new Date(serviceDayStart(dayOf('20261004'))).toISOString()).toBe('2026-10-03T13:00:00.000Z');
  // Clocks go back at 03:00 on 2027-04-04, so the service day starts at 01:00.
  expect(at('20270404', 8)).toBe('2027-04-03T22:00:00.000Z');
  expect(new Date(serviceDayStart(dayOf('20270404'))).toISOString()).toBe('2027-04-03T14:00:00.000Z');
  // The previous service day keeps the offset it began with.
  expect(at('20261003', 26)).toBe('2026-10-03T16:00:00.000Z');
});

it('a moment belongs to the calendar day in Sydney', () => {
  expect(toDate(calendarDayAt(Date.parse('2026-11-25T12:59:59Z')))).toBe('20261125');
  expect(toDate(calendarDayAt(Date.parse('2026-11-25T13:00:00Z')))).toBe('20261126');
});
