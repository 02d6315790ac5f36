import type { Timetable } from '../timetable/timetable.ts';
import type { Carriages, Occupancy } from '../transit/departure.ts';

/**
 * Indexed by the `OccupancyStatus` number of GTFS-realtime. EMPTY, CRUSHED_STANDING_ROOM_ONLY and FULL map to the closest of our
 * three values.
 */
const OCCUPANCIES: readonly Occupancy[] = [
  'MANY_SEATS',
  'MANY_SEATS',
  'FEW_SEATS',
  'STANDING_ONLY',
  'STANDING_ONLY',
  'STANDING_ONLY',
];

export function toOccupancy(status: number | null): Occupancy | null {
  return status === null ? null : (OCCUPANCIES[status] ?? null);
}

/** How full the vehicle usually is when it leaves a call; null if unknown, and for runs that the timetable lacks. */
export function usualOccupancy(
  timetable: Timetable,
  { trip, day }: { trip: number; day: number },
  position: number,
): Occupancy | null {
  return trip < 0 || position < 0 ? null : toOccupancy(timetable.usualLoad({ trip, day, position }));
}

export function toCarriages(statuses: readonly (number | null)[] | null): Carriages {
  return statuses?.map((status, index) => ({ position: index + 1, occupancy: toOccupancy(status) })) ?? null;
}
