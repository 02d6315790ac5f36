import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { isEmptyRoute } from '../timetable/import/passenger-trips.ts';
import type { Timetable, TimetableTrip } from '../timetable/timetable.ts';
import type { Carriages, Occupancy } from '../transit/departure.ts';
import { FRESHNESS_WINDOWS, type Freshness } from '../transit/freshness.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { isCovered } from '../transit/place.ts';
import type { Bounds } from '../transit/region.ts';
import { type RunStart, readTrainId } from '../transit/run-id.ts';
import {
  type Feed,
  type StopUpdate,
  type TripUpdate,
  toCarriages,
  toOccupancy,
  type VehiclePosition,
} from './feed/feed.ts';
import { findDelay, findPlannedAt, isOnServiceDay } from './join.ts';
import type { LiveFeeds } from './live-feeds.ts';
import { FEED_SOURCES, type FeedSourceId, filesOfFeed, listFeedSources, positionsOf } from './polling/feed-source.ts';

/** A vehicle in service. Fields are null if unknown. */
export interface Vehicle extends Pick<VehiclePosition, 'tripId' | 'lat' | 'lng' | 'bearing' | 'reportedAt'> {
  /** Unique among all vehicles. */
  key: string;
  mode: Mode;
  route: string | null;
  lineId: string | null;
  headsign: string | null;
  /** A departure of its run, which identifies the run. */
  start: RunStart | null;
  findNextCall(): NextCall | null;
  occupancy: Occupancy | null;
  carriages: Carriages;
  isAccessible: boolean | null;
}

/** The next stop of a vehicle. */
interface NextCall {
  stopId: string;
  /** As in calls of runs; null if the timetable does not have the stop. */
  name: string | null;
  arrivesAt: number | null;
  /** Whether this is from the feed of trip updates. Otherwise the vehicle reported it; for trains it may be a signal. */
  isByFeed: boolean;
}

/** The timetable's information about a vehicle's trip. */
interface VehicleRun {
  trip: TimetableTrip;
  day: number;
  start: RunStart;
}

/** Vehicles that have not reported for longer have ended their run or lost radio contact. */
export const MAX_REPORT_AGE_MS = 5 * MINUTE_MS;
/** The clocks of two machines differ by less. */
const MAX_AHEAD_MS = 30 * SECOND_MS;
/** No response is fresh for longer, so that a client that follows it keeps requesting positions. */
const { freshMs: FRESH_MS, staleMs: STALE_MS } = FRESHNESS_WINDOWS.vehicles;
/** A vehicle may report this long before its run begins and after its planned end. */
const BESIDE_RUN_MS = 6 * HOUR_MS;

/** Finds vehicles in the feeds of positions, and their runs in the timetable and the polled feeds of trip updates. */
export class Vehicles {
  readonly #now: () => number;
  readonly #feeds: LiveFeeds | null;
  readonly #timetable: { get(): Timetable | null };

  /** Without feeds there are no positions. */
  constructor(parts: { now: () => number; feeds?: LiveFeeds | null; timetable?: { get(): Timetable | null } }) {
    this.#now = parts.now;
    this.#feeds = parts.feeds ?? null;
    this.#timetable = parts.timetable ?? { get: () => null };
  }

  get areKnown(): boolean {
    return this.#feeds !== null;
  }

