import type { PatternNode, PointNode } from '../network/network-index.ts';
import { plannedSeconds, type Run, runAt } from './run.ts';
import { firstRunFrom, type Timetable } from './timetable.ts';

export interface Departure {
  run: Run;
  call: number;
  /** Planned time cut to the minute. */
  minuteSeconds: number;
}

const HORIZON_SECONDS = 24 * 3600;

/**
 * The first `count` departures from some points within a day of `atSeconds`, ordered by the minute of their planned
 * time.
 */
export function nextDepartures(
  timetable: Timetable,
  points: readonly PointNode[],
  isWanted: (pattern: PatternNode) => boolean,
  atSeconds: number,
  count: number,
): Departure[] {
  const calls = points
    .flatMap((point) => point.calls)
    .filter(({ pattern, call }) => call < pattern.points.length - 1 && isWanted(pattern));
  const departures = calls.flatMap(({ pattern, call }) => departuresAt(timetable, pattern, call, atSeconds, count));
  departures.sort(
    (a, b) =>
      a.minuteSeconds - b.minuteSeconds ||
      a.run.pattern.index - b.run.pattern.index ||
      a.run.startSeconds - b.run.startSeconds ||
      a.call - b.call,
  );
  return departures.slice(0, count);
}

function departuresAt(
  timetable: Timetable,
  pattern: PatternNode,
  call: number,
  atSeconds: number,
  count: number,
): Departure[] {
  const list = timetable(pattern);
  const departures: Departure[] = [];
  const first = firstRunFrom(list, atSeconds - (pattern.offsetSeconds[call] ?? 0));
  for (let position = first; position < list.starts.length && departures.length < count; position++) {
    const run = runAt(pattern, list, position);
    const planned = plannedSeconds(run, call);
    if (planned >= atSeconds + HORIZON_SECONDS) break;
    departures.push({ run, call, minuteSeconds: planned - (planned % 60) });
  }
  return departures;
}
