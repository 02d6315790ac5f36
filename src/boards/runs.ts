import { MINUTE_MS } from '../core/clock.ts';
import { createBoundedMap, hashOf } from '../core/own-memory.ts';
import { mapRunCalls } from '../efa/calls.ts';
import { mapPage } from '../efa/departure-page.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { ApiError } from '../errors/api-error.ts';
import {
  type FeedAges,
  type FeedRequests,
  freshnessOfFeeds,
  type LiveFeeds,
  requestFeeds,
} from '../realtime/live-feeds.ts';
import { type LiveRun, LiveTimetable } from '../realtime/live-timetable.ts';
import { type FeedSourceId, listFeedSources } from '../realtime/polling/feed-source.ts';
import { SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import { noTimetable, type TimetableInUse } from '../timetable/update/keep-current.ts';
import type { FindAlerts } from '../transit/alert.ts';
import { isLiveCall, type RunCall, type RunCalls } from '../transit/call.ts';
import { type Departure, isCancelled } from '../transit/departure.ts';
import { FRESHNESS_WINDOWS, type Freshness, freshnessOf } from '../transit/freshness.ts';
import type { Mode } from '../transit/mode.ts';
import { isSameRun, type RunStart } from '../transit/run-id.ts';
import { toSydneyWallClock } from '../transit/time.ts';
import { UNKNOWN_ACCESS } from '../transit/vehicle-access.ts';
import { describeHeadway } from './headway.ts';
import { callHere } from './monitor.ts';
import type { RouteAndHeadsign } from './pager.ts';
import { type FoundRide, findRide, type RideStart, withoutEstimates } from './ride.ts';
import {
  callsOfRun,
  type FromFeeds,
  findNextRun,
  findRun,
  findThroughHeadsign,
  latestOf,
  type RunView,
} from './run-calls.ts';

/** A run, its calls and the departure that it was requested by. */
export interface Run extends FromFeeds {
  calls: RunCall[];
  departure: RideStart &
    RouteAndHeadsign &
    Pick<Departure, 'lineId' | 'alerts' | 'isWheelchairAccessible' | 'access' | 'throughTo'> & { isCancelled: boolean };
  /** False if only the departure itself is known because the trip planner lists no other calls. */
  areListed: boolean;
  next: RunStart | null;
  /** Whether the feed of the run is unavailable. */
  lacksFeed: boolean;
  freshness: Freshness;
}

/** The times last reported of a call; null at an end of the run. */
interface CallTimes {
  arrival: RunCall['arrival'];
  departure: RunCall['departure'];
}

interface RunFeeds extends FeedRequests, FeedAges {
  snapshot: LiveFeeds['snapshot'];
}

/** A ride of the trip planner as its run is today. */
export interface CurrentRide extends FoundRide {
  /** The calls with which the ride was requested, with the data of the run. */
  calls: RunCall[];
  /** Whether the run no longer takes the rider from the first of these calls to the last. */
  isCancelled: boolean;
  freshness: Freshness;
}

const MAX_FOLLOWED = 500;
/** A run from the departure monitor is fresh for `freshMs`. Its estimates are dropped after `staleMs`. */
const { freshMs: ESTIMATES_OLD_MS, staleMs: STALE_MS } = FRESHNESS_WINDOWS.run;

/** Finds runs in the timetable and the feeds. The departure monitor supplies runs that are missing there or not trusted yet. */
export class Runs {
  readonly #now: () => number;
  readonly #feeds: RunFeeds | null;
  readonly #timetable: TimetableInUse;
  readonly #isTrusted: (mode: Mode) => boolean;
  readonly #listAlerts: FindAlerts;
  /** The last live times of calls, because a feed drops calls that the vehicle has passed. Each instance has its own. */
  readonly #reported = createBoundedMap<CallTimes[]>('times of followed runs', MAX_FOLLOWED);

  constructor(parts: {
    now: () => number;
    feeds?: RunFeeds | null;
    timetable?: TimetableInUse;
    isTrusted?: (mode: Mode) => boolean;
    listAlerts?: FindAlerts;
  }) {
    this.#now = parts.now;
    this.#feeds = parts.feeds ?? null;
    this.#timetable = parts.timetable ?? noTimetable;
    this.#isTrusted = parts.isTrusted ?? (() => true);
    this.#listAlerts = parts.listAlerts ?? (() => []);
  }

  #snapshot(): LiveTimetable | null {
    const timetable = this.#timetable.get();
    return this.#feeds?.snapshot() ?? (timetable && new LiveTimetable(timetable));
  }

  /**
   * The timetable with the live times of these modes, the alerts, and a function for the freshness; null without a timetable.
   * `at` is the earliest time of interest.
   */
  async snapshotLive(modes: readonly Mode[], at: number) {
    if (!this.#snapshot()) return null;
    const sources = await requestFeeds(this.#feeds, listFeedSources(modes), { at, now: this.#now() });
    const live = this.#snapshot();
    const freshness = (asOf: number | null) => this.#freshnessOf(sources, asOf);
    return live && { live, listAlerts: this.#listAlerts, now: this.#now(), freshness };
  }

  /** Fetches a run; null if no source has it. Throws the departure monitor's error if it fails and no other source has the run. */
  async fetch(queryUpstream: QueryUpstream, start: RunStart): Promise<Run | null> {
    const isTrusted = this.#isTrusted(start.mode);
    const plannedRun = isTrusted ? await this.#fetchPlanned(start) : null;
    if (plannedRun) return plannedRun;
    try {
      return await this.#fetchListed(queryUpstream, start);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.statusCode < 500) return null;
      const planned = isTrusted ? null : await this.#fetchPlanned(start);
      if (!planned) throw error;
      return planned;
    }
  }

  async #fetchPlanned(start: RunStart): Promise<Run | null> {
    const before = this.#snapshot();
    if (!before) return null;
    const known = findRun(before, start);
    const ofRun = known ? (SCHEDULE_FILES[known.run.route.file].feed ?? []) : listFeedSources([start.mode]);
    const sources = await requestFeeds(this.#feeds, [ofRun].flat(), { at: start.plannedAt, now: this.#now() });
    const live = this.#snapshot() ?? before;
    const found = findRun(live, start);
    if (!found) return null;
    const { run, position } = found;
    const view = callsOfRun(live, run);
    return {
      calls: this.#withPassed(run, view),
      asOf: view.asOf,
      isByFeed: view.isByFeed,
      departure: this.#describe(live, start, run, position),
      areListed: true,
      next: findNextRun(live.timetable, run),
      lacksFeed: run.source === null && sources.some((source) => live.snapshots.every((one) => one.source !== source)),
      freshness: this.#freshnessOf(sources, view.asOf),
    };
  }

  #describe(live: LiveTimetable, start: RunStart, run: LiveRun, position: number): Run['departure'] {
    const { timetable } = live;
    const { mode, runId: tripId, plannedAt } = start;
    const { lineId, route, network } = run.route;
    const call = run.calls[position];
    const stop = call && (call.stop >= 0 ? call.stop : call.plannedStop);
    const place = stop === undefined ? null : timetable.stop(stop);
    const station = place && timetable.stop(timetable.stationOf(place.index));
    const stopIds = [place?.id ?? start.stopId, ...(station && station.id !== place?.id ? [station.id] : [])] as const;
    const alerts = this.#listAlerts({ mode, route, network, tripId, stopIds, at: plannedAt });
    const isStopAccessible =
      place?.isWheelchairAccessible === true && !alerts.some((alert) => alert.restrictsWheelchairs);
    const earlyEnd = call && run.source && live.earlyEndOf(run.source.snapshot, run.source.run, call.index + 1);
    const destination = earlyEnd ?? live.headsignOf(run, call?.position ?? -1);
    const access = run.like < 0 ? UNKNOWN_ACCESS : timetable.vehicleAccess(run.like);
    return {
      ...start,
      lineId,
      route,
      destination,
      throughTo: findThroughHeadsign(live, [run], destination),
      isWheelchairAccessible: access.wheelchairs ?? isStopAccessible,
      access,
      alerts: [...alerts.map(({ text }) => text), ...describeHeadway(timetable, run, call?.isLive ?? false)],
      isCancelled: false,
    };
  }

  /**
   * Restores the last live times of calls that the vehicle has left or that are past, because a feed drops them. Records the
   * times of the other calls.
   */
  #withPassed({ trip, day, tripId }: LiveRun, { calls, sources, isByFeed }: RunView): RunCall[] {
    const now = this.#now();
    const key = hashOf(`${trip} ${tripId} ${day}`);
    const reported = this.#reported.get(key) ?? [];
    const restored = calls.map((call, index) => {
      const source = sources[index];
      const latest = source?.call.hasLeft ? Math.min(now, latestOf(source)) : null;
      const passed = (time: RunCall['arrival'], last?: RunCall['arrival']) => {
        const isPassed = latest !== null || (time?.realtimeAt === null && time.plannedAt < now - MINUTE_MS);
        const isSame = time !== null && last?.plannedAt === time.plannedAt;
        return isPassed && isSame && (last.realtimeAt ?? Number.POSITIVE_INFINITY) <= (latest ?? now) ? last : time;
      };
      const { arrival, departure } = reported[index] ?? {};
      return { ...call, arrival: passed(call.arrival, arrival), departure: passed(call.departure, departure) };
    });
    const times = restored.map(({ arrival, departure }) => ({ arrival, departure }));
    if (isByFeed) this.#reported.set(key, times);
    return restored;
  }

  #freshnessOf(sources: readonly FeedSourceId[], asOf: number | null): Freshness {
    return freshnessOfFeeds(this.#feeds, sources, { asOf, now: this.#now() });
  }

  /** Null if the departure monitor does not list the run at that minute. */
  async #fetchListed(queryUpstream: QueryUpstream, start: RunStart): Promise<Run | null> {
    const { runId, stopId, mode, plannedAt } = start;
    const at = toSydneyWallClock(plannedAt);
    const request = { kind: 'departureMonitor', stopId, modes: [mode], at, withCalls: true } as const;
    const response = await queryUpstream(request);
    const matches: [Departure, RunCalls][] = [];
    const { stopName } = await mapPage(request, response, (departure, record) => {
      const isOfRun = isSameRun(departure.runId, runId);
      const isRequested = isOfRun && Math.abs(departure.plannedAt - plannedAt) < MINUTE_MS;
      if (isRequested) matches.push([departure, mapRunCalls(record, departure)]);
    });
    const [departure, run] = matches.at(-1) ?? [];
    if (!departure || !run) return null;
    const { retrievedAt: asOf, ...freshness } = freshnessOf(response);
    const listed = [...run.before, callHere(departure, { ...run, name: stopName }), ...(run.after ?? [])];
    const live = this.#snapshot();
    const ride = live && findRide(live, departure, { listed, now: this.#now() });
    if (ride?.source) this.#feeds?.request([ride.source]);
    const isByFeed = ride?.isByFeed ?? false;
    const isOld = this.#now() - asOf > STALE_MS;
    const calls =
      ride && isByFeed ? ride.withTimes(listed) : isOld ? listed.map((call) => withoutEstimates(call, asOf)) : listed;
    const liveAt = ride && isByFeed ? ride.asOf : calls.some(isLiveCall) ? asOf : null;
    const freshUntil = Math.max(freshness.freshUntil, asOf + ESTIMATES_OLD_MS);
    return {
      calls,
      asOf: liveAt,
      isByFeed,
      departure: { ...departure, isCancelled: isCancelled(departure) },
      areListed: run.after !== null,
      next: nextOf(calls, start),
      lacksFeed: false,
      freshness: { ...freshness, retrievedAt: liveAt ?? asOf, freshUntil, staleUntil: freshUntil + STALE_MS },
    };
  }

  /**
   * A ride of the trip planner with the data of its run today, without an upstream call. `ends` are its calls, or only the first
   * and the last. Null if its feed is unavailable or does not have the run.
   */
  findRide(start: RideStart, ends: readonly RunCall[]): CurrentRide | null {
    const live = this.#snapshot();
    const ride = live && findRide(live, start, { listed: ends, now: this.#now() });
    if (!ride) return null;
    const sources = [ride.source ?? []].flat();
    this.#feeds?.request(sources);
    if (!ride.hasFeed) return null;
    const calls = ride.withTimes(ends);
    const [origin, destination] = [calls[0], calls.at(-1)] as [RunCall, RunCall];
    const leavesAt = origin.departure?.realtimeAt ?? Number.POSITIVE_INFINITY;
    return {
      ...ride,
      calls,
      hasLeft: ride.hasLeft || leavesAt < this.#now() - MINUTE_MS,
      isCancelled:
        ride.endsBefore ||
        ride.isClosed ||
        origin.isCancelled ||
        destination.isCancelled ||
        origin.departure === null ||
        destination.arrival === null,
      freshness: this.#freshnessOf(sources, ride.asOf),
    };
  }
}

/** The departure of the next run, from the call at which the vehicle changes to it. */
function nextOf(calls: readonly RunCall[], start: RunStart): RunStart | null {
  const call = calls.find(({ nextRunId }) => nextRunId);
  const plannedAt = (call?.departure ?? call?.arrival)?.plannedAt ?? 0;
  return call?.nextRunId ? { ...start, runId: call.nextRunId, stopId: call.stopId, plannedAt } : null;
}
