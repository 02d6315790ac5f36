import { firstFrom } from '../core/binary-search.ts';
import { MAY_ALIGHT, MAY_BOARD } from '../timetable/import/schedule-file.ts';
import { ROUTE, type Sections } from '../timetable/packed-timetable.ts';
import { callAt, createDraft, type Lines, lastPosition, listVisits } from './raptor/lines.ts';

/** A run as operated today: late, without some of its stops, or outside the timetable. Times are in seconds, as in `Lines`. */
export interface ChangedRun {
  /** -1 if the run is not in the timetable. */
  trip: number;
  /** -1, 0 or 1. */
  day: number;
  mode: number;
  stops: Column;
  flags: Column;
  arrivals: Column;
  departures: Column;
}

type Column = readonly number[] | Int32Array;

const DAY_OFFSETS = [-1, 0, 1] as const;
/**
 * The lines have all runs that end at most this many seconds before the day. On a day that begins with a clock change, the first
 * search starts before midnight.
 */
export const BEFORE_DAY_SECONDS = 2 * 3600;
/** A feed may report that a vehicle is late before it reports the same of its next run. Up to this lateness, riders stay on. */
const MAX_OVERLAP_SECONDS = 300;

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
  for (let run = 0; run < lines.trips.length; run++) {
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
function indexRuns({ trips, days }: Lines, tripCount: number): Int32Array {
  const runs = new Int32Array(tripCount * 3).fill(-1);
  for (let run = 0; run < trips.length; run++) runs[(trips[run] as number) * 3 + (days[run] as number) + 1] = run;
  return runs;
}

/** Returns the lines with changed runs in lines of their own; runs in `dropped` are removed. */
export function withChanges(
  lines: Lines,
  changed: readonly ChangedRun[],
  dropped: readonly Pick<ChangedRun, 'trip' | 'day'>[],
): Lines {
  const { trips, nextRuns } = lines;
  const runs = indexRuns(lines, trips.reduce((last, trip) => Math.max(last, trip), -1) + 1);
  const runOf = ({ trip, day }: Pick<ChangedRun, 'trip' | 'day'>) => (trip < 0 ? -1 : (runs[trip * 3 + day + 1] ?? -1));
  const usable = new Uint8Array(trips.length + changed.length).fill(1);
  for (const run of [...changed, ...dropped].map(runOf)) if (run >= 0) usable[run] = 0;
  const joinedLines = { ...joinLines(lines, draftChanged(lines, changed)), usable };
  // If the vehicle continues as a changed run, use that one.
  const changedRunOf = new Map<number, number>();
  for (let run = trips.length; run < joinedLines.trips.length; run++) {
    const planned = runOf({ trip: joinedLines.trips[run] as number, day: joinedLines.days[run] as number });
    if (planned >= 0) changedRunOf.set(planned, run);
  }
  const currentRun = (run: number) => changedRunOf.get(run) ?? (usable[run] ? run : -1);
  for (let run = 0; run < trips.length; run++) {
    const plannedNext = nextRuns[run] as number;
    if (plannedNext < 0) continue;
    const [current, next] = [changedRunOf.get(run) ?? run, currentRun(plannedNext)];
    const isPlanned = current === run && next === plannedNext;
    joinedLines.nextRuns[current] =
      next >= 0 && (isPlanned || canContinue(joinedLines, run, current, next)) ? next : -1;
  }
  return { ...joinedLines, ...listVisits(joinedLines) };
}

/**
 * Whether the vehicle still goes to the end of its run, and not long after it should have left there as the next run. A vehicle that
 * only passes the stop between the two runs stops there in neither.
 */
function canContinue(lines: Lines, plannedRun: number, run: number, next: number): boolean {
  const endOf = (one: number) => callAt(lines, one, lastPosition(lines, one));
  const [plannedEnd, end, start] = [endOf(plannedRun), endOf(run), callAt(lines, next, 0)];
  const mayAlight = ({ flags }: typeof end) => (flags & MAY_ALIGHT) !== 0;
  const isCutShort = mayAlight(plannedEnd) && !mayAlight(end) && (start.flags & MAY_BOARD) !== 0;
  return !isCutShort && end.arrivesAt <= start.departsAt + MAX_OVERLAP_SECONDS;
}

/** Makes lines of the changed runs, with offsets of their own. */
function draftChanged(lines: Lines, changed: readonly ChangedRun[]) {
  const offsets: number[] = [];
  const draft = createDraft(offsets);
  const places: number[] = [];
  const byStops = Map.groupBy(changed.entries(), ([, { mode, stops, flags }]) => `${mode} ${stops} ${flags}`);
  for (const equalRuns of byStops.values() as Iterable<[[number, ChangedRun], ...[number, ChangedRun][]]>) {
    const [[, { stops, flags, mode }]] = equalRuns;
    for (const [place, { trip, day, arrivals, departures }] of equalRuns) {
      places.push(place);
      const start = departures[0] as number;
      const at = offsets.length;
      for (const time of [...arrivals, ...departures]) offsets.push(time - start);
      draft.addRun({ trip, day, start, arrivals: at, departures: at + stops.length });
    }
    draft.closeLines(stops, flags, mode);
  }
  const { sources, ...added } = draft.finish(lines.stopCount);
  return { ...added, offsets, liveRuns: sources.map((source) => places[source] as number) };
}

const JOINED_COLUMNS = ['modes', 'stops', 'flags', 'starts', 'nextRuns', 'trips', 'days'] as const;

/** Joins all but the visits. */
function joinLines(lines: Lines, added: Omit<Lines, 'offsets'> & { offsets: readonly number[] }): Lines {
  const shift = (column: Int32Array, by: number) => column.map((value) => value + by);
  const columns = JOINED_COLUMNS.map((name) => [name, concat(lines[name], added[name])]);
  return {
    ...lines,
    ...(Object.fromEntries(columns) as Pick<Lines, (typeof JOINED_COLUMNS)[number]>),
    lineCount: lines.lineCount + added.lineCount,
    firstCall: concatStarts(lines.firstCall, added.firstCall),
    firstRun: concatStarts(lines.firstRun, added.firstRun),
    arrivals: concat(lines.arrivals, shift(added.arrivals, lines.offsets.length)),
    departures: concat(lines.departures, shift(added.departures, lines.offsets.length)),
    offsets: concat(lines.offsets, added.offsets),
    lineOfRun: concat(lines.lineOfRun, shift(added.lineOfRun, lines.lineCount)),
    liveRuns: added.liveRuns,
  };
}

function concat<Column extends Int32Array | Int8Array | Uint8Array>(a: Column, b: ArrayLike<number>): Column {
  const column = new (a.constructor as new (length: number) => Column)(a.length + b.length);
  column.set(a);
  column.set(b, a.length);
  return column;
}

/** Joins two `first…` columns; the last entry of each is the length of the column it points to. */
function concatStarts(a: Int32Array, b: Int32Array): Int32Array {
  const end = a.at(-1) as number;
  const shifted = b.subarray(1).map((start) => end + start);
  return concat(a, shifted);
}
