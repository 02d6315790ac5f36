import { MAY_BOARD } from '../../timetable/import/schedule-file.ts';
import type { Lines } from './lines.ts';
import type { Range, Search, Walk } from './query.ts';

/** A line that leaves a stop. `seconds` is the walk to that stop. */
interface Departure extends Walk {
  line: number;
  position: number;
}

/**
 * Returns the first run of the line, among those before run `end`, that leaves the call at or after `from`; -1 if there is
 * none.
 */
export function findRun(
  { firstRun, starts, departures, offsets }: Lines,
  line: number,
  position: number,
  from: number,
  end: number,
  runs: Uint8Array | null,
): number {
  const leaves = (run: number) => (starts[run] as number) + (offsets[(departures[run] as number) + position] as number);
  // Usually the rider cannot catch an earlier run than the one already boarded.
  if (end > (firstRun[line] as number) && leaves(end - 1) < from) return -1;
  let low = firstRun[line] as number;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (leaves(middle) < from) low = middle + 1;
    else high = middle;
  }
  while (runs && low < end && !runs[low]) low++;
  return low < end ? low : -1;
}

/** Lists the departures within the range, latest first, with the lines that leave then. */
export function listDepartures(
  lines: Lines,
  { access, allowed }: Search,
  { from, until }: Range,
): [at: number, departures: Departure[]][] {
  const { firstVisit, visits, firstCall, flags, firstRun, starts, departures, offsets } = lines;
  const byTime = new Map<number, Departure[]>();
  for (const { stop, seconds } of access) {
    if (allowed.stops && !allowed.stops[stop]) continue;
    for (let index = firstVisit[stop] as number; index < (firstVisit[stop + 1] as number); index++) {
      const line = visits[index * 2] as number;
      const position = visits[index * 2 + 1] as number;
      const call = (firstCall[line] as number) + position;
      if (!((flags[call] as number) & MAY_BOARD) || call === (firstCall[line + 1] as number) - 1) continue;
      if (allowed.lines && !allowed.lines[line]) continue;
      const end = firstRun[line + 1] as number;
      let run = findRun(lines, line, position, from + seconds, end, allowed.runs);
      for (; run >= 0 && run < end; run++) {
        const at = (starts[run] as number) + (offsets[(departures[run] as number) + position] as number) - seconds;
        if (at >= until) break;
        if (allowed.runs && !allowed.runs[run]) continue;
        const known = byTime.get(at);
        if (known) known.push({ stop, seconds, line, position });
        else byTime.set(at, [{ stop, seconds, line, position }]);
      }
    }
  }
  return [...byTime].sort(([one], [other]) => other - one);
}
