import { callsOfAddedTrip, callsOfTrip, overlayRun } from '../boards/run-calls.ts';
import { SECOND_MS } from '../core/clock.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import { Feed, type TripUpdate } from '../realtime/feed/feed.ts';
import { isOnServiceDay } from '../realtime/join.ts';
import { mayHaveLeft, plannedAtCall, type TrustedFeed } from '../realtime/overlay.ts';
import { filesOfFeed } from '../realtime/polling/feed-source.ts';
import { MAY_ALIGHT, MAY_BOARD } from '../timetable/import/schedule-file.ts';
import { serviceDayStart } from '../timetable/service-day.ts';
import type { PlannedCall, Timetable } from '../timetable/timetable.ts';
import type { RunCall } from '../transit/call.ts';
import { MODES, type Mode } from '../transit/mode.ts';
import type { ChangedRun } from './day-lines.ts';

/**
 * A run as a feed describes it. A thread holds thousands of them, so the calls are columns of numbers. `listLiveCalls` makes the
 * calls of the few runs that journeys use.
 */
export interface LiveRun {
  /** -1 if the run is not in the timetable. */
  trip: number;
  /** The service day. */
  day: number;
  /** Null if the run is cancelled. */
  columns: Columns | null;
  /** Set if the run is not in the timetable. */
  added: {
    tripId: string;
    route: NonNullable<ReturnType<Timetable['findRoute']>>;
    headsign: string;
    calls: RunCall[];
  } | null;
  trusted: TrustedFeed;
}

/** A column as in `ChangedRun`, but the times are seconds since 1970. */
type Columns = Record<'stops' | 'flags' | 'arrivals' | 'departures', Int32Array>;

/** This many trips are read between two searches. */
const TRIPS_AT_ONCE = 25;
const ADDED: readonly TripUpdate['relationship'][] = ['ADDED', 'UNSCHEDULED', 'NEW', 'REPLACEMENT'];

/** Reads all runs of a feed, pausing between batches. It stops early when `isOutdated` reports that there is a newer feed. */
export async function readLiveRuns(
  timetable: Timetable,
  trusted: TrustedFeed,
  isOutdated: () => boolean,
): Promise<LiveRun[] | null> {
  const files = filesOfFeed(trusted.source);
  const asOf = trusted.feed.headerAt;
  const runs: LiveRun[] = [];
  let count = 0;
  let reader = trusted;
  for (const update of trusted.feed.trips()) {
    if (++count % TRIPS_AT_ONCE === 0) {
      await nextTurn();
      // A `Feed` keeps every trip that was looked up, so a new one frees that memory.
      reader = { ...trusted, feed: new Feed(trusted.feed.packed) };
    }
    if (isOutdated()) return null;
    const trips = timetable.findTrips(update.tripId, files);
    for (const trip of trips) {
      for (const day of timetable.daysOf(trip, asOf)) {
        const plannedCalls = callsOfTrip(timetable, { trip, day });
        const start = plannedCalls[0]?.departure?.plannedAt;
        if (start === undefined || !isOnServiceDay(update, start, asOf, day)) continue;
        const { calls, isByFeed } = overlayRun(
          timetable,
          { trip, day },
          { listed: plannedCalls, feeds: [reader], now: asOf },
        );
        if (!isByFeed) continue;
        const columns = calls.every(({ isCancelled }) => isCancelled)
          ? null
          : toColumns(timetable, calls, { planned: timetable.calls(trip, day), mode: timetable.trip(trip).mode, asOf });
        runs.push({ trip, day, columns, added: null, trusted });
      }
    }
    const run = trips.length > 0 || !ADDED.includes(update.relationship) ? null : readAdded(timetable, update, trusted);
    if (run) runs.push(run);
  }
  return runs;
}

/** The calls of a run that is not cancelled. */
export function listLiveCalls(timetable: Timetable, { trip, day, added, trusted }: LiveRun): RunCall[] {
  if (added) return added.calls;
  const plannedCalls = callsOfTrip(timetable, { trip, day });
  return overlayRun(timetable, { trip, day }, { listed: plannedCalls, feeds: [trusted], now: trusted.feed.headerAt })
    .calls;
}

