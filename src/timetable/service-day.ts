import { DateTime } from 'luxon';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts';
import { SYDNEY } from '../transit/region.ts';

/** Times of a service day go on past midnight; upstream's reach 34:30:00. */
export const MAX_SECONDS = 48 * 3600;

/*
 * A service day is a number: days since 1970-01-01 of its date. Times count from noon minus twelve hours, which is midnight but
 * in the two nights a year in which clocks change: so 08:00 is 08:00 on the clock on every day.
 */

/** The number of `YYYYMMDD`; null for what is no date. */
export function toDayNumber(date: string): number | null {
  if (!/^\d{8}$/.test(date)) return null;
  const [year, month, day] = [Number(date.slice(0, 4)), Number(date.slice(4, 6)), Number(date.slice(6))];
  const moment = new Date(Date.UTC(year, month - 1, day));
  // `Date.UTC` takes 30 February for 2 March.
  return moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day ? moment.getTime() / DAY_MS : null;
}

/** `YYYYMMDD` */
export function toDate(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
}

/** 0 is Monday, as the columns of calendar.txt are ordered. */
export function weekdayOf(day: number): number {
  // 1970-01-01 was a Thursday.
  return (((day + 3) % 7) + 7) % 7;
}

const starts = new Map<number, number>();
const MAX_CACHED_DAYS = 2000;

/** The moment from which the times of a service day count, in milliseconds since 1970. */
export function serviceDayStart(day: number): number {
  const known = starts.get(day);
  if (known !== undefined) return known;
  const noon = DateTime.fromISO(`${new Date(day * DAY_MS).toISOString().slice(0, 10)}T12:00:00`, { zone: SYDNEY });
  const start = noon.toMillis() - 12 * HOUR_MS;
  if (starts.size >= MAX_CACHED_DAYS) starts.clear();
  starts.set(day, start);
  return start;
}

/** `seconds` since the start of the service day as milliseconds since 1970. */
export function toMoment(day: number, seconds: number): number {
  return serviceDayStart(day) + seconds * SECOND_MS;
}

/** The day on the calendar of Sydney at this moment, in milliseconds since 1970. */
export function calendarDayAt(moment: number): number {
  const { year, month, day } = DateTime.fromMillis(moment, { zone: SYDNEY });
  return Date.UTC(year, month - 1, day) / DAY_MS;
}
