import type { PatternNode, PointNode } from '../network/network-index.ts';
import { type CallState, callState, EXTRA_RUN_DELAY_SECONDS, isReplaced, MAX_DELAY_SECONDS } from './realtime.ts';
import { plannedMinuteSeconds, plannedSeconds, type Run } from './run.ts';
import { firstRunFrom, type Timetable } from './timetable.ts';

/** One event on a board of departures or arrivals. A cancelled run with a replacement has two. */
export interface Departure {
  run: Run;
  call: number;
  /** Where the vehicle calls. */
  point: PointNode;
  /** The planned time, cut to the minute. */
  minuteSeconds: number;
  state: CallState | { kind: 'extra'; estimatedSeconds: number };
}

/** Which departures to list. Times are epoch seconds. */
export interface DepartureRequest {
  points: readonly PointNode[];
  isWanted: (pattern: PatternNode) => boolean;
  atSeconds: number;
  /** Whether `atSeconds` is the current time: then departures are selected by best-known time, otherwise by planned time. */
  isForNow: boolean;
  /** The current time; undefined for a board without realtime. */
  nowSeconds: number | undefined;
  count: number;
  /** Whether to list arrivals instead of departures. */
  isArrival?: boolean;
}

const HORIZON_SECONDS = 24 * 3600;

/** The first departures within a day of `atSeconds`, ordered by the minute of their planned time. */
export function nextDepartures(timetable: Timetable, request: DepartureRequest): Departure[] {
  // A vehicle that calls at another platform than planned is on that platform's board.
  const stops = new Set(request.points.map((point) => point.home));
  const calls = [...stops]
    .flatMap((stop) => stop.points.flatMap((point) => point.calls))
    .filter(
      ({ pattern, call }) =>
        (request.isArrival ? call > 0 : call < pattern.points.length - 1) && request.isWanted(pattern),
    );
  const departures = calls
    .flatMap(({ pattern, call }) => departuresAt(timetable, pattern, call, request))
    .filter(({ point }) => request.points.includes(point));
  departures.sort(
    (a, b) =>
      a.minuteSeconds - b.minuteSeconds ||
      a.run.pattern.index - b.run.pattern.index ||
      a.run.startSeconds - b.run.startSeconds ||
      a.call - b.call,
  );
  return departures.slice(0, request.count);
}

function departuresAt(
  timetable: Timetable,
  pattern: PatternNode,
  call: number,
  { atSeconds, isForNow, nowSeconds, count }: DepartureRequest,
): Departure[] {
  const runs = timetable(pattern);
  const departures: Departure[] = [];
  const earliestSeconds = isForNow ? atSeconds - MAX_DELAY_SECONDS : atSeconds;
  const first = firstRunFrom(runs, earliestSeconds - (pattern.offsetSeconds[call] ?? 0));
  for (const run of runs.slice(first)) {
    if (departures.length >= count || plannedSeconds(run, call) >= atSeconds + HORIZON_SECONDS) break;
    const events = departuresOf(run, call, nowSeconds);
    departures.push(...events.filter((event) => !isForNow || bestKnownSeconds(event) >= atSeconds));
  }
  return departures;
}

function departuresOf(run: Run, call: number, nowSeconds: number | undefined): Departure[] {
  const minuteSeconds = plannedMinuteSeconds(run, call);
  const state = callState(run, call, nowSeconds);
  const point = state.kind === 'live' ? state.point : (run.pattern.points[call] as PointNode);
  const departure = { run, call, point, minuteSeconds, state };
  if (state.kind !== 'cancelled' || !isReplaced(run)) return [departure];
  const extra = { kind: 'extra' as const, estimatedSeconds: plannedSeconds(run, call) + EXTRA_RUN_DELAY_SECONDS };
  return [departure, { ...departure, state: extra }];
}

function bestKnownSeconds({ state, minuteSeconds }: Departure): number {
  return 'estimatedSeconds' in state ? state.estimatedSeconds : minuteSeconds;
}
