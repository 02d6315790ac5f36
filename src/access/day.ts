import { DateTime } from 'luxon';

/**
 * The day of quotas: when it begins, its length, and its description in texts. To move the reset, change these two constants and
 * `docs/guide/limits.md`. Keys also end with such a day (decision 23).
 */
const ZONE = 'UTC';
/** The time zone of quota days in texts. */
export const QUOTA_ZONE = 'UTC';
/** The reset time, for texts without a date. */
export const RESET_TIME = `00:00 ${QUOTA_ZONE}`;

/** The date of a quota day, `YYYYMMDD`. It is part of each counter's name, so each day has its own counters. */
export type QuotaDay = string;

/** Quota days that begin at midnight of a time zone. Its days may have 23 or 25 hours. */
export function createQuotaDays(zone: string) {
  /** Cached, because every request needs the day. */
  let latest = { day: '', startsAt: Number.NaN, endsAt: Number.NaN, endsAtText: '' };

  function find(start: DateTime) {
    const end = start.plus({ days: 1 });
    return {
      day: start.toFormat('yyyyMMdd'),
      startsAt: start.toMillis(),
      endsAt: end.toMillis(),
      endsAtText: end.toJSDate().toISOString(),
    };
  }

  const dayAt = (ms: number) => DateTime.fromMillis(ms, { zone }).startOf('day');

  function boundsOf(day: QuotaDay) {
    return day === latest.day ? latest : find(DateTime.fromISO(day, { zone }));
  }

  return {
    quotaDay(now: number): QuotaDay {
      if (!(now >= latest.startsAt && now < latest.endsAt)) latest = find(dayAt(now));
      return latest.day;
    },
    /** The quota day `days` after the day of `now`, or before it if negative. */
    quotaDayFrom: (now: number, days: number): QuotaDay => dayAt(now).plus({ days }).toFormat('yyyyMMdd'),
    endOfDay: (day: QuotaDay): number => boundsOf(day).endsAt,
    /** The end of the day as a UTC text in ISO 8601. A key whose end is an earlier text is refused on that day. */
    endOfDayText: (day: QuotaDay): string => boundsOf(day).endsAtText,
    secondsOfDay(day: QuotaDay): number {
      const { startsAt, endsAt } = boundsOf(day);
      return (endsAt - startsAt) / 1000;
    },
  };
}

export const { quotaDay, quotaDayFrom, endOfDay, endOfDayText, secondsOfDay } = createQuotaDays(ZONE);

/** `YYYYMMDD` to `YYYY-MM-DD` */
export function formatDay(day: QuotaDay): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}

/** Seconds from `now` until the instant, rounded up so that clients do not retry too early; at least 0. */
export function secondsUntil(instant: number, now: number): number {
  return Math.max(0, Math.ceil((instant - now) / 1000));
}