  /**
   * Lists the vehicles of these modes at the requested positions or on a trip. `missing` lists the modes whose feed is not
   * trusted; freshness is null if no mode has a trusted feed.
   */
  async find(
    modes: readonly Mode[],
    criteria: { bounds: Bounds; isAt: (lat: number, lng: number) => boolean } | { tripId: string },
  ): Promise<{ vehicles: Vehicle[]; missing: Mode[]; freshness: Freshness | null }> {
    const feeds = this.#feeds;
    if (!feeds) return { vehicles: [], missing: [], freshness: null };
    const sources = listFeedSources(modes).filter(
      (id) => !('bounds' in criteria) || meets(criteria.bounds, FEED_SOURCES[id].area),
    );
    const feedsWithVehicles = await feeds.findVehicles(sources, criteria);
    const now = this.#now();
    const trusted = feeds.trusted(now);
    const trainLink = feedsWithVehicles.find(({ source }) => source === 'nswtrains')?.vehicles ?? [];
    const trainLinkRuns = new Set(
      trainLink.filter((one) => isShown(one, now)).map(({ tripId }) => readTrainId(tripId).number),
    );
    const vehicles = feedsWithVehicles.flatMap(({ source, vehicles: ofSource }) => {
      const updates = trusted.find((trustedFeed) => trustedFeed.source === source)?.feed;
      return ofSource
        .filter((vehicle) => isShown(vehicle, now) && !(source === 'sydneytrains' && isDouble(vehicle, trainLinkRuns)))
        .map((vehiclePosition) => this.#describe(source, vehiclePosition, updates));
    });
    const headers = feedsWithVehicles.flatMap(({ headerAt }) => headerAt ?? []);
    const freshUntil = Math.min(now + FRESH_MS, feeds.freshUntil(sources.map(positionsOf)));
    const retrievedAt = Math.min(now, ...headers);
    const staleUntil = freshUntil + STALE_MS;
    const areNoFeedsRead = sources.length > 0 && headers.length === 0;
    // The request keeps feeds polled, so it is charged like an upstream call.
    const source = sources.length > 0 ? 'upstream' : 'cache';
    return {
      vehicles: vehicles.filter(({ mode }) => modes.includes(mode)),
      missing: sortModes(
        feedsWithVehicles.flatMap(({ headerAt, source }) => (headerAt ? [] : FEED_SOURCES[source].modes[0])),
      ),
      freshness: areNoFeedsRead ? null : { retrievedAt, freshUntil, staleUntil, source, shortage: null },
    };
  }

  /** `feed` is the one of trip updates; undefined if it is not polled or not trusted. */
  #describe(source: FeedSourceId, position: VehiclePosition, feed: Feed | undefined): Vehicle {
    const { vehicleId, tripId, routeId, label, lat, lng, bearing, reportedAt } = position;
    const now = this.#now();
    const timetable = this.#timetable.get();
    const run = timetable && findRun(timetable, source, position);
    const line = run?.trip ?? timetable?.findRoute(routeId, filesOfFeed(source));
    const [mode] = FEED_SOURCES[source].modes;
    const listUpdates = () =>
      feed?.findTrips(tripId).find((trip) => isOfRun(trip, run, feed.headerAt))?.stopUpdates ?? [];
    return {
      key: `${source} ${vehicleId}`,
      tripId: run?.trip.tripId ?? tripId,
      mode: run?.trip.mode ?? mode,
      route: line?.route || null,
      lineId: line?.lineId ?? null,
      headsign: run?.trip.headsign ?? readHeadsign(label),
      start: run?.start ?? startOf(listUpdates(), { runId: tripId, mode }, now),
      findNextCall: () => findNextCall(listUpdates(), position, timetable, run, now),
      lat,
      lng,
      bearing,
      reportedAt,
      occupancy: toOccupancy(position.occupancy),
      carriages: toCarriages(position.carriages),
      isAccessible: position.isAccessible ?? run?.trip.isWheelchairAccessible ?? null,
    };
  }
}

/** The run of the trip that is closest in time to the report. */
function findRun(
  timetable: Timetable,
  source: FeedSourceId,
  { tripId, reportedAt }: VehiclePosition,
): VehicleRun | null {
  const runs = timetable.findTrips(tripId, filesOfFeed(source)).flatMap((trip) => {
    const last = timetable.stopsOf(timetable.patternOf(trip)).length - 1;
    return timetable.daysOf(trip, reportedAt).map((day) => {
      const { stop, departsAt } = timetable.callAt({ trip, day, position: 0 });
      const { arrivesAt } = timetable.callAt({ trip, day, position: last });
      return { trip, day, stop, departsAt, awayMs: Math.max(0, departsAt - reportedAt, reportedAt - arrivesAt) };
    });
  });
  const [nearest] = runs.sort((a, b) => a.awayMs - b.awayMs);
  if (!nearest || nearest.awayMs > BESIDE_RUN_MS) return null;
  const { day, stop, departsAt: plannedAt } = nearest;
  const trip = timetable.trip(nearest.trip);
  return { trip, day, start: { runId: trip.tripId, mode: trip.mode, stopId: timetable.stop(stop).id, plannedAt } };
}

