import { toDayNumber } from '../service-day.ts';
import type { FileReport } from './read-file.ts';

/** A file with a smaller share of its previous trips is assumed to be incomplete. */
const MIN_SHARE_OF_TRIPS = 0.6;
const DAYS_COVERED = 3;

/** Why a file should not replace the previous one, which had `tripsBefore` trips; null if it may. `today` is a service day. */
export function findImplausible(report: FileReport, tripsBefore: number | null, today: number): string | null {
  const { trips } = report;
  if (trips === 0) return 'it has no trips';
  if (tripsBefore !== null && trips < MIN_SHARE_OF_TRIPS * tripsBefore) {
    return `it has ${trips} trips, down from ${tripsBefore}; if that is correct, use --accept`;
  }
  return findUncovered(report, today);
}

/** Why the file does not cover the next three days; null if it does. */
export function findUncovered({ firstDay, lastDay }: FileReport, today: number): string | null {
  if ((toDayNumber(firstDay) ?? Number.POSITIVE_INFINITY) > today) return `it begins on ${firstDay}`;
  if ((toDayNumber(lastDay) ?? 0) < today + DAYS_COVERED) return `it ends on ${lastDay}`;
  return null;
}
