import { MINUTE_MS } from '../core/clock.ts';
import {
  countChanges,
  destinationOf,
  isCancelled,
  isOnDemand,
  isPossible,
  type Journey,
  type Leg,
  lacksLift,
  latestStart,
  originOf,
} from '../transit/journey.ts';
import type { LeftOutCounts } from '../transit/left-out.ts';
import type { Mode } from '../transit/mode.ts';
import { bestKnown, toMinute, toSydneyWallClock, type WallClock } from '../transit/time.ts';

/**
 * Keeps the journeys that match the query and counts the others. Upstream receives the same conditions but does not always
 * respect them.
 */
export function chooseFitting(
  journeys: readonly Journey[],
  query: {
    modes: readonly Mode[];
    wheelchair: boolean;
    booking?: 'include' | 'exclude';
    max_changes?: number | undefined;
  },
): { journeys: Journey[]; leftOut: LeftOutCounts } {
  const { modes, wheelchair, booking, max_changes = Number.POSITIVE_INFINITY } = query;
  const fits = ({ mode, access, needsBooking }: Leg) =>
    (mode === 'walk' || modes.includes(mode)) &&
    !(wheelchair && access.wheelchairs === false) &&
    !(booking === 'exclude' && needsBooking);
  const fitting = journeys.filter((journey) => journey.legs.every(fits) && countChanges(journey) <= max_changes);
  const count = journeys.length - fitting.length;
  return { journeys: fitting, leftOut: count > 0 ? { 'not requested': count } : {} };
}

/** The journeys that are listed, and those that are not. */
export interface SelectedJourneys {
  journeys: Journey[];
  others: Journey[];
  tooLate: Journey[];
  leftOut: LeftOutCounts;
}

/**
 * Selects the earliest departures (for arrivals by a time, the latest arrivals), in the order of a response, and counts what is
 * left out, by reason. `at` null means now. `others` are beyond the limit; `tooLate` are the journeys that would arrive after
 * `at`. Upstream plans some journeys by the timetable only. So journeys that delays make impossible or late, and journeys for
 * now that have left, are returned only if there are no others. Cancelled journeys come last and are all returned.
 */
export function selectJourneys(
  journeys: readonly Journey[],
  { limit, isArrival, at, now }: { limit: number; isArrival: boolean; at: WallClock | null; now: number },
): SelectedJourneys {
  const running = journeys.filter((journey) => !isCancelled(journey));
  const cancelled = journeys.filter(isCancelled).sort(compareJourneys);
  const possible = preferPassing(running, isPossible);
  const catchable = at ? possible : preferPassing(possible, (journey) => !hasLeft(journey, now));
  const punctual = isArrival && at ? preferPassing(catchable, (journey) => arrivesBy(journey, at)) : catchable;
  const ordered = [...punctual].sort(
    isArrival ? (a, b) => endOf(b) - endOf(a) || startOf(b) - startOf(a) : compareJourneys,
  );
  // On-demand rides, and journeys that need a lift out of service, only take places that others leave free.
  const rank = (journey: Journey) => (lacksLift(journey) ? 2 : isOnDemand(journey) ? 1 : 0);
  const chosen = ordered
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, limit)
    .sort(compareJourneys);
  const counts: [keyof LeftOutCounts, number][] = [
    ['missed change', running.length - possible.length],
    ['has left', possible.length - catchable.length],
    ['arrives too late', catchable.length - punctual.length],
    ['beyond the limit', punctual.length - chosen.length],
  ];
  return {
    journeys: [...chosen, ...cancelled],
    others: punctual.filter((journey) => !chosen.includes(journey)),
    tooLate: catchable.filter((journey) => !punctual.includes(journey)),
    leftOut: Object.fromEntries(counts.filter(([, count]) => count > 0)),
  };
}

function preferPassing(journeys: readonly Journey[], test: (journey: Journey) => boolean): readonly Journey[] {
  const passing = journeys.filter(test);
  return passing.length > 0 ? passing : journeys;
}

/** A rider who sets out this late can still catch the vehicle by hurrying. */
const LATE_START_MS = MINUTE_MS;

/**
 * Whether the first vehicle had left when the current minute began, as on boards, or can no longer be caught because the walk
 * to it should have started more than a minute ago.
 */
export function hasLeft(journey: Journey, now: number): boolean {
  const start = latestStart(journey);
  if (start === null) return false;
  const tolerance = journey.legs[0]?.mode === 'walk' ? LATE_START_MS : 0;
  return start < toMinute(now) - tolerance;
}

/** Compares local times to the minute, like the time in the request. */
function arrivesBy(journey: Journey, at: WallClock): boolean {
  const { date, time } = toSydneyWallClock(bestKnown(destinationOf(journey)));
  return `${date}${time}` <= `${at.date}${at.time}`;
}

/** Orders by best-known departure, then arrival, then number of changes. Journeys that need a lift out of service come last. */
export function compareJourneys(a: Journey, b: Journey): number {
  const lifts = Number(lacksLift(a)) - Number(lacksLift(b));
  return lifts || startOf(a) - startOf(b) || endOf(a) - endOf(b) || countChanges(a) - countChanges(b);
}

function startOf(journey: Journey): number {
  return bestKnown(originOf(journey));
}

function endOf(journey: Journey): number {
  return bestKnown(destinationOf(journey));
}
