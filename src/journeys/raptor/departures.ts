import { MAY_BOARD } from '../../timetable/call-flags.ts';
import { type Lines, offsetsOf, type Visits } from './lines.ts';
import type { Range, Search, Walk } from './query.ts';

/** A line that leaves a stop. `seconds` is the walk to that stop. */
interface LineDeparture extends Walk {
  line: number;
  position: number;
}

/**
 * Returns the first run of the line, among those before run `end`, that leaves the call at or after `from`; -1 if there is
 * none.
 */
export function findRun(
  lines: Lines,
  line: number,
  position: number,
  from: number,
  end: number,
  runs: Uint8Array | null,
): number {
  const { firstRun, starts, departures } = lines;
  const offsets = offsetsOf(lines, line);
  const first = firstRun[line] as number;
  if (end <= first) return -1;
  // Usually the rider cannot catch an earlier run than the one already boarded.
  const last = end - 1;
  const lastOffset = offsets[(departures[last] as number) + position] as number;
  if ((starts[last] as number) + lastOffset < from) return -1;
  // Compares starts alone, which lie side by side in memory: most runs of a line have the same times as its last one.
  let low = first;
  let high = last;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) + lastOffset < from) low = middle + 1;
    else high = middle;
  }
  const leaves = (run: number) => (starts[run] as number) + (offsets[(departures[run] as number) + position] as number);
  while (low > first && leaves(low - 1) >= from) low--;
  while (leaves(low) < from) low++;
  while (runs && low < end && !runs[low]) low++;
  return low < end ? low : -1;
}

/** Lists the departures within the range, latest first, with the lines that leave then. */
export function listDepartures(
  lines: Lines,
  { access, allowed }: Search,
  range: Range,
): [at: number, departures: LineDeparture[]][] {
  const byTime = new Map<number, LineDeparture[]>();
  for (const { stop, seconds } of access) {
    if (allowed.stops && !allowed.stops[stop]) continue;
    addVisits(lines, stop, seconds);
    if (lines.live) addVisits(lines.live, stop, seconds);
  }
  return [...byTime].sort(([one], [other]) => other - one);

  function addVisits({ firstVisit, visits }: Visits, stop: number, seconds: number) {
    for (let visit = firstVisit[stop] as number; visit < (firstVisit[stop + 1] as number); visit++) {
      const line = visits[visit * 2] as number;
      const position = visits[visit * 2 + 1] as number;
      if ((allowed.lines && !allowed.lines[line]) || !mayBoard(lines, allowed.flags ?? lines.flags, line, position))
        continue;
      addRuns(byTime, lines, { stop, seconds, line, position }, range, allowed.runs);
    }
  }
}

function mayBoard({ firstCall }: Lines, flags: Uint8Array, line: number, position: number): boolean {
  const call = (firstCall[line] as number) + position;
  const last = (firstCall[line + 1] as number) - 1;
  return call < last && ((flags[call] as number) & MAY_BOARD) !== 0;
}

/** Adds the departure at the time of each run within the range. */
function addRuns(
  byTime: Map<number, LineDeparture[]>,
  lines: Lines,
  departure: LineDeparture,
  { from, until }: Range,
  runs: Uint8Array | null,
): void {
  const { firstRun, starts, departures } = lines;
  const { line, position, seconds } = departure;
  const offsets = offsetsOf(lines, line);
  const end = firstRun[line + 1] as number;
  let run = findRun(lines, line, position, from + seconds, end, runs);
  for (; run >= 0 && run < end; run++) {
    const at = (starts[run] as number) + (offsets[(departures[run] as number) + position] as number) - seconds;
    if (at >= until) return;
    if (runs && !runs[run]) continue;
    const known = byTime.get(at);
    if (known) known.push(departure);
    else byTime.set(at, [departure]);
  }
}
