import { DateTime } from 'luxon';

/*
 * Timetables count minutes from the start of a service day, and past 24:00 into the next morning. As in GTFS, a
 * service day starts twelve hours before its local noon. That is midnight but for the two days a year on which the
 * clocks change: then it is 01:00 daylight time (April) or 23:00 the evening before (October), so that the daytime
 * service reads right on the clock and every run happens exactly once.
 */

const ZONE = 'Australia/Sydney';
const SECONDS_PER_DAY = 86_400;

const starts = new Map<number, number>();

/** Start of a service day in epoch seconds. Days are numbered from 1970-01-01. */
export function serviceDayStart(day: number): number {
  const known = starts.get(day);
  if (known !== undefined) return known;
  const date = DateTime.fromSeconds(day * SECONDS_PER_DAY, { zone: 'utc' });
  const noon = DateTime.fromObject({ year: date.year, month: date.month, day: date.day, hour: 12 }, { zone: ZONE });
  const start = noon.toSeconds() - SECONDS_PER_DAY / 2;
  if (starts.size > 1000) starts.clear();
  starts.set(day, start);
  return start;
}

/** The Sydney calendar day of an instant, numbered from 1970-01-01. */
export function localDay(epochSeconds: number): number {
  const local = DateTime.fromSeconds(epochSeconds, { zone: ZONE });
  return Math.round(Date.UTC(local.year, local.month - 1, local.day) / 1000 / SECONDS_PER_DAY);
}

export function isWeekend(day: number): boolean {
  const weekday = (day + 4) % 7;
  return weekday === 0 || weekday === 6;
}

/**
 * The instant meant by `itdDate` (YYYYMMDD) and `itdTime` (HHMM), both Sydney wall clock and both optional; epoch
 * seconds, or undefined for a date that is none. In the hour that happens twice it is the occurrence nearer to now: the
 * first for whoever asks beforehand. The hour that does not happen is taken an hour later.
 */
export function askedSeconds(query: URLSearchParams, nowSeconds: number): number | undefined {
  const date = query.get('itdDate');
  const time = query.get('itdTime');
  if (!date && !time) return nowSeconds;
  const now = DateTime.fromSeconds(nowSeconds, { zone: ZONE });
  const clock = `${date || now.toFormat('yyyyMMdd')} ${time || now.toFormat('HHmm')}`;
  const asked = DateTime.fromFormat(clock, 'yyyyMMdd HHmm', { zone: ZONE });
  if (!asked.isValid) return undefined;
  const occurrences = [asked.minus({ hours: 1 }), asked, asked.plus({ hours: 1 })]
    .filter((moment) => moment.hour === asked.hour)
    .map((moment) => moment.toSeconds());
  const nearest = occurrences.sort((a, b) => Math.abs(a - nowSeconds) - Math.abs(b - nowSeconds) || a - b);
  return nearest[0];
}

const DAYS_KEPT_BEHIND = 7;
const DAYS_PUBLISHED_AHEAD = 14;

/** Whether the timetable of that instant is published: from a week ago to two weeks ahead. */
export function isPublished(epochSeconds: number, nowSeconds: number): boolean {
  const daysAhead = localDay(epochSeconds) - localDay(nowSeconds);
  return daysAhead >= -DAYS_KEPT_BEHIND && daysAhead <= DAYS_PUBLISHED_AHEAD;
}

/** Upstream's spelling of an instant: UTC, whole seconds. */
export function timestamp(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 19)}Z`;
}
