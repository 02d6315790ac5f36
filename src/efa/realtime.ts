import { type PlannedAndRealtime, parseTimestamp } from '../transit/time.ts';
import { type JsonObject, readRawText } from './response/field.ts';

/** The times of the arrival at a stop, as upstream writes them. */
export function readArrival(record: JsonObject) {
  return {
    planned: readRawText(record.arrivalTimePlanned),
    baseTimetable: readRawText(record.arrivalTimeBaseTimetable),
    estimated: readRawText(record.arrivalTimeEstimated),
  };
}

/** The times of the departure from a stop, as upstream writes them. */
export function readDeparture(record: JsonObject): ReturnType<typeof readArrival> {
  return {
    planned: readRawText(record.departureTimePlanned),
    baseTimetable: readRawText(record.departureTimeBaseTimetable),
    estimated: readRawText(record.departureTimeEstimated),
  };
}

/**
 * Whether the estimates of a departure or a ride come from its vehicle. Upstream writes estimates on runs that only the timetable
 * knows too; what is live for a caller (`is_live`) begins here, and in `overlayStop` of realtime/overlay.ts for feeds.
 */
export function isTracked(
  { isRealtimeControlled }: { isRealtimeControlled?: boolean | undefined },
  { isOff, isOnDemand }: { isOff: boolean; isOnDemand: boolean },
): boolean {
  return isRealtimeControlled === true && !isOff && !isOnDemand;
}

/**
 * One function for every planned and actual time. Null when there is no time at all.
 * Only `isLive` says that the vehicle is tracked: journey responses carry estimates on timetable-only legs too. Where the
 * planned time is missing, the time of the base timetable stands in for it, else the estimate.
 */
export function findTime(times: ReturnType<typeof readArrival>, isLive: boolean): PlannedAndRealtime | null {
  const estimated = parseTimestamp(times.estimated);
  const planned = parseTimestamp(times.planned) ?? parseTimestamp(times.baseTimetable) ?? estimated;
  if (!planned) return null;
  return { planned, realtime: isLive ? (estimated ?? null) : null };
}

/**
 * Whether a rider cannot board (`departure`) or cannot alight (`arrival`) at a stop. Either the flag says so, or only the
 * status of the run or of the stop. Where a run now ends early, its last stop has a cancelled departure and an arrival
 * that is not cancelled.
 */
export function isCancelled(
  call: 'departure' | 'arrival',
  flag: boolean | undefined,
  ...statuses: (readonly string[] | undefined)[]
): boolean {
  const cancelled = ['TRIP_CANCELLED', call === 'departure' ? 'DEPARTURE_CANCELLED' : 'ARRIVAL_CANCELLED'];
  return flag === true || statuses.flat().some((status) => status && cancelled.includes(status));
}
