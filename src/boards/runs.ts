import { MINUTE_MS } from '../core/clock.ts';
import { createBoundedMap, hashOf } from '../core/own-memory.ts';
import { mapRunCalls } from '../efa/calls.ts';
import { mapPage } from '../efa/departure-page.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { ApiError } from '../errors/api-error.ts';
import { freshnessOfFeeds, type LiveFeeds, needFeeds } from '../realtime/live-feeds.ts';
import { type LiveRun, LiveTimetable } from '../realtime/live-timetable.ts';
import { toCarriages } from '../realtime/occupancy.ts';
import { type FeedSourceId, feedOfFile, listFeedSources } from '../realtime/polling/feed-source.ts';
import { type CurrentTimetable, noTimetable } from '../timetable/update/keep-current.ts';
import type { FindAlerts } from '../transit/alert.ts';
import { type Call, isCallAt, type RunCall, type RunCalls } from '../transit/call.ts';
import { type Carriages, type Departure, isCancelled } from '../transit/departure.ts';
import { FRESHNESS_WINDOWS, type Freshness, freshnessOf } from '../transit/freshness.ts';
import type { Mode } from '../transit/mode.ts';
import { isSameRun, type RunStart } from '../transit/run-id.ts';
import { toSydneyWallClock } from '../transit/time.ts';
import { callHere } from './monitor.ts';
import { callsOfRun, findNextRun, findRun, joinRuns, MAX_CONTINUATIONS, type RunView } from './run-calls.ts';
import { headsignOf } from './scheduled-departure.ts';

/** A run as shown to callers. */
export interface Run extends Pick<RunView, 'calls' | 'asOf' | 'isByFeed'> {
  departure: Pick<
    Departure,
    'runId' | 'lineId' | 'mode' | 'route' | 'destination' | 'stopId' | 'plannedAt' | 'alerts'
  > &
    Pick<Departure, 'isWheelchairAccessible'> & { isCancelled: boolean };
  /** False if only the departure itself is known because the trip planner lists no other calls. */
  areListed: boolean;
  next: RunStart | null;
  /** Whether the feed of the run is unavailable. */
  lacksFeed: boolean;
  freshness: Freshness;
}

type CallTimes = Pick<RunCall, 'arrival' | 'departure'>;
type Feeds = Pick<LiveFeeds, 'need' | 'untilRead' | 'take' | 'freshUntil' | 'list'>;
/** What identifies a ride: its run, and the stop and time at which the rider boards. */
type RideStart = Pick<Departure, 'runId' | 'mode' | 'stopId' | 'plannedAt'>;

const MAX_FOLLOWED = 500;
/** The departure monitor is queried again for a run after this time. */
const { freshMs: ESTIMATES_OLD_MS, staleMs: STALE_MS } = FRESHNESS_WINDOWS.run;
/** Two versions of the timetable differ by less. */
const SAME_CALL_MS = 5 * MINUTE_MS;

/** Finds runs in the timetable and the feeds. The departure monitor supplies runs that are missing there or not trusted yet. */
export class Runs {
  readonly #now: () => number;
  readonly #feeds: Feeds | null;
  readonly #timetable: Pick<CurrentTimetable, 'get'>;
  readonly #isTrusted: (mode: Mode) => boolean;
  readonly #findAlerts: FindAlerts;
  /** The last live times of calls, because a feed drops calls that the vehicle has passed. Each instance has its own. */
  readonly #reported = createBoundedMap<CallTimes[]>('times of followed runs', MAX_FOLLOWED);

  constructor(parts: {
    now: () => number;
    feeds?: Feeds | null;
    timetable?: Pick<CurrentTimetable, 'get'>;
    isTrusted?: (mode: Mode) => boolean;
    findAlerts?: FindAlerts;
  }) {
    this.#now = parts.now;
    this.#feeds = parts.feeds ?? null;
    this.#timetable = parts.timetable ?? noTimetable;
    this.#isTrusted = parts.isTrusted ?? (() => true);
    this.#findAlerts = parts.findAlerts ?? (() => []);
  }

