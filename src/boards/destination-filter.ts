import type { LiveTimetable } from '../realtime/live-timetable.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { findContinuation, MAX_CONTINUATIONS } from './run-calls.ts';
import { type BoardCall, isServed } from './scheduled-departure.ts';

/** `mayGoThere` is cheap and by the timetable; `isLeftTo` also knows the calls that feeds skip today. */
export interface DestinationFilter {
  /** Whether vehicles of a pattern may call at one of the stops after this position, by the timetable. */
  mayGoThere(pattern: number, position: number): boolean;
  isLeftTo(call: BoardCall): boolean;
}

/** Accepts vehicles that call at one of these stops later, perhaps after continuing as another run. */
export function createDestinationFilter({ timetable }: LiveTimetable, to: ReadonlySet<number>): DestinationFilter {
  let changes: ReadonlySet<number> | null = null;

  function mayGoThere(pattern: number, position: number): boolean {
    if (callsThere(pattern, position + 1)) return true;
    const end = timetable.stopsOf(pattern).at(-1);
    changes ??= listChangeStops(timetable, to);
    return end !== undefined && changes.has(end) && timetable.routeOf(pattern).mode === 'train';
  }

  /** Whether the vehicle of a call still goes to one of the stops today. */
  function isLeftTo({ ref, callsLaterAt }: BoardCall): boolean {
    return callsLaterAt(to) || (ref !== null && continuesThere(ref.trip, ref.day));
  }

  function continuesThere(trip: number, day: number): boolean {
    let next = findContinuation(timetable, { trip, day });
    for (let count = 0; next !== null && count < MAX_CONTINUATIONS; count++) {
      if (callsThere(timetable.patternOf(next), 0)) return true;
      next = findContinuation(timetable, { trip: next, day });
    }
    return false;
  }

  const callsThere = (pattern: number, from: number) => isServed(timetable, pattern, from, to);

  return { mayGoThere, isLeftTo };
}

/** The stops at which a train may continue as one that calls at `stops`, directly or after another continuation. */
function listChangeStops(timetable: Timetable, stops: ReadonlySet<number>): ReadonlySet<number> {
  const found = new Set<number>();
  let through: Iterable<number> = stops;
  for (let count = 0; count < MAX_CONTINUATIONS; count++) {
    const starts = [...through].flatMap((stop) =>
      [...timetable.patternsAt(stop)].flatMap((pattern) => {
        const calls = timetable.stopsOf(pattern);
        const isOnTheWay = count === 0 || calls.at(-1) === stop;
        return isOnTheWay && timetable.routeOf(pattern).mode === 'train' ? calls.valueAt(0) : [];
      }),
    );
    through = [...new Set(starts)].flatMap((stop) => timetable.standsAround(stop));
    for (const stop of through) found.add(stop);
  }
  return found;
}
