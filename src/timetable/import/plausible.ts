import { toDayNumber } from '../service-day.ts';
import type { FileReport } from './schedule-file.ts';

/**
 * A file is assumed to be incomplete if its busiest day has less than this share of the trips that the busiest day had before.
 * The total of trips is no such measure: around a change of the timetable, a file lists the trips of both.
 */
const MIN_SHARE = 0.6;
const DAYS_COVERED = 3;

/** Why a file should not replace the previous one, whose busiest day had `before` trips; null if it may. `today` is a service day. */
export function findImplausible(report: FileReport, before: number | null, today: number): string | null {
  const { trips, busiestDay } = report;
  if (trips === 0) return 'it has no trips';
  if (before !== null && busiestDay !== null && busiestDay < MIN_SHARE * before) {
    return `it has ${busiestDay} trips on its busiest day, down from ${before}; if that is correct, use --accept`;
  }
  return findUncovered(report, today);
}

/** Why the file does not cover the next three days; null if it does. */
export function findUncovered({ firstDay, lastDay }: FileReport, today: number): string | null {
  if ((toDayNumber(firstDay) ?? Number.POSITIVE_INFINITY) > today) return `it begins on ${firstDay}`;
  if ((toDayNumber(lastDay) ?? 0) < today + DAYS_COVERED) return `it ends on ${lastDay}`;
  return null;
}
