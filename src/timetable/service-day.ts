import { DateTime } from 'luxon';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts';
import { SYDNEY } from '../transit/region.ts';

/** Times of a service day continue past midnight; upstream's reach 34:30:00. */
export const MAX_SECONDS = 48 * 3600;

/**
 * A service day is a number: days from 1970-01-01 to its date. Times count from noon minus twelve hours, which is midnight
 * except in the two nights a year in which clocks change. So 08:00 is always 08:00 on the clock.
 */

/** The day number of a `YYYYMMDD` date; null if it is invalid. */
export function toDayNumber(date: string): number | null {
  if (!/^\d{8}$/.test(date)) return null;
  const [year, month, day] = [Number(date.slice(0, 4)), Number(date.slice(4, 6)), Number(date.slice(6))];
  const moment = new Date(Date.UTC(year, month - 1, day));
  // `Date.UTC` turns 30 February into 2 March.
  return moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day ? moment.getTime() / DAY_MS : null;
}

export function toDate(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
}

export const DAYS_OF_WEEK = 7;

/** 0 is Monday, the column order of calendar.txt. */
export function weekdayOf(day: number): number {
  // 1970-01-01 was a Thursday.
  return (((day + 3) % DAYS_OF_WEEK) + DAYS_OF_WEEK) % DAYS_OF_WEEK;
}

/** The hour in Sydney. Luxon takes twenty times as long. */
const hourInSydney = new Intl.DateTimeFormat('en-AU', { timeZone: SYDNEY, hour: 'numeric', hourCycle: 'h23' });
/** Sydney is ten hours ahead of UTC, and eleven in summer. */
const MIN_AHEAD_HOURS = 10;

let latest = { day: Number.NaN, start: Number.NaN };

/** The time from which a service day counts, in milliseconds since 1970. */
export function serviceDayStart(day: number): number {
  if (latest.day !== day) {
    const aboutNoon = day * DAY_MS + (12 - MIN_AHEAD_HOURS) * HOUR_MS;
    const summerHours = Number(hourInSydney.format(aboutNoon)) - 12;
    latest = { day, start: aboutNoon - (summerHours + 12) * HOUR_MS };
  }
  return latest.start;
}

/** Converts seconds since the start of a service day to milliseconds since 1970. */
export function toMoment(day: number, seconds: number): number {
  return serviceDayStart(day) + seconds * SECOND_MS;
}

/** The calendar day in Sydney at a time in milliseconds since 1970. */
export function calendarDayAt(moment: number): number {
  const { year, month, day } = DateTime.fromMillis(moment, { zone: SYDNEY });
  return Date.UTC(year, month - 1, day) / DAY_MS;
}
