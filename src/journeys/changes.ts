import { callsOfAddedTrip, callsOfTrip, overlayRun } from '../boards/run-calls.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import type { TripUpdate } from '../realtime/feed/feed.ts';
import { isOnServiceDay } from '../realtime/join.ts';
import type { LivingFeed } from '../realtime/overlay.ts';
import { filesOfFeed } from '../realtime/polling/feed-source.ts';
import { MAY_ALIGHT, MAY_BOARD } from '../timetable/import/schedule-file.ts';
import { serviceDayStart } from '../timetable/service-day.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { RunCall } from '../transit/call.ts';
import { MODES } from '../transit/mode.ts';
import type { ChangedRun } from './day-lines.ts';

/** A run as a feed describes it. */
export interface LiveRun {
  /** -1 if the run is not in the timetable. */
  trip: number;
  /** The service day. */
  day: number;
  /** Null if the run is cancelled. */
  calls: RunCall[] | null;
  /** Set if the run is not in the timetable. */
  added: { tripId: string; route: NonNullable<ReturnType<Timetable['findRoute']>>; headsign: string } | null;
  /** The timestamp of the feed, in milliseconds since 1970. */
  asOf: number;
}

/** This many trips are read between two searches. */
const TRIPS_AT_ONCE = 25;
const ADDED: readonly TripUpdate['relationship'][] = ['ADDED', 'UNSCHEDULED', 'NEW', 'REPLACEMENT'];

/** Reads all runs of a feed, pausing between batches. It stops early when `isOutdated` reports that there is a newer feed. */
export async function readLiveRuns(
  timetable: Timetable,
  living: LivingFeed,
  isOutdated: () => boolean,
): Promise<LiveRun[] | null> {
  const files = filesOfFeed(living.source);
  const asOf = living.feed.headerAt;
  const runs: LiveRun[] = [];
  let count = 0;
  for (const update of living.feed.trips()) {
    if (++count % TRIPS_AT_ONCE === 0) await nextTurn();
    if (isOutdated()) return null;
    const trips = timetable.findTrips(update.tripId, files);
    for (const trip of trips) {
      for (const day of timetable.daysOf(trip, asOf)) {
        const listed = callsOfTrip(timetable, { trip, day });
        const start = listed[0]?.departure?.plannedAt;
        if (start === undefined || !isOnServiceDay(update, start, asOf, day)) continue;
        const { calls, isByFeed } = overlayRun(timetable, { trip, day }, { listed, feeds: [living], now: asOf });
        if (!isByFeed) continue;
        runs.push({
          trip,
          day,
          calls: calls.every(({ isCancelled }) => isCancelled) ? null : calls,
          added: null,
          asOf,
        });
      }
    }
    const run = trips.length > 0 || !ADDED.includes(update.relationship) ? null : readAdded(timetable, update, living);
    if (run) runs.push(run);
  }
  return runs;
}

function readAdded(timetable: Timetable, update: TripUpdate, { source, feed }: LivingFeed): LiveRun | null {
  const files = filesOfFeed(source);
  const route = timetable.findRoute(update.routeId, files);
  const calls = callsOfAddedTrip(timetable, update);
  const headsign = calls.at(-1)?.name;
  if (!route || headsign === undefined || calls.length < 2) return null;
  return { trip: -1, day: 0, calls, added: { tripId: update.tripId, route, headsign }, asOf: feed.headerAt };
}

/** The run for a search on a day; null if it runs on other days. */
export function toChangedRun(
  timetable: Timetable,
  { trip, day, calls, added }: LiveRun,
  baseDay: number,
): ChangedRun | null {
  if (!calls || (!added && Math.abs(day - baseDay) > 1)) return null;
  const base = serviceDayStart(baseDay);
  const seconds = (moment: number) => Math.floor((moment - base) / 1000);
  const times = calls.map(({ arrival, departure }) => {
    const [first, last] = [arrival ?? departure, departure ?? arrival] as [
      NonNullable<RunCall['arrival']>,
      NonNullable<RunCall['arrival']>,
    ];
    return {
      arrives: seconds(first.realtimeAt ?? first.plannedAt),
      departs: seconds(last.realtimeAt ?? last.plannedAt),
    };
  });
  const firstLive = Math.max(0, calls.findIndex(isLive));
  // Calls before the first live one have been passed, so they cannot be later than it.
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
  const planned = added ? null : timetable.calls(trip, day);
  return {
    trip,
    day: added ? 0 : day - baseDay,
    mode: MODES.indexOf(added ? added.route.mode : timetable.trip(trip).mode),
    // Stops that the timetable lacks cannot be boarded or alighted at.
    stops: calls.map(({ stopId }) => timetable.findStop(stopId) ?? 0),
    flags: calls.map((call, index) => {
      if (call.isCancelled || index < firstLive || timetable.findStop(call.stopId) === null) return 0;
      const same = planned?.length === calls.length ? planned[index] : null;
      if (!same) return MAY_BOARD | MAY_ALIGHT;
      if (same.needsBooking) return 0;
      return (same.mayBoard ? MAY_BOARD : 0) | (same.mayAlight ? MAY_ALIGHT : 0);
    }),
    arrivals: times.map(({ arrives }) => arrives),
    departures: times.map(({ departs }) => departs),
  };
}

export function isLive({ arrival, departure }: Pick<RunCall, 'arrival' | 'departure'>): boolean {
  return (arrival?.realtimeAt ?? departure?.realtimeAt ?? null) !== null;
}
