import { firstFrom } from '../core/binary-search.ts';
import { SECOND_MS } from '../core/clock.ts';
import { ROUTE, type Sections } from '../timetable/packed-timetable.ts';
import { serviceDayStart } from '../timetable/service-day.ts';
import { createDraft, type Lines } from './raptor/lines.ts';

/**
 * The lines have all runs that end at most this many seconds before the day. On a day that begins with a clock change, the first
 * search starts before midnight.
 */
export const BEFORE_DAY_SECONDS = 2 * 3600;

/** The days whose runs are in the lines of a day, relative to it. Of the first one, only those that are on their way the day after. */
export interface DaySpan {
  first: number;
  last: number;
}

/** The runs of a day and the next one. */
export const USUAL_SPAN: DaySpan = { first: -1, last: 1 };

/** When the runs begin that lines of this span have in full, in milliseconds since 1970. */
export function firstRunsAt(day: number, { first }: DaySpan = USUAL_SPAN): number {
  return serviceDayStart(day + first + 1) - BEFORE_DAY_SECONDS * SECOND_MS;
}

/** `servicesOn` and `nextTrip` are the timetable's functions of those names. */
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
    const first = patternCalls[pattern] as number;
    const end = patternCalls[pattern + 1] as number;
    const [firstTrip, endTrip] = [patternTrips[pattern] as number, patternTrips[pattern + 1] as number];
    const longest = callLatest[end - 1] as number;
    for (const { offset, dayStart, isRunning } of days) {
      // Trips are sorted by start. The last runs of the day before are still on their way.
      const leastStart = earliestEnd - longest - dayStart;
      let trip = firstFrom(firstTrip, endTrip, (at) => (tripStart[at] as number) >= leastStart);
      for (; trip < endTrip; trip++) {
        if (!isRunning[tripService[trip] as number]) continue;
        const start = (tripStart[trip] as number) + dayStart;
        const arrivals = tripArrivals[trip] as number;
        // Skip runs that end before the day begins.
        if (start + (offsets[arrivals + end - first - 1] as number) < earliestEnd) continue;
        draft.addRun({ trip, day: offset, start, arrivals, departures: tripDepartures[trip] as number });
      }
    }
    draft.closeLines(
      callStop.subarray(first, end),
      callFlags.subarray(first, end),
      routes[(patternRoute[pattern] as number) * ROUTE.length + ROUTE.mode] as number,
      greatestSpread(sections, first, end),
    );
  }
  const { sources: _, ...lines } = draft.finish(sections.stopId.length);
  const findRunOf = indexRuns(lines, sections.tripStart.length, span);
  for (let run = 0; run < lines.runCount; run++) {
    const trip = lines.trips[run] as number;
    if (!tripBlock[trip]) continue;
    const offset = lines.days[run] as number;
    const next = nextTrip(trip, day + offset);
    if (next !== null) lines.nextRuns[run] = findRunOf(next, offset);
  }
  return lines;
}

/** By how much the times of a pattern's trips after their start differ at most. A trip that starts that much later overtakes none. */
function greatestSpread({ callEarliest, callLatest }: Sections, first: number, end: number): number {
  let spread = 0;
  for (let call = first; call < end; call++) {
    spread = Math.max(spread, (callLatest[call] as number) - (callEarliest[call] as number));
  }
  return spread;
}

/** Returns a function that finds the run of a trip on a day of the span; -1 where there is none. */
export function indexRuns({ trips, days, runCount }: Lines, tripCount: number, { first, last }: DaySpan) {
  const count = last - first + 1;
  const runs = new Int32Array(tripCount * count).fill(-1);
  for (let run = 0; run < runCount; run++) {
    runs[(trips[run] as number) * count + (days[run] as number) - first] = run;
  }
  return (trip: number, day: number): number =>
    trip < 0 || day < first || day > last ? -1 : (runs[trip * count + day - first] as number);
}
