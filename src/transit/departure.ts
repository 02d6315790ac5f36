import { z } from 'zod';
import type { Mode } from './mode.ts';
import { field, record } from './schema.ts';
import type { VehicleAccess } from './vehicle-access.ts';

export const OCCUPANCIES = ['MANY_SEATS', 'FEW_SEATS', 'STANDING_ONLY'] as const;
export const occupancySchema = z.enum(OCCUPANCIES).meta({ id: 'Occupancy', description: 'How full a vehicle is' });
export type Occupancy = (typeof OCCUPANCIES)[number];

export const occupancySourceField = field(
  z.enum(['live', 'usual']).nullable().optional(),
  '`live` if `occupancy` is reported for this vehicle, `usual` if it is what the timetable expects on this weekday; null if it is unknown. Only with `include=occupancy`',
);

/** The fields for an occupancy: the reported one; with `include=occupancy` the usual one if none is reported, and the source. */
export function occupancyFields(
  { occupancy, usualOccupancy = null }: { occupancy: Occupancy | null; usualOccupancy?: Occupancy | null },
  include: readonly string[] | undefined,
) {
  if (!include?.includes('occupancy')) return { occupancy };
  const source = occupancy ? ('live' as const) : usualOccupancy ? ('usual' as const) : null;
  return { occupancy: occupancy ?? usualOccupancy, occupancy_source: source };
}

export const carriageSchema = record('Carriage', 'One carriage of a train.', {
  position: field(z.int().min(1), 'The number of the carriage in the train; 1 is at the front', 1),
  occupancy: field(occupancySchema.nullable(), 'How full it is; null if unknown'),
});
/** Front carriage first; null if unknown. */
export type Carriages = z.infer<typeof carriageSchema>[] | null;

/** The state of one call of a vehicle at a stop. Times are in milliseconds since 1970. */
export type CallState =
  | {
      /** The vehicle is tracked. */
      kind: 'live';
      leavesAt: number;
      /** The timestamp of the feed; absent for data from the departure monitor. */
      headerAt?: number;
      /** Occupancy from the feed: null for all modes but trains, absent for data from the departure monitor. */
      occupancy?: Occupancy | null;
    }
  /** The vehicle is not tracked; only the timetable is known. */
  | { kind: 'scheduled' }
  | { kind: 'cancelled' }
  /** The vehicle has left the stop. */
  | { kind: 'departed' };

/**
 * A departure of a vehicle from a stop, whether from upstream or from the timetable. Plain data. Times are in milliseconds since
 * 1970. Arrivals use the same type; times and state then describe the arrival.
 */
export interface Departure {
  /** Identifies the departure on other pages of the same stop. */
  key: string;
  /** `RealtimeTripId`, else `AVMSTripID`, trimmed, to match the run in live feeds; null if upstream gives neither. */
  runId: string | null;
  /** The platform, stand or wharf; the stop itself if upstream names none. */
  stopId: string;
  /** The line in the timetable; absent if the departure is the trip planner's. */
  lineId?: string | undefined;
  /** Upstream's number for the network; null if unknown. */
  network: number | null;
  mode: Mode;
  /** Short route name. */
  route: string;
  destination: string;
  /** The headsign under which the vehicle goes on with its riders, if it names another place; absent if unknown. */
  throughTo?: string | null;
  /** Where the run begins, null if unknown; on arrival boards only. */
  origin?: string | null;
  platform: string | null;
  plannedAt: number;
  isWheelchairAccessible: boolean;
  access: VehicleAccess;
  /** Null if unknown. */
  isStopAccessible: boolean | null;
  /** As reported for this vehicle. */
  occupancy: Occupancy | null;
  /** How full it usually is, by the timetable; absent if the departure is the trip planner's. */
  usualOccupancy?: Occupancy | null;
  alerts: string[];
  /** When the departure monitor returned this, or when it was built from the timetable. */
  asOf: number;
  state: CallState;
}

/** The best-known departure time, in milliseconds since 1970. */
export function leavesAt({ state, plannedAt }: Departure): number {
  return state.kind === 'live' ? state.leavesAt : plannedAt;
}

export function isCancelled({ state }: Departure): boolean {
  return state.kind === 'cancelled';
}

/** Sorts by planned time, then by key to separate departures of the same minute. */
export function comparePlanned(a: Departure, b: Departure): number {
  return a.plannedAt - b.plannedAt || (a.key < b.key ? -1 : 1);
}

/** Created once: `localeCompare` with options is much slower. */
const COLLATOR = new Intl.Collator('en', { numeric: true });

/** Sorts by best-known time, then planned time, then route. */
export function compareDepartures(a: Departure, b: Departure): number {
  return leavesAt(a) - leavesAt(b) || a.plannedAt - b.plannedAt || COLLATOR.compare(a.route, b.route);
}
