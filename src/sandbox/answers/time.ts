import { DateTime } from 'luxon';
import { localDay, ZONE } from '../timetable/service-day.ts';

const DAYS_KEPT_BEHIND = 7;
const DAYS_PUBLISHED_AHEAD = 14;

/**
 * The instant meant by `itdDate` (YYYYMMDD) and `itdTime` (HHMM), both Sydney wall clock and both optional; epoch
 * seconds, or undefined for an impossible date. Of the hour that comes twice when daylight saving ends, it is the
 * occurrence nearer to now. A time that is skipped when daylight saving begins is read an hour later.
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

/** Whether the timetable of that instant is published: from a week ago to two weeks ahead. */
export function isPublished(epochSeconds: number, nowSeconds: number): boolean {
  const daysAhead = localDay(epochSeconds) - localDay(nowSeconds);
  return daysAhead >= -DAYS_KEPT_BEHIND && daysAhead <= DAYS_PUBLISHED_AHEAD;
}

/** UTC, whole seconds, as in the authority's answers. */
export function timestamp(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 19)}Z`;
}
