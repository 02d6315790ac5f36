import { DateTime } from 'luxon';
import type { SandboxCalendar, SandboxService } from '../network/network.ts';
import type { PatternNode } from '../network/network-index.ts';

/** All runs of one pattern in a few days around a time, by departure. Entry n of each list belongs to run n. */
export type RunList = ReturnType<typeof runListOf>;

/** The runs around one time. Each list is made when it is first used. */
export type Timetable = (pattern: PatternNode) => RunList;

const DAYS_BEFORE = 2; // Runs of the day before go on past midnight, and the longest take half a day.
const DAYS_AFTER = 2;
const WINDOWS_KEPT = 8;

/** The lists by the Sydney day that they are around. */
const windows = new Map<number, WeakMap<PatternNode, RunList>>();

/** Returns the timetable around a time. Times of the same Sydney day share their lists. */
export function timetableAround(epochSeconds: number): Timetable {
  const day = localDay(epochSeconds);
  const lists = windows.get(day) ?? new WeakMap<PatternNode, RunList>();
  windows.set(day, lists);
  const [oldest = day] = windows.keys();
  if (windows.size > WINDOWS_KEPT) windows.delete(oldest);
  return (pattern) => {
    const known = lists.get(pattern);
    if (known) return known;
    const list = runListOf(pattern, day - DAYS_BEFORE, day + DAYS_AFTER);
    lists.set(pattern, list);
    return list;
  };
}

function runListOf(pattern: PatternNode, firstDay: number, lastDay: number) {
  const runs: { start: number; day: number; minute: number }[] = [];
  for (let day = firstDay; day <= lastDay; day++) {
    const dayStart = serviceDayStart(day);
    for (const minute of departureMinutes(pattern.pattern.services, day)) {
      runs.push({ start: dayStart + minute * 60, day, minute });
    }
  }
  runs.sort((a, b) => a.start - b.start || a.day - b.day);
  return {
    /** Departure from the first call, epoch seconds. */
    starts: Float64Array.from(runs, (run) => run.start),
    /** Service day. */
    days: Int32Array.from(runs, (run) => run.day),
    /** Minute of the service day. */
    minutes: Int32Array.from(runs, (run) => run.minute),
  };
}

/** Minutes of a service day at which a pattern departs, rising. Two services at the same minute are one departure. */
export function departureMinutes(services: readonly SandboxService[], day: number): number[] {
  const minutes = new Set<number>();
  for (const { calendar, firstMinute, lastMinute, everyMinutes } of services) {
    if (!runsOn(calendar, day)) continue;
    for (let minute = firstMinute; minute <= lastMinute; minute += everyMinutes) minutes.add(minute);
  }
  return [...minutes].sort((a, b) => a - b);
}

/** Position of the first run that departs its first call at or after `startSeconds`; the list's length if none does. */
export function firstRunFrom(list: RunList, startSeconds: number): number {
  let low = 0;
  let high = list.starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list.starts[middle] ?? 0) < startSeconds) low = middle + 1;
    else high = middle;
  }
  return low;
}

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

function runsOn({ weekdays, firstDay, lastDay }: SandboxCalendar, day: number): boolean {
  // 1970-01-01 was a Thursday.
  return day >= firstDay && day <= lastDay && weekdays[(day + 3) % 7] === true;
}
