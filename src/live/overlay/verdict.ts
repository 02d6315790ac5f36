import type { StopTime, StopUpdate } from '../feed/trip-update.ts';
import { findDelay, findPlannedAt } from './join.ts';
import type { PlannedCall } from './planned-call.ts';

/** How full a vehicle is, in the departure monitor's words. */
type FeedOccupancy = 'MANY_SEATS' | 'FEW_SEATS' | 'STANDING_ONLY';

/** What the feeds say of one departure. Moments in milliseconds since 1970. */
export type Verdict =
  | {
      kind: 'live';
      leavesAt: number;
      /** Null where the feed does not say: all but trains. */
      occupancy: FeedOccupancy | null;
      /** The moment of which the feed speaks. */
      headerAt: number;
    }
  /** Not live: the timetable is what is known. */
  | { kind: 'scheduled' }
  | { kind: 'cancelled' }
  /** The vehicle has left the stop. */
  | { kind: 'departed' };

/** A verdict, and what the departure monitor has to be asked about, if anything. */
export interface Said {
  verdict: Verdict;
  /** What happened, in a word; null when the verdict says it all. */
  change: string | null;
}

/** By the number in the feed; the words of EMPTY and CRUSHED are those of the next fuller and emptier. */
const OCCUPANCIES: Readonly<Record<number, FeedOccupancy>> = {
  0: 'MANY_SEATS',
  1: 'MANY_SEATS',
  2: 'FEW_SEATS',
  3: 'STANDING_ONLY',
  4: 'STANDING_ONLY',
};

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** No vehicle is as early or as late; a feed that says so is wrong. */
const MAX_SHIFT_MS = 12 * 60 * MINUTE_MS;

export const SCHEDULED: Said = { verdict: { kind: 'scheduled' }, change: null };
export const CANCELLED: Said = { verdict: { kind: 'cancelled' }, change: null };
export const DEPARTED: Said = { verdict: { kind: 'departed' }, change: null };

/** The timetable is all we can show, and the departure monitor knows more. */
export function askAbout(change: string): Said {
  return { ...SCHEDULED, change };
}

export function live(call: PlannedCall, leavesAt: number, headerAt: number, occupancy: number | null = null): Said {
  if (Math.abs(leavesAt - call.plannedAt) > MAX_SHIFT_MS) return SCHEDULED;
  const words = occupancy === null ? null : (OCCUPANCIES[occupancy] ?? null);
  return { verdict: { kind: 'live', leavesAt, occupancy: words, headerAt }, change: null };
}

/**
 * When the vehicle leaves; null when the update has neither time nor delay. The authority's own estimates for trains
 * are the planned time plus the delay, also where the feed's timetable has other seconds; for all others they are the
 * feed's time.
 */
export function findLeavesAt(call: PlannedCall, update: StopUpdate): number | null {
  const delaySeconds = findDelay(update);
  const delayed = delaySeconds === null ? null : call.plannedAt + delaySeconds * SECOND_MS;
  const at = isGiven(update.departure) ? update.departure.at : update.arrival.at;
  const plannedAt = findPlannedAt(update);
  const isSameTimetable = plannedAt === null || Math.abs(plannedAt - call.plannedAt) <= MINUTE_MS;
  const leavesAt = call.mode === 'train' && isSameTimetable ? (delayed ?? at) : (at ?? delayed);
  // Only the arrival is known: a vehicle does not leave before it is planned to.
  return leavesAt !== null && !isGiven(update.departure) ? Math.max(leavesAt, call.plannedAt) : leavesAt;
}

export function isGiven({ at, delaySeconds }: StopTime): boolean {
  return at !== null || delaySeconds !== null;
}
