/** What riders may bring on a vehicle; null where unknown. */
export interface VehicleAccess {
  wheelchairs: boolean | null;
  bikes: boolean | null;
}

export const UNKNOWN_ACCESS: VehicleAccess = { wheelchairs: null, bikes: null };

/** A flag of GTFS: 0 unknown, 1 yes, 2 no. */
type Flag = 0 | 1 | 2;

export function parseFlag(text: string): Flag {
  return text === '1' ? 1 : text === '2' ? 2 : 0;
}

/** Converts a flag of GTFS; null for unknown. */
export function fromFlag(flag: number): boolean | null {
  return flag === 0 ? null : flag === 1;
}

/** Packs the two GTFS flags of a trip into one byte, two bits each. */
export function packAccess(wheelchairs: string, bikes: string): number {
  return parseFlag(wheelchairs) | (parseFlag(bikes) << 2);
}

export function unpackAccess(flags: number): VehicleAccess {
  return { wheelchairs: fromFlag(flags & 3), bikes: fromFlag((flags >> 2) & 3) };
}
