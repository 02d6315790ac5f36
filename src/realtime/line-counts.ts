import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import { serviceDayStart } from '../timetable/service-day.ts';
import type { LiveTimetable } from './live-timetable.ts';
import { CALL } from './prediction/run-columns.ts';
import type { Snapshot } from './snapshot.ts';

/** Counts of the planned runs of a line that are under way or leave soon. */
export interface LineCounts {
  runs: number;
  /** How many of them the feed tracks, has late or has cancelled; null if no feed of the line is read. */
  live: { tracked: number; late: number; cancelled: number } | null;
}

/** A run is counted from this long before it departs. */
export const LEAVES_SOON_MS = 30 * MINUTE_MS;
/** A run counts as late from this delay on. */
export const LATE_MS = 5 * MINUTE_MS;

/** After this many trips, other requests get their turn. */
const TRIPS_PER_TURN = 10_000;

/** Counts the runs of lines, each given by its patterns. Runs that only a feed has do not count. */
export async function countLines(
  live: LiveTimetable,
  lines: readonly { patterns: readonly number[] }[],
  now: number,
): Promise<LineCounts[]> {
  const days = daysAround(now).map((day) => ({
    day,
    startsAt: serviceDayStart(day),
    services: live.timetable.servicesOn(day),
  }));
  const { patternTrips } = live.timetable.sections;
  const counts: LineCounts[] = [];
  let seen = 0;
  for (const { patterns } of lines) {
    counts.push(countLine(live, patterns, { now, days }));
    for (const pattern of patterns) {
      seen += patternTrips.valueAt(pattern + 1) - patternTrips.valueAt(pattern);
    }
    if (seen < TRIPS_PER_TURN) continue;
    seen = 0;
    await nextTurn();
  }
  return counts;
}

function countLine(
  live: LiveTimetable,
  patterns: readonly number[],
  { now, days }: { now: number; days: readonly { day: number; startsAt: number; services: Uint8Array }[] },
): LineCounts {
  const { timetable } = live;
  const { patternTrips, tripStart, tripService } = timetable.sections;
  const isRead = patterns.some((pattern) => live.snapshotOf(timetable.routeOf(pattern).file) !== null);
  const counts = { runs: 0, tracked: 0, late: 0, cancelled: 0 };
  for (const pattern of patterns) {
    for (let trip = patternTrips.valueAt(pattern); trip < patternTrips.valueAt(pattern + 1); trip++) {
      for (const { day, startsAt, services } of days) {
        const leavesAt = startsAt + tripStart.valueAt(trip) * SECOND_MS;
        const isNear = leavesAt <= now + LEAVES_SOON_MS && leavesAt >= now - DAY_MS;
        if (!isNear || services[tripService.valueAt(trip)] === 0) continue;
        const { from, until, lateMs, isCancelled } = stateOf(live, trip, day);
        if (until < now || from > now + LEAVES_SOON_MS) continue;
        counts.runs++;
        if (isCancelled) counts.cancelled++;
        else if (lateMs !== null) {
          counts.tracked++;
          if (lateMs >= LATE_MS) counts.late++;
        }
      }
    }
  }
  const { runs, ...ofFeed } = counts;
  return { runs, live: isRead ? ofFeed : null };
}

/** The time span of a run, how late it is now (null if it is not tracked), and whether it is cancelled. */
function stateOf(live: LiveTimetable, trip: number, day: number) {
  const source = live.find(trip, day);
  const span = live.spanOf(trip, day);
  if (!source) return { ...span, lateMs: null, isCancelled: false };
  const { snapshot, run } = source;
  return { ...span, lateMs: latenessOf(snapshot, run), isCancelled: snapshot.isCancelled(run) };
}

/** The delay in milliseconds at the next stop with a live time; null if there is none. */
function latenessOf(snapshot: Snapshot, run: number): number | null {
  const { state, departure, plannedDeparture, arrival, plannedArrival } = snapshot.sections;
  const [first, end] = snapshot.callsOf(run);
  for (let call = first; call < end; call++) {
    const bits = state.valueAt(call);
    if ((bits & CALL.live) === 0 || (bits & (CALL.left | CALL.skipped)) !== 0) continue;
    const [best, planned] = call === end - 1 ? [arrival, plannedArrival] : [departure, plannedDeparture];
    return (best.valueAt(call) - planned.valueAt(call)) * SECOND_MS;
  }
  return null;
}

/** The service days whose runs may be under way or leave soon. */
function daysAround(now: number): number[] {
  const today = Math.floor((now + 10 * HOUR_MS) / DAY_MS);
  return [today - 1, today, today + 1].filter((day) => serviceDayStart(day) <= now + LEAVES_SOON_MS);
}
