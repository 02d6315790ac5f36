import { DateTime } from 'luxon';
import { localDay, ZONE } from '../timetable/timetable.ts';

const DAYS_KEPT_BEHIND = 7;
const DAYS_PUBLISHED_AHEAD = 14;

/**
 * The time given by `itdDate` (YYYYMMDD) and `itdTime` (HHMM), both optional and in Sydney local time. Returns epoch seconds,
 * or undefined for an impossible date. When daylight saving begins, a skipped time means the moment of the change. When
 * it ends, an ambiguous time is read with the current clock offset.
 */
export function requestedSeconds(query: URLSearchParams, nowSeconds: number): number | undefined {
  const date = query.get('itdDate');
  const time = query.get('itdTime');
  if (!date && !time) return nowSeconds;
  const now = DateTime.fromSeconds(nowSeconds, { zone: ZONE });
  const clock = `${date || now.toFormat('yyyyMMdd')} ${time || now.toFormat('HHmm')}`;
  const requested = DateTime.fromFormat(clock, 'yyyyMMdd HHmm', { zone: ZONE });
  if (!requested.isValid) return undefined;
  // luxon moves a skipped time forward by an hour.
  if (requested.toFormat('yyyyMMdd HHmm') !== clock) return requested.startOf('hour').toSeconds();
  const passes = requested.getPossibleOffsets();
  return (passes.find((pass) => pass.offset === now.offset) ?? requested).toSeconds();
}

/** Whether the timetable for that time is published: from a week ago to two weeks ahead. */
export function isPublished(epochSeconds: number, nowSeconds: number): boolean {
  const daysAhead = localDay(epochSeconds) - localDay(nowSeconds);
  return daysAhead >= -DAYS_KEPT_BEHIND && daysAhead <= DAYS_PUBLISHED_AHEAD;
}

const ON_RAILS = [1, 2, 4];

/**
 * The product classes that a request excludes. `exclMOT_n=1` needs `excludedMeans=checkbox`; other spellings are silently
 * ignored. `excludedMeans=checkbox` alone silently excludes everything on rails.
 */
export function excludedClasses(query: URLSearchParams): ReadonlySet<number> {
  if (query.get('excludedMeans') !== 'checkbox') return new Set();
  const ticked = [...query]
    .map(([name, value]) => (value === '1' ? /^exclMOT_(\d+)$/.exec(name)?.[1] : undefined))
    .filter((number) => number !== undefined)
    .map(Number);
  return new Set(ticked.length > 0 ? ticked : ON_RAILS);
}
