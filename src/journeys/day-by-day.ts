import { DAY_MS } from '../core/clock.ts';
import { calendarDayAt } from '../timetable/service-day.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { Choices } from '../transit/choices.ts';
import { groupConnectedStops } from './connected-stops.ts';
import { type DaySpan, firstRunsAt } from './day-lines.ts';
import type { EngineEnd, EngineListQuery } from './engine-messages.ts';
import { FAR_DAYS } from './raptor/plan.ts';
import { searchUntilEnded, type Walk } from './raptor/query.ts';

/** The days of far searches by departure and by arrival, relative to the day of the search. */
const DAYS_AHEAD: DaySpan = { first: -1, last: FAR_DAYS };
const DAYS_BEFORE: DaySpan = { first: -FAR_DAYS - 1, last: 0 };

/** A search that can be repeated with other usable stops and with the runs of other days. */
export interface DayByDay<One> {
  query: EngineListQuery;
  /** The origin, the places on the way and the destination. */
  ends: readonly EngineEnd[];
  search(usableStops: Uint8Array, days: { day?: number; span?: DaySpan }): One[];
  hasRides(one: One): boolean;
  departsAt(one: One): number;
}

/** Returns searches for lists of journeys. `listWalksFrom` has the walks of the current search. */
export function createDayByDay(
  timetable: Timetable,
  accessibleStops: Uint8Array,
  listWalksFrom: (end: EngineEnd, choices: Choices | undefined) => readonly Walk[],
) {
  let groups: Int32Array | null = null;

  /** Searches one day, or several days if the search is far. */
  function list<One>(wanted: DayByDay<One>): One[] {
    const { avoidedStops, isFar } = wanted.query;
    const stops = [accessibleStops];
    if (avoidedStops.length > 0) stops.unshift(withoutStops(accessibleStops, avoidedStops));
    return planWith(stops, wanted, isFar ? planFar : planNear);
  }

  /** Tries each set of usable stops until there are rides; the last set is final. */
  function planWith<One>(
    [stops, ...others]: readonly Uint8Array[],
    wanted: DayByDay<One>,
    plan: (stops: Uint8Array, wanted: DayByDay<One>) => One[],
  ): One[] {
    if (!stops) return [];
    const { ends, query, hasRides } = wanted;
    const isOpen = (end: EngineEnd) => listWalksFrom(end, query.choices).some(({ stop }) => stops[stop] === 1);
    const found = others.length === 0 || ends.every(isOpen) ? plan(stops, wanted) : [];
    return others.length === 0 || found.some(hasRides) ? found : planWith(others, wanted, plan);
  }

  /** Whether the timetable connects the ends on any day. */
  function areConnected(ends: readonly EngineEnd[], choices: Choices | undefined): boolean {
    groups ??= groupConnectedStops(timetable.sections);
    const known = groups;
    const sets = ends.map((end) => new Set(listWalksFrom(end, choices).map(({ stop }) => known[stop])));
    return sets.every((one, index) => index === 0 || !one.isDisjointFrom(sets[index - 1] as typeof one));
  }

  return { list, areConnected };
}

/** Returns the usable stops without the avoided ones: by stop, 1 if it is still usable, else 0. */
export function withoutStops(usableStops: Uint8Array, avoidedStops: readonly number[]): Uint8Array {
  if (avoidedStops.length === 0) return usableStops;
  const avoided = new Set(avoidedStops);
  return usableStops.map((usable, stop) => (avoided.has(stop) ? 0 : usable));
}

/**
 * A search by arrival starts from the day six hours earlier. If it finds nothing, or a journey that leaves before that day's runs,
 * it starts again from the day 24 hours earlier.
 */
function planNear<One>(stops: Uint8Array, { query, search, departsAt }: DayByDay<One>): One[] {
  const { at, isArrival } = query;
  const starts = isArrival ? [at - DAY_MS / 4, at - DAY_MS] : [at];
  let journeys: One[] = [];
  for (const day of new Set(starts.map(calendarDayAt))) {
    searchUntilEnded(
      () => {
        journeys = search(stops, { day });
      },
      () => journeys.length > 0,
    );
    if (journeys.length > 0 && journeys.every((one) => departsAt(one) >= firstRunsAt(day))) break;
  }
  return journeys;
}

function planFar<One>(stops: Uint8Array, { query, search }: DayByDay<One>): One[] {
  return search(stops, { span: query.isArrival ? DAYS_BEFORE : DAYS_AHEAD });
}