  #take(): LiveTimetable | null {
    const timetable = this.#timetable.get();
    return this.#feeds?.take() ?? (timetable && new LiveTimetable(timetable));
  }

  /** Null if no source lists the run. Throws the departure monitor's error if no other source has the run. */
  async findRun(queryUpstream: QueryUpstream, start: RunStart): Promise<Run | null> {
    const isTrusted = this.#isTrusted(start.mode);
    const plannedRun = isTrusted ? await this.#findPlanned(start) : null;
    if (plannedRun) return plannedRun;
    try {
      return await this.#findListed(queryUpstream, start);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.statusCode < 500) return null;
      const planned = isTrusted ? null : await this.#findPlanned(start);
      if (!planned) throw error;
      return planned;
    }
  }

  async #findPlanned(start: RunStart): Promise<Run | null> {
    const before = this.#take();
    if (!before) return null;
    const known = findRun(before, start);
    const ofRun = known ? (feedOfFile(known.run.route.file) ?? []) : listFeedSources([start.mode]);
    const sources = await needFeeds(this.#feeds, [ofRun].flat(), { at: start.plannedAt, now: this.#now() });
    const live = this.#take() ?? before;
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
    const alerts = this.#findAlerts({ mode, route, network, tripId, stopIds, at: plannedAt });
    const isStopAccessible =
      place?.isWheelchairAccessible === true && !alerts.some((alert) => alert.restrictsWheelchairs);
    const isVehicleAccessible = run.like < 0 ? null : timetable.isVehicleAccessible(run.like);
    return {
      ...start,
      lineId,
      route,
      destination: headsignOf(live, run, call?.position ?? -1),
      isWheelchairAccessible: isVehicleAccessible ?? isStopAccessible,
      alerts: alerts.map(({ text }) => text),
      isCancelled: false,
    };
  }

  /**
   * Restores the last live times of calls that the vehicle has left or that are no longer on boards, and records those of the
   * others. A feed drops calls once they are passed.
   */
  #withPassed({ trip, day, tripId }: LiveRun, { calls, sources, isByFeed }: RunView): RunCall[] {
    const now = this.#now();
    const key = hashOf(`${trip} ${tripId} ${day}`);
    const reported = this.#reported.get(key) ?? [];
    const restored = calls.map((call, index) => {
      const hasLeft = sources[index]?.call.hasLeft ?? false;
      const passed = (time: RunCall['arrival'], last?: RunCall['arrival']) => {
        const isPassed = time?.realtimeAt === null && (hasLeft || time.plannedAt < now - MINUTE_MS);
        return isPassed && last?.plannedAt === time.plannedAt && (last.realtimeAt ?? now) < now ? last : time;
      };
      const { arrival, departure } = reported[index] ?? {};
      return { ...call, arrival: passed(call.arrival, arrival), departure: passed(call.departure, departure) };
    });
    if (isByFeed)
      this.#reported.set(
        key,
        restored.map(({ arrival, departure }) => ({ arrival, departure })),
      );
    return restored;
  }

  #freshnessOf(sources: readonly FeedSourceId[], asOf: number | null): Freshness {
    return freshnessOfFeeds(this.#feeds, sources, { asOf, now: this.#now() });
  }

  /** Null if the departure monitor does not list the run at that minute. */
  async #findListed(queryUpstream: QueryUpstream, start: RunStart): Promise<Run | null> {
    const { runId, stopId, mode, plannedAt } = start;
    const at = toSydneyWallClock(new Date(plannedAt));
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
    const live = this.#take();
    const seen = live && this.#findRide(live, departure, listed);
    if (seen) this.#feeds?.need(seen.sources);
    const isOld = this.#now() - asOf > STALE_MS;
    const calls = seen?.view.isByFeed
      ? seen.calls
      : isOld
        ? listed.map((call) => withoutEstimates(call, asOf))
        : listed;
    const liveAt = seen?.view.isByFeed ? seen.view.asOf : calls.some(isLive) ? asOf : null;
    const freshUntil = Math.max(freshness.freshUntil, asOf + ESTIMATES_OLD_MS);
    return {
      calls,
      asOf: liveAt,
      isByFeed: seen?.view.isByFeed ?? false,
      departure: { ...departure, isCancelled: isCancelled(departure) },
      areListed: run.after !== null,
      next: nextOf(calls, start),
      lacksFeed: false,
      freshness: { ...freshness, retrievedAt: liveAt ?? asOf, freshUntil, staleUntil: freshUntil + STALE_MS },
    };
  }

  /**
   * Finds a ride of the trip planner in the timetable and the feeds: its own calls with the times of the run's, and what the run
   * has there. Null if neither has the run or the stop where the rider boards.
   */
  #findRide(live: LiveTimetable, ride: RideStart, listed: readonly RunCall[]) {
    const { runId } = ride;
    const found = runId === null ? null : findRun(live, { ...ride, runId });
    if (!found) return null;
    const view = joinRuns(live, listRuns(live, found.run, listed.at(-1)));
    const matches = matchListed(view, listed);
    if (matches[0] === null) return null;
    const calls = listed.map((call, index) => withTimes(call, view.calls[matches[index] ?? -1]));
    return { view, matches, calls, sources: [feedOfFile(found.run.route.file) ?? []].flat() };
  }

  /**
   * Finds a ride's times in the feeds, without an upstream call. `listed` are its calls, or its two ends. Returns null unless a
   * healthy feed has the ride; a cancelled ride is returned as cancelled. With `since` (milliseconds since 1970) only newer feeds
   * count, and no feed is polled for the ride.
   */
  viewRide(ride: RideStart, listed: readonly RunCall[], since?: number) {
    const live = this.#take();
    const seen = live && this.#findRide(live, ride, listed);
    if (!seen) return null;
    const { view, calls, sources } = seen;
    if (since === undefined) this.#feeds?.need(sources);
    const [origin, destination] = [calls[0], calls.at(-1)] as [RunCall, RunCall];
    const isNew = since === undefined || (view.asOf ?? Number.POSITIVE_INFINITY) > since;
    if (!view.isByFeed || !isNew) return null;
    const leavesAt = origin.departure?.realtimeAt ?? null;
    const arrivesAt = destination.arrival?.realtimeAt ?? null;
    const isRideCancelled = origin.isCancelled || destination.isCancelled || origin.departure === null;
    const isTimed = arrivesAt !== null && (leavesAt !== null || ride.plannedAt <= this.#now());
    if (!isRideCancelled && !isTimed) return null;
    const freshness = this.#freshnessOf(sources, view.asOf);
    return { leavesAt, arrivesAt, isCancelled: isRideCancelled, occupancy: origin.occupancy, calls, freshness };
  }

  /**
   * Finds the predicted occupancy of a run's carriages when it leaves one of its stops and, if given, each of its calls; null if
   * the feeds have no prediction. `asOf` is the time of the oldest feed used, in milliseconds since 1970.
   */
  viewCarriages<Listed extends Call>(
    run: RideStart,
    calls: readonly Listed[] | null,
  ): { carriages: Carriages; calls: Listed[] | null; asOf: number } {
    const live = this.#take();
    const here = { stopId: run.stopId, arrival: null, departure: { plannedAt: run.plannedAt, realtimeAt: null } };
    const listed = (calls ?? [here]).map(toListed);
    const seen = live && this.#findRide(live, run, listed);
    let asOf = Number.POSITIVE_INFINITY;
    const predictions = listed.map((_, index) => {
      const { run: ofCall, call } = seen?.view.sources[seen.matches[index] ?? -1] ?? {};
      const snapshot = ofCall?.source?.snapshot;
      const loads = snapshot && call ? snapshot.loadsOf(call.index) : null;
      if (snapshot && loads) asOf = Math.min(asOf, snapshot.headerAt);
      return toCarriages(loads);
    });
    return {
      carriages: predictions[0] ?? null,
      calls: calls?.map((call, index) => ({ ...call, carriages: predictions[index] ?? null })) ?? null,
      asOf,
    };
  }
}

