import { type CallTime, parseTimestamp } from '../transit/time.ts';
import { type JsonObject, parseRawText } from './response/field.ts';

/** The times of an arrival or departure. */
export interface SentTimes {
  planned: string | undefined;
  baseTimetable: string | undefined;
  estimated: string | undefined;
}

/** The times of the arrival at a stop, or of the departure from it, as sent by upstream. */
export function parseTimes(record: JsonObject, end: 'arrival' | 'departure'): SentTimes {
  return {
    planned: parseRawText(record[`${end}TimePlanned`]),
    baseTimetable: parseRawText(record[`${end}TimeBaseTimetable`]),
    estimated: parseRawText(record[`${end}TimeEstimated`]),
  };
}

/**
 * Whether the estimates of a departure or ride come from its vehicle. Upstream also sends estimates for runs that are not
 * tracked. `is_live` is decided here or, for feeds, in `stateOfCall` of realtime/live-timetable.ts.
 */
export function isTracked(
  { isRealtimeControlled }: { isRealtimeControlled?: boolean | undefined },
  ride: { isCancelled: boolean; isOnDemand: boolean },
): boolean {
  return isRealtimeControlled === true && !ride.isCancelled && !ride.isOnDemand;
}

/**
 * The planned and realtime time of any call; null if there is no time at all. Only `isLive` means that the vehicle is tracked:
 * journey responses also have estimates on timetable-only legs. A missing planned time is replaced by the base timetable's
 * time, else the estimate.
 */
export function toTimes(times: SentTimes, isLive: boolean): CallTime | null {
  const estimated = parseTimestamp(times.estimated);
  const planned = parseTimestamp(times.planned) ?? parseTimestamp(times.baseTimetable) ?? estimated;
  if (planned === undefined) return null;
  return { plannedAt: planned, realtimeAt: isLive ? (estimated ?? null) : null };
}

/**
 * Whether a rider cannot board (`departure`) or cannot alight (`arrival`) at a stop. Sometimes only the status of the run or of
 * the stop says so, and not the flag. Where a run now ends early, its last stop has a cancelled departure and an arrival that is
 * not cancelled.
 */
export function isCancelled(
  call: 'departure' | 'arrival',
  isFlagged: boolean | undefined,
  ...statuses: (readonly string[] | undefined)[]
): boolean {
  const cancelled = ['TRIP_CANCELLED', call === 'departure' ? 'DEPARTURE_CANCELLED' : 'ARRIVAL_CANCELLED'];
  return isFlagged === true || statuses.flat().some((status) => status && cancelled.includes(status));
}
