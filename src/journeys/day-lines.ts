import { firstFrom } from '../core/binary-search.ts';
import { ROUTE, type Sections } from '../timetable/packed-timetable.ts';
import { createDraft, type Lines } from './raptor/lines.ts';

const DAY_OFFSETS = [-1, 0, 1] as const;
/**
 * The lines have all runs that end at most this many seconds before the day. On a day that begins with a clock change, the first
 * search starts before midnight.
 */
export const BEFORE_DAY_SECONDS = 2 * 3600;

/**
 * `dayStarts` are the beginnings of the day before, the day and the day after, in seconds since the beginning of the day.
 * `servicesOn` and `nextTrip` are the timetable's functions of those names.
 */
export function createLines(
  sections: Sections,
  {
    day,
    dayStarts,
    servicesOn,
    nextTrip,
  }: {
    day: number;
    dayStarts: readonly [number, number, number];
    servicesOn(day: number): Uint8Array;
    nextTrip(trip: number, day: number): number | null;
  },
): Lines {
  const { patternCalls, patternTrips, patternRoute, routes, callStop, callFlags, callLatest, offsets } = sections;
  const { tripStart, tripArrivals, tripDepartures, tripService, tripBlock } = sections;
  const days = DAY_OFFSETS.map((offset, index) => ({
    offset,
    dayStart: dayStarts[index] as number,
    isRunning: servicesOn(day + offset),
  }));
  const draft = createDraft(offsets, { runs: tripStart.length, calls: callStop.length });
  for (let pattern = 0; pattern < patternCalls.length - 1; pattern++) {
    const first = patternCalls[pattern] as number;
    const end = patternCalls[pattern + 1] as number;
    const [firstTrip, endTrip] = [patternTrips[pattern] as number, patternTrips[pattern + 1] as number];
    const longest = callLatest[end - 1] as number;
    for (const { offset, dayStart, isRunning } of days) {
      // Trips are sorted by start. The last runs of the day before are still on their way.
      const leastStart = -BEFORE_DAY_SECONDS - longest - dayStart;
      let trip = firstFrom(firstTrip, endTrip, (at) => (tripStart[at] as number) >= leastStart);
      for (; trip < endTrip; trip++) {
        if (!isRunning[tripService[trip] as number]) continue;
        const start = (tripStart[trip] as number) + dayStart;
        const arrivals = tripArrivals[trip] as number;
        // Skip runs that end before the day begins.
        if (start + (offsets[arrivals + end - first - 1] as number) < -BEFORE_DAY_SECONDS) continue;
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
  const runs = indexRuns(lines, sections.tripStart.length);
  for (let run = 0; run < lines.runCount; run++) {
    const trip = lines.trips[run] as number;
    if (!tripBlock[trip]) continue;
    const offset = lines.days[run] as number;
    const next = nextTrip(trip, day + offset);
    if (next !== null) lines.nextRuns[run] = runs[next * 3 + offset + 1] as number;
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

/** The run of each trip on the days -1, 0 and 1; -1 where it does not run. */
export function indexRuns({ trips, days, runCount }: Lines, tripCount: number): Int32Array {
  const runs = new Int32Array(tripCount * 3).fill(-1);
  for (let run = 0; run < runCount; run++) runs[(trips[run] as number) * 3 + (days[run] as number) + 1] = run;
  return runs;
}