function readAdded(timetable: Timetable, update: TripUpdate, trusted: TrustedFeed): LiveRun | null {
  const files = filesOfFeed(trusted.source);
  const route = timetable.findRoute(update.routeId, files);
  const calls = callsOfAddedTrip(timetable, update);
  const headsign = calls.findLast(({ isCancelled }) => !isCancelled)?.name;
  if (!route || headsign === undefined || calls.length < 2) return null;
  const columns = toColumns(timetable, calls, { planned: null, mode: route.mode, asOf: trusted.feed.headerAt });
  return { trip: -1, day: 0, columns, added: { tripId: update.tripId, route, headsign, calls }, trusted };
}

/** The run for a search on a day; null if it runs on other days. */
export function toChangedRun(
  timetable: Timetable,
  { trip, day, columns, added }: LiveRun,
  baseDay: number,
): ChangedRun | null {
  if (!columns || (!added && Math.abs(day - baseDay) > 1)) return null;
  const base = serviceDayStart(baseDay) / SECOND_MS;
  return {
    ...columns,
    trip,
    day: added ? 0 : day - baseDay,
    mode: MODES.indexOf(added ? added.route.mode : timetable.trip(trip).mode),
    arrivals: columns.arrivals.map((seconds) => seconds - base),
    departures: columns.departures.map((seconds) => seconds - base),
  };
}

/** `planned` is null if the run is not in the timetable. `asOf` is the time of the feed. */
function toColumns(
  timetable: Timetable,
  calls: readonly RunCall[],
  { planned, mode, asOf }: { planned: readonly PlannedCall[] | null; mode: Mode; asOf: number },
): Columns {
  const times = calls.map(({ arrival, departure }) => {
    const [first, last] = [arrival ?? departure, departure ?? arrival] as [
      NonNullable<RunCall['arrival']>,
      NonNullable<RunCall['arrival']>,
    ];
    return {
      arrives: Math.floor((first.realtimeAt ?? first.plannedAt) / SECOND_MS),
      departs: Math.floor((last.realtimeAt ?? last.plannedAt) / SECOND_MS),
    };
  });
  const firstLive = Math.max(0, calls.findIndex(isLive));
  const isPassed = (call: RunCall, index: number) =>
    index < firstLive && mayHaveLeft({ plannedAt: plannedAtCall(call), mode }, asOf);
  // Calls before the first live one cannot be later than it.
  for (let at = firstLive - 1; at >= 0; at--) {
    const [time, next] = [times[at], times[at + 1]] as [(typeof times)[0], (typeof times)[0]];
    time.departs = Math.min(time.departs, next.arrives);
    time.arrives = Math.min(time.arrives, time.departs);
  }
  let latest = Number.NEGATIVE_INFINITY;
  for (const time of times) {
    time.arrives = Math.max(time.arrives, latest);
    time.departs = Math.max(time.departs, time.arrives);
    latest = time.departs;
  }
  const flags = calls.map((call, index) => {
    if (call.isCancelled || isPassed(call, index) || timetable.findStop(call.stopId) === null) return 0;
    const plannedCall = planned?.length === calls.length ? planned[index] : null;
    if (!plannedCall) return MAY_BOARD | MAY_ALIGHT;
    if (plannedCall.needsBooking) return 0;
    return (plannedCall.mayBoard ? MAY_BOARD : 0) | (plannedCall.mayAlight ? MAY_ALIGHT : 0);
  });
  return {
    // Stops that the timetable lacks cannot be boarded or alighted at.
    stops: Int32Array.from(calls, ({ stopId }) => timetable.findStop(stopId) ?? 0),
    flags: Int32Array.from(flags),
    arrivals: Int32Array.from(times, ({ arrives }) => arrives),
    departures: Int32Array.from(times, ({ departs }) => departs),
  };
}

export function isLive({ arrival, departure }: Pick<RunCall, 'arrival' | 'departure'>): boolean {
  return (arrival?.realtimeAt ?? departure?.realtimeAt ?? null) !== null;
}
