import { DateTime } from 'luxon';
import type { PatternNode } from '../network/network-index.ts';
import { seedWith } from '../trait.ts';
import type { Run } from './run.ts';
import { departureMinutes } from './services.ts';

/** The runs of a pattern in the few days around one time, by departure. They are made when they are first looked at. */
export type Timetable = (pattern: PatternNode) => readonly Run[];

/** Runs of the day before go on past midnight, and the longest take half a day. */
const DAYS_AROUND = [-2, -1, 0, 1, 2];
const TIMETABLES_KEPT = 8;

/** The timetables by the Sydney day that they are around. */
const timetables = new Map<number, Timetable>();

/** Returns the timetable around a time. Times of the same Sydney day share it. */
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
  const known = new WeakMap<PatternNode, readonly Run[]>();
  return (pattern) => {
    const runs = known.get(pattern) ?? days.flatMap((day) => runsOf(pattern, day)).sort(compareRuns);
    known.set(pattern, runs);
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

function compareRuns(one: Run, other: Run): number {
  return one.startSeconds - other.startSeconds || one.day - other.day;
}

/** Position of the first run that departs its first call at or after `startSeconds`; the list's length if none does. */
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
 * Timetables count minutes from the start of a service day, and past 24:00 into the next morning. As in GTFS, a service
 * day starts twelve hours before local noon. That is midnight except on the two days on which the clocks change: 01:00
 * daylight time in April, 23:00 of the evening before in October. Daytime departures are then right by the clock, and
 * every run happens exactly once.
 */

export const ZONE = 'Australia/Sydney';
const SECONDS_PER_DAY = 86_400;

/** Start of a service day in epoch seconds. Days are numbered from 1970-01-01. */
export function serviceDayStart(day: number): number {
  const noon = DateTime.fromSeconds((day + 0.5) * SECONDS_PER_DAY, { zone: 'utc' });
  return noon.setZone(ZONE, { keepLocalTime: true }).toSeconds() - SECONDS_PER_DAY / 2;
}

/** The Sydney calendar day of an instant, numbered from 1970-01-01. */
export function localDay(epochSeconds: number): number {
  const local = DateTime.fromSeconds(epochSeconds, { zone: ZONE }).setZone('utc', { keepLocalTime: true });
  return Math.floor(local.toSeconds() / SECONDS_PER_DAY);
}
