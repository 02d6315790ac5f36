import { DAY_MS } from '../core/clock.ts';

/*
 * The day by which quotas are counted: when it begins, how long it is, and how texts say so. To move the reset, change this
 * file, and `docs/guide/limits.md`, which explains it. A key ends with such a day (decision 24): the stores compare UTC dates.
 */

export const DAY_SECONDS = DAY_MS / 1000;
/** When counting starts again, for texts that know no day. */
export const RESET_TIME = '00:00 UTC';

/** A UTC day, `YYYYMMDD`. It is part of a counter's name, so each day has a counter of its own. */
export type UtcDay = string;

/** Every request needs the day, and it is nearly always the same as a moment ago. */
let latest = { number: Number.NaN, day: '' };

export function utcDay(now: Date): UtcDay {
  const number = Math.floor(now.getTime() / DAY_MS);
  if (number !== latest.number) latest = { number, day: now.toISOString().slice(0, 10).replaceAll('-', '') };
  return latest.day;
}

/** The UTC day that many days after the day of `now`, or before when negative. */
export function utcDayFrom(now: Date, days: number): UtcDay {
  return utcDay(new Date(now.getTime() + days * DAY_MS));
}

/** 00:00 UTC after the day. */
export function endOfDay(day: UtcDay): Date {
  return new Date(Date.parse(dashed(day)) + DAY_MS);
}

/** `YYYYMMDD` to `YYYY-MM-DD` */
export function dashed(day: UtcDay): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}

/** Whole seconds from `now` until the instant, rounded up, so that a client that waits them is not too early. */
export function secondsUntil(instant: Date, now: Date): number {
  return Math.max(0, Math.ceil((instant.getTime() - now.getTime()) / 1000));
}