function isOfRun(trip: TripUpdate, run: VehicleRun | null, headerAt: number): boolean {
  return run === null || isOnServiceDay(trip, run.start.plannedAt, headerAt, run.day);
}

function findNextCall(
  updates: readonly StopUpdate[],
  { stopId: reportedStopId }: VehiclePosition,
  timetable: Timetable | null,
  run: VehicleRun | null,
  now: number,
): NextCall | null {
  const next = updates.find((update) => isAhead(update, 'arrival', now));
  const stopId = next?.stopId ?? reportedStopId;
  if (stopId === null) return null;
  const stop = timetable?.findStop(stopId) ?? null;
  const name = timetable && stop !== null ? timetable.stop(stop).name : null;
  if (!next?.stopId) return { stopId, name, arrivesAt: null, isByFeed: false };
  const estimatedAt = next.arrival.at ?? next.departure.at ?? findDelayed(next, stop, timetable, run, now);
  // A feed without data on a stop gives its planned time.
  const arrivesAt = next.relationship === 'SCHEDULED' ? estimatedAt : null;
  return { stopId, name, arrivesAt, isByFeed: true };
}

/** Finds the time from the delay, because feeds of trains have only delays. */
function findDelayed(
  update: StopUpdate,
  stop: number | null,
  timetable: Timetable | null,
  run: VehicleRun | null,
  now: number,
): number | null {
  const delayMs = (findDelay(update) ?? 0) * SECOND_MS;
  const calls = timetable && run ? timetable.calls(run.trip.index, run.day) : [];
  const arrivals = calls.filter((call) => call.stop === stop).map(({ arrivesAt }) => arrivesAt + delayMs);
  return arrivals.find((moment) => moment > now) ?? null;
}

function meets(a: Bounds, b: Bounds): boolean {
  return a.south <= b.north && a.north >= b.south && a.west <= b.east && a.east >= b.west;
}

function isShown({ reportedAt, lat, lng, routeId }: VehiclePosition, now: number): boolean {
  const isRecent = reportedAt > now - MAX_REPORT_AGE_MS && reportedAt <= now + MAX_AHEAD_MS;
  return isRecent && isCovered(lat, lng) && !isEmptyRoute(routeId);
}

/** Whether TrainLink's feed has this vehicle too. */
function isDouble({ tripId }: VehiclePosition, trainLinkRuns: ReadonlySet<string>): boolean {
  const { number, isDiesel } = readTrainId(tripId);
  return isDiesel && trainLinkRuns.has(number);
}

/** Whether the vehicle has yet to arrive or depart. Trains drop stops that they have passed, or their delays there. */
function isAhead(update: StopUpdate, end: 'arrival' | 'departure', now: number): boolean {
  if (update.relationship === 'SKIPPED') return false;
  const at = update[end].at ?? update.arrival.at ?? update.departure.at;
  return at === null ? findDelay(update) !== null : at > now;
}

/** The next departure, if the feed has its time. Nothing departs from the last stop. */
function startOf(
  updates: readonly StopUpdate[],
  { runId, mode }: Pick<RunStart, 'runId' | 'mode'>,
  now: number,
): RunStart | null {
  const next = updates.find((update) => isAhead(update, 'departure', now));
  const plannedAt = next && next !== updates.at(-1) ? (findPlannedAt(next) ?? next.departure.at) : null;
  return next?.stopId && plannedAt !== null ? { runId, mode, stopId: next.stopId, plannedAt } : null;
}

/** "Cronulla" of "12:15 Bondi Junction Station to Cronulla Station" */
function readHeadsign(label: string | null): string | null {
  const to = label?.lastIndexOf(' to ') ?? -1;
  return label && to > 0 ? label.slice(to + 4).replace(/ Station$/, '') : null;
}
