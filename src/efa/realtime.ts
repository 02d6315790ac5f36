import { parseTimestamp } from '../transit/time.ts';

/** A planned time and, where the vehicle is tracked, the estimate. */
export interface PlannedAndRealtime {
  planned: Date;
  /** Null when there is no live data. */
  realtime: Date | null;
}

/**
 * One function for every planned and actual time.
 * `isLive` decides, not the presence of an estimate: journey answers carry estimates on timetable-only legs too.
 * Null when there is no time at all. The older names of the planned time stand in for a missing one.
 */
export function findTime(
  times: { planned: string | undefined; baseTimetable: string | undefined; estimated: string | undefined },
  isLive: boolean,
): PlannedAndRealtime | null {
  const estimated = parseTimestamp(times.estimated);
  const planned = parseTimestamp(times.planned) ?? parseTimestamp(times.baseTimetable) ?? estimated;
  if (!planned) return null;
  return { planned, realtime: isLive ? (estimated ?? null) : null };
}

/** The time to reckon with: the estimate where there is one. */
export function bestKnown({ planned, realtime }: PlannedAndRealtime): Date {
  return realtime ?? planned;
}

/**
 * Nobody can board (alight) there: said by the flag, or only by the status of the trip or of the place. Where the other
 * half of a call is cancelled, as at a stop where the trip now ends, the vehicle is still there to be left.
 */
export function isCancelled(
  call: 'departure' | 'arrival',
  flag: boolean | undefined,
  ...statuses: (readonly string[] | undefined)[]
): boolean {
  const cancelled = ['TRIP_CANCELLED', call === 'departure' ? 'DEPARTURE_CANCELLED' : 'ARRIVAL_CANCELLED'];
  return flag === true || statuses.flat().some((status) => status && cancelled.includes(status));
}
