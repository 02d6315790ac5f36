import type { SandboxService } from '../network/network.ts';
import type { PatternNode } from '../network/network-index.ts';
import { localDay, runsOn, serviceDayStart } from './service-day.ts';

/** All runs of one pattern in a few days around an asked time, by departure. Entry n of each list belongs to run n. */
export interface RunList {
  /** Departure from the first call, epoch seconds. */
  starts: Float64Array;
  /** Service day. */
  days: Int32Array;
  /** Minute of the service day. */
  minutes: Int32Array;
}

/** The runs around one asked time. Each list is made when it is first asked for. */
export type Timetable = (pattern: PatternNode) => RunList;

const DAYS_BEFORE = 2; // Runs of the day before go on past midnight, and the longest take half a day.
const DAYS_AFTER = 2;
const WINDOWS_KEPT = 8;

/** A timetable for each asked time. Times of the same Sydney day share their lists. */
export function createTimetables(): (aroundSeconds: number) => Timetable {
  const windows = new Map<number, Map<PatternNode, RunList>>();
  return (aroundSeconds) => {
    const day = localDay(aroundSeconds);
    let lists = windows.get(day);
    if (lists === undefined) {
      lists = new Map();
      windows.set(day, lists);
      const oldest = windows.keys().next().value;
      if (windows.size > WINDOWS_KEPT && oldest !== undefined) windows.delete(oldest);
    }
    const kept = lists;
    return (pattern) => {
      let list = kept.get(pattern);
      if (list === undefined) {
        list = runListOf(pattern, day - DAYS_BEFORE, day + DAYS_AFTER);
        kept.set(pattern, list);
      }
      return list;
    };
  };
}

function runListOf(pattern: PatternNode, firstDay: number, lastDay: number): RunList {
  const runs: { start: number; day: number; minute: number }[] = [];
  for (let day = firstDay; day <= lastDay; day++) {
    const dayStart = serviceDayStart(day);
    for (const minute of departureMinutes(pattern.pattern.services, day)) {
      runs.push({ start: dayStart + minute * 60, day, minute });
    }
  }
  runs.sort((a, b) => a.start - b.start || a.day - b.day);
  return {
    starts: Float64Array.from(runs, (run) => run.start),
    days: Int32Array.from(runs, (run) => run.day),
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