/** The runs that the vehicle makes from this one on, up to the one that arrives at the end of a ride. */
function listRuns(live: LiveTimetable, first: LiveRun, end: RunCall | undefined): LiveRun[] {
  const runs = [first];
  const arrives = (run: LiveRun) =>
    end?.arrival == null ||
    run.calls.some(({ plannedArrivesAt }) => plannedArrivesAt >= (end.arrival?.plannedAt ?? 0) - SAME_CALL_MS);
  for (let run = first; runs.length <= MAX_CONTINUATIONS && !arrives(run); ) {
    const next = run.trip < 0 ? null : live.timetable.nextTrip(run.trip, run.day);
    if (next === null) break;
    run = live.run(next, run.day);
    runs.push(run);
  }
  return runs;
}

/** The index of each listed call among the calls of the run; null where the run does not have it. */
function matchListed({ calls }: RunView, listed: readonly RunCall[]): (number | null)[] {
  let from = 0;
  return listed.map((one) => {
    const isSame = (call: RunCall, index: number) =>
      index >= from && isSameTime(call, one) && one.ids.some((id) => isCallAt(call, id));
    const at = calls.findIndex(isSame);
    if (at < 0) return null;
    from = at + 1;
    return at;
  });
}

function isSameTime(call: CallTimes, other: CallTimes): boolean {
  const isNear = (one: RunCall['arrival'], two: RunCall['arrival']) =>
    one !== null && two !== null && Math.abs(one.plannedAt - two.plannedAt) <= SAME_CALL_MS;
  return isNear(call.departure, other.departure) || isNear(call.arrival, other.arrival);
}

