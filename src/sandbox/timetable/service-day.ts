import { DateTime } from 'luxon';
import type { SandboxCalendar } from '../network/network.ts';

/*
 * Timetables count minutes from the start of a service day, and past 24:00 into the next morning. As in GTFS, a service
 * day starts twelve hours before local noon. That is midnight except on the two days on which the clocks change: 01:00
 * daylight time in April, 23:00 of the evening before in October. Daytime departures are then right by the clock, and
 * every run happens exactly once.
 */

export const ZONE = 'Australia/Sydney';
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

export function runsOn({ weekdays, firstDay, lastDay }: SandboxCalendar, day: number): boolean {
  // 1970-01-01 was a Thursday.
  return day >= firstDay && day <= lastDay && weekdays[(day + 3) % 7] === true;
}
