import { MINUTE_MS } from '../core/clock.ts';
import { createBoundedMap, hashOf } from '../core/own-memory.ts';
import { mapRunCalls } from '../efa/calls.ts';
import { mapPage } from '../efa/departure-page.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { ApiError } from '../errors/api-error.ts';
import { freshnessOfFeeds, type LiveFeeds, needFeeds } from '../realtime/live-feeds.ts';
import { findCarriages, overlayCalls } from '../realtime/overlay.ts';
import { type FeedSourceId, feedOfFile, findFeedSource, listFeedSources } from '../realtime/polling/feed-source.ts';
import type { PlannedCall, Timetable, TimetableTrip } from '../timetable/timetable.ts';
import { type CurrentTimetable, noTimetable } from '../timetable/update/keep-current.ts';
import type { FindAlerts } from '../transit/alert.ts';
import type { Call, RunCall, RunCalls } from '../transit/call.ts';
import { type Carriages, type Departure, isCancelled } from '../transit/departure.ts';
import { FRESHNESS_WINDOWS, type Freshness, freshnessOf } from '../transit/freshness.ts';
import type { Mode } from '../transit/mode.ts';
import { isSameRun, type RunStart } from '../transit/run-id.ts';
import { toSydneyWallClock } from '../transit/time.ts';
import { callHere } from './monitor.ts';
import { findAddedRun, findNextRun, findPlannedRun, listCalls, overlayRun, withContinuation } from './run-calls.ts';

/** A run as shown to callers. */
export interface Run extends View {
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

/** Calls with the feeds laid over them. */
interface View {
  calls: RunCall[];
  /** Time of the oldest live data; null if nothing is live. */
  asOf: number | null;
  /** Whether a feed has the run. */
  isByFeed: boolean;
}

type CallTimes = Pick<RunCall, 'arrival' | 'departure'>;

const MAX_FOLLOWED = 500;
/** The departure monitor is queried again for a run after this time. */
const { freshMs: ESTIMATES_OLD_MS, staleMs: STALE_MS } = FRESHNESS_WINDOWS.run;

/** Finds runs in the timetable and the feeds. The departure monitor supplies runs that are missing there or not trusted yet. */
export class Runs {
  readonly #now: () => number;
  readonly #feeds: Pick<LiveFeeds, 'need' | 'untilRead' | 'trusted' | 'freshUntil' | 'list'> | null;
  readonly #timetable: Pick<CurrentTimetable, 'get'>;
  readonly #isTrusted: (mode: Mode) => boolean;
  readonly #findAlerts: FindAlerts;
  /** The last times that feeds reported, because a feed drops calls that the vehicle has passed. Each instance has its own. */
  readonly #reported = createBoundedMap<CallTimes[]>('times of followed runs', MAX_FOLLOWED);