/** A listed call with the live times of the run, and its platform if the feed has moved it. Planned times stay. */
function withTimes(listed: RunCall, call: RunCall | undefined): RunCall {
  if (!call) return withoutEstimates(listed, Number.NEGATIVE_INFINITY);
  const { stopId, platform, position, ids, isCancelled, occupancy } = call;
  const timeOf = (time: RunCall['arrival'], own: RunCall['arrival']) =>
    time && { plannedAt: time.plannedAt, realtimeAt: own?.realtimeAt ?? null };
  const isMoved = !listed.ids.includes(stopId);
  return {
    ...listed,
    ...(isMoved && { stopId, platform, position, ids }),
    arrival: timeOf(listed.arrival, call.arrival),
    // The run may end where the ride begins.
    departure: call.departure || isCancelled ? timeOf(listed.departure, call.departure) : null,
    occupancy,
    isCancelled,
    ...(call.nextRunId !== undefined && { nextRunId: call.nextRunId }),
  };
}

/** A call without estimates, except of what was past at this time. */
function withoutEstimates(call: RunCall, passedAt: number): RunCall {
  const passed = (time: RunCall['arrival']) =>
    time && { ...time, realtimeAt: (time.realtimeAt ?? passedAt) < passedAt ? time.realtimeAt : null };
  return { ...call, arrival: passed(call.arrival), departure: passed(call.departure), occupancy: null };
}

/** A call of another source, to be found in a run. */
function toListed(call: Pick<Call, 'stopId' | 'arrival' | 'departure'>): RunCall {
  const unknown = { name: '', platform: null, position: null, occupancy: null };
  return { ...unknown, ...call, ids: [call.stopId], isCancelled: false };
}

function isLive({ arrival, departure }: CallTimes): boolean {
  return (arrival?.realtimeAt ?? departure?.realtimeAt ?? null) !== null;
}

/** Upstream identifies the next run by the call at which the vehicle changes to it. */
function nextOf(calls: readonly RunCall[], start: RunStart): RunStart | null {
  const call = calls.find(({ nextRunId }) => nextRunId);
  const plannedAt = (call?.departure ?? call?.arrival)?.plannedAt ?? 0;
  return call?.nextRunId ? { ...start, runId: call.nextRunId, stopId: call.stopId, plannedAt } : null;
}
