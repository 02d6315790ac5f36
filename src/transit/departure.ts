import { z } from 'zod';
import type { Mode } from './mode.ts';

export const OCCUPANCIES = ['MANY_SEATS', 'FEW_SEATS', 'STANDING_ONLY'] as const;
export const occupancySchema = z.enum(OCCUPANCIES).meta({ id: 'Occupancy', description: 'How full a vehicle is' });
export type Occupancy = (typeof OCCUPANCIES)[number];

export const carriageSchema = z
  .strictObject({
    position: z
      .int()
      .min(1)
      .meta({ description: 'Its number in the train, from the front; 1 is the first', example: 1 }),
    occupancy: occupancySchema.nullable().meta({ description: 'How full it is; null if unknown' }),
  })
  .meta({ id: 'Carriage', description: 'One carriage of a train.' });
/** The first one first; null where nobody lists them. */
export type Carriages = z.infer<typeof carriageSchema>[] | null;

/** The state of one call of a vehicle at a stop. Moments in milliseconds since 1970. */
export type CallState =
  | {
      /** The vehicle is tracked. */
      kind: 'live';
      leavesAt: number;
      /** The moment of which the feed speaks; absent where the departure monitor said it. */
      headerAt?: number;
      /** How full the feed says it is: null for all but trains, absent where the departure monitor said it. */
      occupancy?: Occupancy | null;
    }
  /** Not tracked: the timetable is what is known. */
  | { kind: 'scheduled' }
  | { kind: 'cancelled' }
  /** The vehicle has left the stop. */
  | { kind: 'departed' };

/**
 * One vehicle leaving one stop at one time: the one form of a departure, from the response of upstream to the body
 * of ours. Plain data, because timelines keep it as JSON. Moments in milliseconds since 1970. A board of arrivals has the
 * same form: its times and its state are those of the arrival.
 */
export interface Departure {
  /** By which it is recognised on another page of the same stop. */
  key: string;
  /** `RealtimeTripId`, else `AVMSTripID`, trimmed, as live feeds name the run; null where upstream gives neither. */
  runId: string | null;
  /** The platform, stand or wharf; the stop itself where upstream names none. */
  stopId: string;
  /** Upstream's number of the network; null where it does not say. */
  network: number | null;
  mode: Mode;
  /** Short route name. */
  route: string;
  destination: string;
  /** The place where the run begins, null if unknown; on boards of arrivals only. */
  origin?: string | null;
  platform: string | null;
  plannedAt: number;
  isWheelchairAccessible: boolean;
  /** Null where upstream says nothing of the vehicle. */
  isVehicleAccessible: boolean | null;
  /** Null where upstream says nothing of the stop. */
  isStopAccessible: boolean | null;
  occupancy: Occupancy | null;
  alerts: string[];
  /** When the departure monitor said all this. */
  saidAt: number;
  state: CallState;
}

/** The best-known time. */
export function leavesAt({ state, plannedAt }: Pick<Departure, 'state' | 'plannedAt'>): number {
  return state.kind === 'live' ? state.leavesAt : plannedAt;
}

export function isCancelled({ state }: Pick<Departure, 'state'>): boolean {
  return state.kind === 'cancelled';
}

/** By planned time, then by the key, which tells departures of the same minute apart. */
export function comparePlanned(one: Departure, other: Departure): number {
  return one.plannedAt - other.plannedAt || (one.key < other.key ? -1 : 1);
}

/** Made once: `localeCompare` takes a hundred times as long. */
const COLLATOR = new Intl.Collator('en', { numeric: true });

/** By best-known time, then planned time, then route. */
export function compareDepartures(one: Departure, other: Departure): number {
  return leavesAt(one) - leavesAt(other) || one.plannedAt - other.plannedAt || COLLATOR.compare(one.route, other.route);
}