  constructor(parts: {
    now: () => number;
    feeds?: Pick<LiveFeeds, 'need' | 'untilRead' | 'trusted' | 'freshUntil' | 'list'> | null;
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

  /** Null if no source lists the run. Throws the departure monitor's error if no other source has the run. */
  async findRun(queryUpstream: QueryUpstream, start: RunStart): Promise<Run | null> {
    const timetable = this.#timetable.get();
    const isTrusted = this.#isTrusted(start.mode);
    const plannedRun = timetable && isTrusted ? await this.#findPlanned(timetable, start) : null;
    if (plannedRun) return plannedRun;
    try {
      return await this.#findListed(queryUpstream, start);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.statusCode < 500) return null;
      const planned = timetable && !isTrusted ? await this.#findPlanned(timetable, start) : null;
      if (!planned) throw error;
      return planned;
    }
  }

  async #findPlanned(timetable: Timetable, start: RunStart): Promise<Run | null> {
    const ref = findPlannedRun(timetable, start);
    const trip = ref && timetable.trip(ref.trip);
    const source = trip && feedOfFile(trip.file);
    const ofRun = trip ? (source ? [source] : []) : listFeedSources([start.mode]);
    const sources = await needFeeds(this.#feeds, ofRun, { at: start.plannedAt, now: this.#now() });
    const now = this.#now();
    const feeds = this.#listTrusted(sources);
    if (ref && trip) {
      const { stop, headsign } = timetable.calls(ref.trip, ref.day)[ref.position] as PlannedCall;
      const key = hashOf(`${trip.tripId} ${ref.day}`);
      const listedCalls = withPassed(listCalls(timetable, ref), this.#reported.get(key) ?? [], now);
      const view = overlayRun(timetable, ref, { listed: listedCalls, feeds, now });
      // A replacement trip has other calls.
      if (view.isByFeed && view.calls.length === listedCalls.length) {
        this.#reported.set(
          key,
          view.calls.map(({ arrival, departure }) => ({ arrival, departure })),
        );
      }
      const departure = this.#describe(timetable, start, { ...trip, headsign, stop });
      const freshness = this.#freshnessOf(sources, view.asOf);
      const next = findNextRun(timetable, ref);
      return { ...view, departure, areListed: true, next, lacksFeed: feeds.length < sources.length, freshness };
    }
    const added = findAddedRun(timetable, start, feeds);
    if (!added) return null;
    const unknown = { network: null, isWheelchairAccessible: null, stop: timetable.findStop(start.stopId) };
    return {
      ...added,
      departure: this.#describe(timetable, start, { ...added, ...unknown }),
      isByFeed: true,
      areListed: true,
      next: null,
      lacksFeed: false,
      freshness: this.#freshnessOf(sources, added.asOf),
    };
  }

  #describe(
    timetable: Timetable,
    start: RunStart,
    about: Pick<TimetableTrip, 'route' | 'network' | 'headsign' | 'isWheelchairAccessible'> & {
      lineId: string | undefined;
      stop: number | null;
    },
  ): Run['departure'] {
    const { lineId, route, network, headsign, stop } = about;
    const { mode, runId: tripId, plannedAt } = start;
    const place = stop === null ? null : timetable.stop(stop);
    const station = place && timetable.stop(timetable.stationOf(place.index));
    const stopIds = [place?.id ?? start.stopId, ...(station && station.id !== place?.id ? [station.id] : [])] as const;
    const alerts = this.#findAlerts({ mode, route, network, tripId, stopIds, at: plannedAt });
    const isStopAccessible =
      place?.isWheelchairAccessible === true && !alerts.some((alert) => alert.restrictsWheelchairs);
    const isWheelchairAccessible = about.isWheelchairAccessible ?? isStopAccessible;
    const texts = alerts.map(({ text }) => text);
    return {
      ...start,
      lineId,
      route,
      destination: headsign,
      isWheelchairAccessible,
      alerts: texts,
      isCancelled: false,
    };
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
    const source = findFeedSource(departure);
    if (source) this.#feeds?.need([source]);
    const { retrievedAt: asOf, ...freshness } = freshnessOf(response);
    const listedCalls = [...run.before, callHere(departure, { ...run, name: stopName }), ...(run.after ?? [])];
    const moment = { asOf, keptMs: STALE_MS, feeds: this.#listTrusted(source ? [source] : []), now: this.#now() };
    const view = overlayCalls(departure, listedCalls, moment);
    const freshUntil = Math.max(freshness.freshUntil, asOf + ESTIMATES_OLD_MS);
    return {
      ...view,
      departure: { ...departure, isCancelled: isCancelled(departure) },
      areListed: run.after !== null,
      next: nextOf(view.calls, start),
      lacksFeed: false,
      freshness: { ...freshness, retrievedAt: view.asOf ?? asOf, freshUntil, staleUntil: freshUntil + STALE_MS },
    };
  }

  #listTrusted(sources: readonly FeedSourceId[]) {
    return this.#feeds?.trusted(this.#now()).filter(({ source }) => sources.includes(source)) ?? [];
  }

  /**
   * Finds a ride's times in the feeds, without an upstream call. `listedCalls` are its calls, or its two ends. Returns null unless a
   * healthy feed has the arrival at the destination and the vehicle still makes the planned calls; a cancelled ride is returned
   * as cancelled. With `since` (milliseconds since 1970) only newer feeds count, and no feed is polled for the ride.
   */
  viewRide(
    ride: Pick<Departure, 'runId' | 'mode' | 'network' | 'route' | 'stopId' | 'plannedAt'>,
    listed: readonly RunCall[],
    since?: number,
  ) {
    const { runId } = ride;
    const source = runId === null ? null : findFeedSource(ride);
    if (runId === null || !source || !this.#feeds) return null;
    if (since === undefined) this.#feeds.need([source]);
    const now = this.#now();
    const feeds = this.#listTrusted([source]).filter(({ feed }) => feed.headerAt > (since ?? 0));
    if (feeds.length === 0) return null;
    const timetable = this.#timetable.get();
    const isContinued = listed.some(({ nextRunId }) => nextRunId);
    const ridden = timetable && !isContinued ? withContinuation(timetable, { ...ride, runId }, listed) : listed;
    const { calls, asOf, isByFeed } = overlayCalls(ride, ridden, { asOf: since ?? now, keptMs: 0, feeds, now });
    const [origin, destination] = [calls[0], calls.at(-1)] as [RunCall, RunCall];
    const leavesAt = origin.departure?.realtimeAt ?? null;
    const arrivesAt = destination.arrival?.realtimeAt ?? null;
    const isRideCancelled = origin.isCancelled || destination.isCancelled;
    const isAsPlanned = origin.stopId === listed[0]?.stopId && destination.stopId === listed.at(-1)?.stopId;
    const isTimed = arrivesAt !== null && (leavesAt !== null || ride.plannedAt <= now);
    if (!isByFeed || (!isRideCancelled && !(isAsPlanned && isTimed))) return null;
    const freshness = this.#freshnessOf([source], asOf);
    return { leavesAt, arrivesAt, isCancelled: isRideCancelled, occupancy: origin.occupancy, calls, freshness };
  }

  /**
   * Finds the predicted occupancy of a run's carriages when it leaves one of its stops and, if given, each of its calls. It
   * uses only the feeds that are already polled for boards; null if they have no prediction. `asOf` is the time of the oldest
   * feed used, in milliseconds since 1970.
   */
  viewCarriages<Listed extends Call>(
    run: Pick<Departure, 'runId' | 'mode' | 'stopId' | 'plannedAt'>,
    calls: readonly Listed[] | null,
  ): { carriages: Carriages; calls: Listed[] | null; asOf: number } {
    const here = { stopId: run.stopId, arrival: null, departure: { plannedAt: run.plannedAt, realtimeAt: null } };
    const predictions = findCarriages(run, calls ?? [here], this.#feeds?.trusted(this.#now()) ?? []);
    return {
      carriages: predictions[0]?.carriages ?? null,
      calls: calls?.map((call, index) => ({ ...call, carriages: predictions[index]?.carriages ?? null })) ?? null,
      asOf: Math.min(...predictions.flatMap((loads) => (loads?.carriages ? loads.asOf : []))),
    };
  }
}

/** Upstream identifies the next run by the call at which the vehicle changes to it. */
function nextOf(calls: readonly RunCall[], start: RunStart): RunStart | null {
  const call = calls.find(({ nextRunId }) => nextRunId);
  const plannedAt = (call?.departure ?? call?.arrival)?.plannedAt ?? 0;
  return call?.nextRunId ? { ...start, runId: call.nextRunId, stopId: call.stopId, plannedAt } : null;
}

/**
 * Restores calls that the vehicle has passed. A feed drops them once it has reported their times. A new timetable may have
 * other calls.
 */
function withPassed(calls: readonly RunCall[], times: readonly CallTimes[], now: number): RunCall[] {
  const passed = (listed: RunCall['arrival'], reported?: RunCall['arrival']) =>
    listed && listed.plannedAt === reported?.plannedAt && (reported.realtimeAt ?? now) < now ? reported : listed;
  return calls.map((call, index) => {
    const { arrival, departure } = times[index] ?? {};
    return { ...call, arrival: passed(call.arrival, arrival), departure: passed(call.departure, departure) };
  });
}
