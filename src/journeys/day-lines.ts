import { firstFrom } from '../core/binary-search.ts';
import { SECOND_MS } from '../core/clock.ts';
import { int32At } from '../core/columns.ts';
import { ROUTE, type Sections } from '../timetable/packed-timetable.ts';
import { serviceDayStart } from '../timetable/service-day.ts';
import { createDraft, type Lines, tripOf } from './raptor/lines.ts';

/**
 * Runs that end at most this many seconds before the day are in its lines too. On a day that begins with a clock change, the first
 * search starts before midnight.
 */
export const BEFORE_DAY_SECONDS = 2 * 3600;

/**
 * The days whose runs are in the lines of a day, as numbers relative to it. Of the first one, only the runs that are still on
 * their way the day after are included.
 */
export interface DaySpan {
  first: number;
  last: number;
}

/** A day, the next one, and the runs of the day before that are still on their way. */
export const USUAL_SPAN: DaySpan = { first: -1, last: 1 };

/** The time from which lines of this span have all runs, in milliseconds since 1970. */
export function firstRunsAt(day: number, { first }: DaySpan = USUAL_SPAN): number {
  return serviceDayStart(day + first + 1) - BEFORE_DAY_SECONDS * SECOND_MS;
}

/** Builds the planned lines of a day. `servicesOn` and `nextTrip` are the timetable's methods of those names. */
export function createLines(
  sections: Sections,
  {
    day,
    span = USUAL_SPAN,
    servicesOn,
    nextTrip,
  }: {
    day: number;
    span?: DaySpan;
    servicesOn(day: number): Uint8Array;
    nextTrip(trip: number, day: number): number | null;
  },
): Lines {
  const { patternCalls, patternTrips, patternRoute, routes, callStop, callFlags, callLatest, offsets } = sections;
  const { tripStart, tripArrivals, tripDepartures, tripService, tripBlock } = sections;
  const base = serviceDayStart(day);
  const days = Array.from({ length: span.last - span.first + 1 }, (_, index) => ({
    offset: span.first + index,
    dayStart: (serviceDayStart(day + span.first + index) - base) / SECOND_MS,
    isRunning: servicesOn(day + span.first + index),
  }));
  const earliestEnd = (firstRunsAt(day, span) - base) / SECOND_MS;
  const draft = createDraft(offsets, { runs: tripStart.length, calls: callStop.length });
  for (let pattern = 0; pattern < patternCalls.length - 1; pattern++) {
    const first = patternCalls.valueAt(pattern);
    const end = patternCalls.valueAt(pattern + 1);
    const [firstTrip, endTrip] = [patternTrips.valueAt(pattern), patternTrips.valueAt(pattern + 1)];
    const longest = callLatest.valueAt(end - 1);
    for (const { offset, dayStart, isRunning } of days) {
      // Trips are sorted by start. Earlier ones end too soon, even with the longest duration of the pattern.
      const leastStart = earliestEnd - longest - dayStart;
      let trip = firstFrom(firstTrip, endTrip, (at) => tripStart.valueAt(at) >= leastStart);
      for (; trip < endTrip; trip++) {
        if (!isRunning[tripService.valueAt(trip)]) continue;
        const start = tripStart.valueAt(trip) + dayStart;
        const arrivals = tripArrivals.valueAt(trip);
        // This run may be shorter than the longest one.
        if (start + int32At(offsets, arrivals + end - first - 1) < earliestEnd) continue;
        draft.addRun({ trip, day: offset, start, arrivals, departures: tripDepartures.valueAt(trip) });
      }
    }
    draft.closeLines(
      callStop.subarray(first, end),
      callFlags.subarray(first, end),
      routes.valueAt(patternRoute.valueAt(pattern) * ROUTE.length + ROUTE.mode),
      greatestSpread(sections, first, end),
    );
  }
  const { sources: _, ...lines } = draft.finish(sections.stopId.length);
  const findRunOf = indexRuns(lines, sections.tripStart.length, span);
  for (let run = 0; run < lines.runCount; run++) {
    const { trip, day: offset } = tripOf(lines, run);
    if (!tripBlock[trip]) continue;
    const next = nextTrip(trip, day + offset);
    if (next !== null) lines.nextRuns[run] = findRunOf(next, offset);
  }
  return lines;
}

/**
 * The greatest difference between trips of a pattern in the time from the start to a call. A trip that starts at least this much
 * later overtakes none.
 */
function greatestSpread({ callEarliest, callLatest }: Sections, first: number, end: number): number {
  let spread = 0;
  for (let call = first; call < end; call++) {
    spread = Math.max(spread, callLatest.valueAt(call) - callEarliest.valueAt(call));
  }
  return spread;
}

/** Returns a function that finds the run of a trip on a day of the span; -1 where there is none. */
export function indexRuns(lines: Lines, tripCount: number, { first, last }: DaySpan) {
  const count = last - first + 1;
  const runs = new Int32Array(tripCount * count).fill(-1);
  for (let run = 0; run < lines.runCount; run++) {
    const { trip, day } = tripOf(lines, run);
    runs[trip * count + day - first] = run;
  }
  return (trip: number, day: number): number =>
    trip < 0 || day < first || day > last ? -1 : int32At(runs, trip * count + day - first);
}
