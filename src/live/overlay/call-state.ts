import type { CallState, Departure, Occupancy } from '../../transit/departure.ts';
import type { StopTime, StopUpdate } from '../feed/trip-update.ts';
import { findDelay, findPlannedAt } from './join.ts';

/** The state of a call by the feeds, and what the departure monitor has to be asked about, if anything. */
export interface OverlaidCall {
  state: CallState;
  /** What happened, in a word; null when the state says it all. */
  change: string | null;
}

/** By the number in the feed; the words of EMPTY and CRUSHED are those of the next fuller and emptier. */
const OCCUPANCIES: Readonly<Record<number, Occupancy>> = {
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

export const SCHEDULED: OverlaidCall = { state: { kind: 'scheduled' }, change: null };
export const CANCELLED: OverlaidCall = { state: { kind: 'cancelled' }, change: null };
export const DEPARTED: OverlaidCall = { state: { kind: 'departed' }, change: null };

/** The timetable is all we can show, and the departure monitor knows more. */
export function askAbout(change: string): OverlaidCall {
  return { ...SCHEDULED, change };
}

export function live(
  call: Departure,
  leavesAt: number,
  headerAt: number,
  occupancy: number | null = null,
): OverlaidCall {
  if (Math.abs(leavesAt - call.plannedAt) > MAX_SHIFT_MS) return SCHEDULED;
  const words = occupancy === null ? null : (OCCUPANCIES[occupancy] ?? null);
  return { state: { kind: 'live', leavesAt, occupancy: words, headerAt }, change: null };
}

/**
 * When the vehicle leaves; null when the update has neither time nor delay. The authority's own estimates for trains
 * are the planned time plus the delay, also where the feed's timetable has other seconds; for all others they are the
 * feed's time.
 */
export function findLeavesAt(call: Departure, update: StopUpdate): number | null {
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
