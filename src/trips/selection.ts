import { bestKnown } from '../efa/realtime.ts';
import { toSydneyWallClock, type WallClock } from '../transit/time.ts';
import { countChanges, type Journey } from './map.ts';

/** What was asked: `at` null means now. */
interface Wish {
  limit: number;
  isArrival: boolean;
  at: WallClock | null;
}

/**
 * The earliest-departing journeys (arriving by: the latest-arriving), in the order of an answer. Upstream plans some by
 * the timetable only: those that delays have made impossible, or too late, are shown only when there is nothing else.
 */
export function selectJourneys(journeys: readonly Journey[], { limit, isArrival, at }: Wish): Journey[] {
  const possible = preferred(journeys, isPossible);
  const punctual = isArrival && at ? preferred(possible, (journey) => arrivesBy(journey, at)) : possible;
  return [...punctual]
    .sort(isArrival ? (one, other) => endOf(other) - endOf(one) || startOf(other) - startOf(one) : compareJourneys)
    .slice(0, limit)
    .sort(compareJourneys);
}

function preferred(journeys: readonly Journey[], test: (journey: Journey) => boolean): readonly Journey[] {
  const passing = journeys.filter(test);
  return passing.length > 0 ? passing : journeys;
}

/** No ride leaves before the one before it has arrived, as far as is known. */
function isPossible({ legs }: Journey): boolean {
  const rides = legs.filter((leg) => leg.mode !== 'walk');
  return rides.every((ride, index) => {
    const before = rides[index - 1];
    return !before || bestKnown(before.destination) <= bestKnown(ride.origin);
  });
}

/** By wall clocks, to the minute, as the question was written. */
function arrivesBy({ end }: Journey, at: WallClock): boolean {
  const { date, time } = toSydneyWallClock(bestKnown(end));
  return `${date}${time}` <= `${at.date}${at.time}`;
}

/** By best-known departure, then arrival, then changes. */
function compareJourneys(one: Journey, other: Journey): number {
  return (
    startOf(one) - startOf(other) || endOf(one) - endOf(other) || countChanges(one.legs) - countChanges(other.legs)
  );
}

function startOf({ start }: Journey): number {
  return bestKnown(start).getTime();
}

function endOf({ end }: Journey): number {
  return bestKnown(end).getTime();
}
