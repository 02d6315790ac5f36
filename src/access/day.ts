import { DAY_MS } from '../core/clock.ts';

/**
 * The day of quotas: when it begins, its length, and its description in texts. To move the reset, change this file and
 * `docs/guide/limits.md`. Keys also end with such a day (decision 23): the stores compare UTC dates.
 */

export const DAY_SECONDS = DAY_MS / 1000;
/** The reset time, for texts without a date. */
export const RESET_TIME = '00:00 UTC';

/** A UTC day, `YYYYMMDD`. It is part of each counter's name, so each day has its own counters. */
export type UtcDay = string;

/** Cached, because every request needs the day. */
let latest = { number: Number.NaN, day: '' };

export function utcDay(now: Date): UtcDay {
  const number = Math.floor(now.getTime() / DAY_MS);
  if (number !== latest.number) latest = { number, day: now.toISOString().slice(0, 10).replaceAll('-', '') };
  return latest.day;
}

/** The UTC day `days` after the day of `now`, or before it if negative. */
export function utcDayFrom(now: Date, days: number): UtcDay {
  return utcDay(new Date(now.getTime() + days * DAY_MS));
}

/** The midnight (UTC) that ends the day. */
export function endOfDay(day: UtcDay): Date {
  return new Date(Date.parse(formatDay(day)) + DAY_MS);
}

/** `YYYYMMDD` to `YYYY-MM-DD` */
export function formatDay(day: UtcDay): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}

/** Seconds from `now` until the instant, rounded up so that clients do not retry too early; at least 0. */
export function secondsUntil(instant: Date, now: Date): number {
  return Math.max(0, Math.ceil((instant.getTime() - now.getTime()) / 1000));
}
