import { DateTime } from 'luxon';
import type { PatternNode } from '../network/network-index.ts';
import { seedWith } from '../trait.ts';
import type { Run } from './run.ts';
import { departureMinutes } from './services.ts';

/** The runs of a pattern in the few days around a given time, by departure. They are created on demand. */
export type Timetable = (pattern: PatternNode) => readonly Run[];

/** Runs of the previous day continue past midnight, and the longest take half a day. */
const DAYS_AROUND = [-2, -1, 0, 1, 2];
const TIMETABLES_KEPT = 8;

/** Timetables by the Sydney day at their centre. */
const timetables = new Map<number, Timetable>();

/** Returns the timetable around a time. Times of the same Sydney day share one. */
export function timetableAround(epochSeconds: number): Timetable {
  const today = localDay(epochSeconds);
  const timetable = timetables.get(today) ?? makeTimetable(today);
  timetables.set(today, timetable);
  const [oldest = today] = timetables.keys();
  if (timetables.size > TIMETABLES_KEPT) timetables.delete(oldest);
  return timetable;
}

function makeTimetable(today: number): Timetable {
  const days = DAYS_AROUND.map((offset) => ({ day: today + offset, startSeconds: serviceDayStart(today + offset) }));
  const runsByPattern = new WeakMap<PatternNode, readonly Run[]>();
  return (pattern) => {
    const runs = runsByPattern.get(pattern) ?? days.flatMap((day) => runsOf(pattern, day)).sort(compareRuns);
    runsByPattern.set(pattern, runs);
    return runs;
  };
}

function runsOf(pattern: PatternNode, { day, startSeconds }: { day: number; startSeconds: number }): Run[] {
  const seed = seedWith(pattern.seed, day);
  return departureMinutes(pattern.services, day).map((minute) => ({
    pattern,
    day,
    minute,
    startSeconds: startSeconds + minute * 60,
    seed: seedWith(seed, minute),
  }));
}

function compareRuns(a: Run, b: Run): number {
  return a.startSeconds - b.startSeconds || a.day - b.day;
}

/**
 * The index of the first run that departs from its first call at or after `startSeconds`; the list's length if there is none.
 */
export function firstRunFrom(runs: readonly Run[], startSeconds: number): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((runs[middle]?.startSeconds ?? 0) < startSeconds) low = middle + 1;
    else high = middle;
  }
  return low;
}

/*
 * Timetables count minutes from the start of a service day, past 24:00 into the next morning. As in GTFS, a service day starts
 * twelve hours before local noon. That is midnight, except on the two days of clock changes: 01:00 daylight time in April,
 * 23:00 of the previous evening in October. So daytime departures have the correct local time, and every run happens exactly
 * once.
 */

export const ZONE = 'Australia/Sydney';
const SECONDS_PER_DAY = 86_400;

/** The start of a service day in epoch seconds. Days are counted from 1970-01-01. */
export function serviceDayStart(day: number): number {
  const noon = DateTime.fromSeconds((day + 0.5) * SECONDS_PER_DAY, { zone: 'utc' });
  return noon.setZone(ZONE, { keepLocalTime: true }).toSeconds() - SECONDS_PER_DAY / 2;
}

/** The Sydney calendar day of a time, counted from 1970-01-01. */
export function localDay(epochSeconds: number): number {
  const local = DateTime.fromSeconds(epochSeconds, { zone: ZONE }).setZone('utc', { keepLocalTime: true });
  return Math.floor(local.toSeconds() / SECONDS_PER_DAY);
}
