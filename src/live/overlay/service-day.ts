import { DateTime } from 'luxon';
import type { TripUpdate } from '../feed/trip-update.ts';

const SYDNEY = 'Australia/Sydney';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A trip leaves its stops after it has started. In the two nights when the clocks change, by up to an hour earlier. */
const BEFORE_START_MS = 61 * MINUTE_MS;
/** The longest trips take 14 hours; the same identifier runs again after 23 hours at the earliest. */
const AFTER_START_MS = 21 * HOUR_MS;
/** The last trips of a service day run until about 06:00 of the next day. */
const SERVICE_DAY_MS = 30 * HOUR_MS;
const WITHIN_MS = 12 * HOUR_MS;

/**
 * Whether a departure planned for that moment belongs to the feed's trip and not to a trip with the same identifier on
 * another service day. Without a start time the moment must lie within 12 hours of the feed's.
 */
export function isOnServiceDay(
  trip: Pick<TripUpdate, 'startDate' | 'startTimeSeconds'>,
  plannedAt: number,
  headerAt: number,
): boolean {
  const dayStart = trip.startDate === null ? null : findServiceDayStart(trip.startDate);
  if (dayStart === null) return Math.abs(plannedAt - headerAt) <= WITHIN_MS;
  if (trip.startTimeSeconds !== null) {
    const sinceStart = plannedAt - dayStart - trip.startTimeSeconds * 1000;
    return sinceStart >= -BEFORE_START_MS && sinceStart <= AFTER_START_MS;
  }
  const sinceDayStart = plannedAt - dayStart;
  const isThatDay = sinceDayStart >= -HOUR_MS && sinceDayStart <= SERVICE_DAY_MS;
  return isThatDay && Math.abs(plannedAt - headerAt) <= WITHIN_MS;
}

/** A feed speaks of two or three service days. */
const dayStarts = new Map<string, number | null>();
const MAX_DAYS_KEPT = 100;

/**
 * GTFS counts the times of a service day from twelve hours before noon, so that they are right for all of the day but
 * the hours before a change of the clocks. Null when it is not a calendar date.
 */
function findServiceDayStart(date: string): number | null {
  const known = dayStarts.get(date);
  if (known !== undefined) return known;
  const noon = DateTime.fromFormat(`${date} 12`, 'yyyyMMdd HH', { zone: SYDNEY });
  const start = noon.isValid ? noon.toMillis() - WITHIN_MS : null;
  if (dayStarts.size >= MAX_DAYS_KEPT) dayStarts.clear();
  dayStarts.set(date, start);
  return start;
}
