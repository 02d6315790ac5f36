import type { Carriages, Occupancy } from '../../transit/departure.ts';

/** By their numbers in GTFS-realtime. We have no words for EMPTY, CRUSHED_STANDING_ROOM_ONLY and FULL, which get those of their neighbours. */
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

export function toCarriages(statuses: readonly (number | null)[] | null): Carriages {
  return statuses?.map((status, index) => ({ position: index + 1, occupancy: toOccupancy(status) })) ?? null;
}
