import { MAY_ALIGHT, MAY_BOARD } from '../../timetable/call-flags.ts';
import { findRun } from './departures.ts';
import type { Labels } from './labels.ts';
import { type Lines, offsetsOf, type Visits } from './lines.ts';
import type { Search, Walk } from './query.ts';

/**
 * Returns until when the next search has to look for a destination that this one has not reached: the arrival with one more ride
 * from a stop that it has reached. `until` if there is no such ride; null if no vehicle arrives by then.
 */
export function boundArrival(
  lines: Lines,
  { arrived, ready }: Labels,
  { allowed, changeSeconds, latest }: Search,
  { egress, until, rides }: { egress: readonly Walk[]; until: number; rides: number },
): number | null {
  const { stopCount, firstCall, firstRun, stops, starts, arrivals } = lines;
  const flags = allowed.flags ?? lines.flags;
  const row = rides * stopCount;
  let bound = until;
  let isServed = false;
  for (const { stop, seconds } of egress) {
    if (allowed.stops && !allowed.stops[stop]) continue;
    boundVisits(lines, stop, seconds);
    if (lines.live) boundVisits(lines.live, stop, seconds);
  }
  return isServed ? bound : null;

  function boundVisits({ firstVisit, visits }: Visits, stop: number, seconds: number) {
    for (let at = firstVisit[stop] as number, last = firstVisit[stop + 1] as number; at < last; at++) {
      const [line, position] = [visits[at * 2] as number, visits[at * 2 + 1] as number];
      const call = (firstCall[line] as number) + position;
      if (!((flags[call] as number) & MAY_ALIGHT) || (allowed.lines && !allowed.lines[line])) continue;
      const offsets = offsetsOf(lines, line);
      const end = firstRun[line + 1] as number;
      const arrival = (run: number) =>
        (starts[run] as number) + (offsets[(arrivals[run] as number) + position] as number) + seconds;
      const next = findRun(lines, line, position, latest - seconds, end, allowed.runs);
      if (next < 0 || arrival(next) > until) continue;
      isServed = true;
      const run = firstCaught(line, call, end);
      if (run < end) bound = Math.min(bound, arrival(run));
    }
  }

  /** The first run of a line, before `end`, that can be boarded before this call. */
  function firstCaught(line: number, before: number, end: number): number {
    let first = end;
    for (let call = firstCall[line] as number, position = 0; call < before; call++, position++) {
      const stop = stops[call] as number;
      if (!((flags[call] as number) & MAY_BOARD) || (allowed.stops && !allowed.stops[stop])) continue;
      const from = Math.min(ready[row - stopCount + stop] as number, (arrived[row + stop] as number) + changeSeconds);
      if (from > until) continue;
      const run = findRun(lines, line, position, from, first, allowed.runs);
      if (run >= 0) first = run;
    }
    return first;
  }
}
