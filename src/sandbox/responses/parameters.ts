import { DateTime } from 'luxon';
import { localDay, ZONE } from '../timetable/timetable.ts';

const DAYS_KEPT_BEHIND = 7;
const DAYS_PUBLISHED_AHEAD = 14;

/**
 * The instant meant by `itdDate` (YYYYMMDD) and `itdTime` (HHMM), both Sydney wall clock and both optional; epoch
 * seconds, or undefined for an impossible date. When daylight saving begins, a time that is skipped means the moment of
 * the change. When it ends, a time that comes twice means the pass with the clock offset of now: the first until the
 * change, the second from then on.
 */
export function askedSeconds(query: URLSearchParams, nowSeconds: number): number | undefined {
  const date = query.get('itdDate');
  const time = query.get('itdTime');
  if (!date && !time) return nowSeconds;
  const now = DateTime.fromSeconds(nowSeconds, { zone: ZONE });
  const clock = `${date || now.toFormat('yyyyMMdd')} ${time || now.toFormat('HHmm')}`;
  const asked = DateTime.fromFormat(clock, 'yyyyMMdd HHmm', { zone: ZONE });
  if (!asked.isValid) return undefined;
  // luxon moves a skipped time on by an hour.
  if (asked.toFormat('yyyyMMdd HHmm') !== clock) return asked.startOf('hour').toSeconds();
  const passes = asked.getPossibleOffsets();
  return (passes.find((pass) => pass.offset === now.offset) ?? asked).toSeconds();
}

/** Whether the timetable of that instant is published: from a week ago to two weeks ahead. */
export function isPublished(epochSeconds: number, nowSeconds: number): boolean {
  const daysAhead = localDay(epochSeconds) - localDay(nowSeconds);
  return daysAhead >= -DAYS_KEPT_BEHIND && daysAhead <= DAYS_PUBLISHED_AHEAD;
}

const ON_RAILS = [1, 2, 4];

/**
 * Product classes that a request excludes. `exclMOT_n=1` needs `excludedMeans=checkbox`; other spellings are silently
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
