import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { isEmptyRoute } from '../timetable/import/passenger-trips.ts';
import { filesOfFeed } from '../timetable/schedule-files.ts';
import type { TimetableRoute } from '../timetable/timetable.ts';
import type { Carriages, Occupancy } from '../transit/departure.ts';
import { FRESHNESS_WINDOWS, type Freshness } from '../transit/freshness.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { isCovered } from '../transit/place.ts';
import type { Bounds } from '../transit/region.ts';
import { parseTrainId, type RunStart } from '../transit/run-id.ts';
import type { VehiclePosition } from './feed/feed.ts';
import type { LiveFeeds } from './live-feeds.ts';
import type { LiveCall, LiveRun, LiveTimetable } from './live-timetable.ts';
import { toCarriages, toOccupancy } from './occupancy.ts';
import { FEED_SOURCES, type FeedSourceId, listFeedSources, positionsOf } from './polling/feed-source.ts';

/** A vehicle in service. Fields are null if unknown. */
export interface Vehicle extends Pick<VehiclePosition, 'tripId' | 'lat' | 'lng' | 'bearing' | 'reportedAt'> {
  /** Unique among all vehicles. */
  key: string;
  mode: Mode;
  route: string | null;
  lineId: string | null;
  headsign: string | null;
  /** The first departure of its run, which identifies the run. */
  start: RunStart | null;
  findNextCall(): NextCall | null;
  occupancy: Occupancy | null;
  carriages: Carriages;
  isAccessible: boolean | null;
}

interface NextCall {
  stopId: string;
  /** The stop name; null if the timetable does not have the stop, which for trains may be a signal. */
  name: string | null;
  /** Null if there is no live time. */
  arrivesAt: number | null;
}

/** The run of a vehicle. `open` reads its calls, only if they are needed. */
interface VehicleRun {
  tripId: string;
  route: TimetableRoute;
  headsign: string | null;
  isWheelchairAccessible: boolean | null;
  start: RunStart | null;
  open(): LiveRun;
}

type VehicleFeeds = Pick<LiveFeeds, 'fetchVehicles' | 'freshUntil' | 'snapshot'>;

/** Vehicles that have not reported for longer have ended their run or lost radio contact. */
export const MAX_REPORT_AGE_MS = 5 * MINUTE_MS;
/** A vehicle's clock may be ahead by this much. */
const MAX_AHEAD_MS = 30 * SECOND_MS;
/** The longest freshness of a response. It is short so that clients that wait for it to end keep the feeds polled. */
const { freshMs: FRESH_MS, staleMs: STALE_MS } = FRESHNESS_WINDOWS.vehicles;
/** A report belongs to a run if it is at most this long before the run begins or after it ends. */
const BESIDE_RUN_MS = 6 * HOUR_MS;
/** A vehicle counts as standing for this long after its report, because the next report comes within that time. */
const STANDS_MS = MINUTE_MS;

/** Finds vehicles in the feeds of positions, and their runs among the live ones. */
export class Vehicles {
  readonly #now: () => number;
  readonly #feeds: VehicleFeeds | null;

  /** Without feeds there are no positions. */
  constructor({ now, feeds = null }: { now: () => number; feeds?: VehicleFeeds | null }) {
    this.#now = now;
    this.#feeds = feeds;
  }

  get areKnown(): boolean {
    return this.#feeds !== null;
  }

  /**
   * Returns the vehicles of these modes at the requested positions or on a trip. `missing` lists the modes whose feed is not
   * trusted; `freshness` is null if none of their feeds is trusted.
   */
  async fetch(
    modes: readonly Mode[],
    criteria: { bounds: Bounds; isAt: (lat: number, lng: number) => boolean } | { tripId: string },
  ): Promise<{ vehicles: Vehicle[]; missing: Mode[]; freshness: Freshness | null }> {
    const feeds = this.#feeds;
    if (!feeds) return { vehicles: [], missing: [], freshness: null };
    const sources = listFeedSources(modes).filter(
      (id) => !('bounds' in criteria) || meets(criteria.bounds, FEED_SOURCES[id].area),
    );
    const feedsWithVehicles = await feeds.fetchVehicles(sources, criteria);
    const now = this.#now();
    const live = feeds.snapshot();
    const trainLink = feedsWithVehicles.find(({ source }) => source === 'nswtrains')?.vehicles ?? [];
    const trainLinkRuns = new Set(
      trainLink.filter((one) => isShown(one, now)).map(({ tripId }) => parseTrainId(tripId).number),
    );
    const vehicles = feedsWithVehicles.flatMap(({ source, vehicles: ofSource }) =>
      ofSource
        .filter((vehicle) => isShown(vehicle, now) && !(source === 'sydneytrains' && isDouble(vehicle, trainLinkRuns)))
        .map((position) => describe(live, { source, position, now })),
    );
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
}

function describe(
  live: LiveTimetable | null,
  { source, position, now }: { source: FeedSourceId; position: VehiclePosition; now: number },
): Vehicle {
  const { vehicleId, tripId, routeId, label, lat, lng, bearing, reportedAt } = position;
  const run = live && findRun(live, source, position);
  const line = run?.route ?? live?.timetable.findRoute(routeId, filesOfFeed(source));
  return {
    key: `${source} ${vehicleId}`,
    tripId: run?.tripId ?? tripId,
    mode: run?.route.mode ?? FEED_SOURCES[source].modes[0],
    route: line?.route || null,
    lineId: line?.lineId ?? null,
    headsign: run?.headsign ?? toHeadsign(label),
    start: run?.start ?? null,
    findNextCall: () => findNextCall(live, run?.open() ?? null, position, now),
    lat,
    lng,
    bearing,
    reportedAt,
    occupancy: toOccupancy(position.occupancy),
    carriages: toCarriages(position.carriages),
    isAccessible: position.isAccessible ?? run?.isWheelchairAccessible ?? null,
  };
}

/** The run of the reported trip that is closest in time to the report; null if none is near. */
function findRun(
  live: LiveTimetable,
  source: FeedSourceId,
  { tripId, reportedAt }: VehiclePosition,
): VehicleRun | null {
  const { timetable } = live;
  const awayFrom = ({ from, until }: { from: number; until: number }) =>
    Math.max(0, from - reportedAt, reportedAt - until);
  const planned = timetable.listTripsBetween(tripId, filesOfFeed(source)).flatMap((trip) =>
    timetable.daysOf(trip, reportedAt).map((day) => ({
      awayMs: awayFrom(live.spanOf(trip, day)),
      describe: () => describePlanned(live, trip, day),
    })),
  );
  const added = live.listAdded(tripId).flatMap((run) => {
    const [first, last] = [run.calls[0], run.calls.at(-1)];
    if (run.source?.snapshot.source !== source || !first || !last) return [];
    const awayMs = awayFrom({ from: first.departsAt, until: last.arrivesAt });
    return { awayMs, describe: () => describeAdded(live, run, first) };
  });
  const [nearest] = [...planned, ...added].sort((one, other) => one.awayMs - other.awayMs);
  return nearest && nearest.awayMs <= BESIDE_RUN_MS ? nearest.describe() : null;
}

function describePlanned(live: LiveTimetable, trip: number, day: number): VehicleRun {
  const { tripId, headsign, isWheelchairAccessible, ...route } = live.timetable.trip(trip);
  const { stop, departsAt: plannedAt } = live.timetable.callAt({ trip, day, position: 0 });
  const start = { runId: tripId, mode: route.mode, stopId: live.timetable.stop(stop).id, plannedAt };
  return { tripId, route, headsign, isWheelchairAccessible, start, open: () => live.run(trip, day) };
}

/** A run that only the feed has. */
function describeAdded({ timetable }: LiveTimetable, run: LiveRun, first: LiveCall): VehicleRun {
  const { tripId, route, like } = run;
  const { headsign, isWheelchairAccessible } = like < 0 ? UNKNOWN_TRIP : timetable.trip(like);
  const stopId = first.stop < 0 ? null : timetable.stop(first.stop).id;
  return {
    tripId,
    route,
    headsign,
    isWheelchairAccessible,
    start: stopId === null ? null : { runId: tripId, mode: route.mode, stopId, plannedAt: first.plannedDepartsAt },
    open: () => run,
  };
}

const UNKNOWN_TRIP = { headsign: null, isWheelchairAccessible: null };

/** The next stop by the predicted run, else the stop that the vehicle reports. */
function findNextCall(
  live: LiveTimetable | null,
  run: LiveRun | null,
  position: VehiclePosition,
  now: number,
): NextCall | null {
  const timetable = live?.timetable ?? null;
  const next = live && run?.source ? nextCallOf(live, run, position, now) : null;
  if (timetable && next) {
    const { id, name } = timetable.stop(next.stop);
    return { stopId: id, name, arrivesAt: next.isLive ? next.arrivesAt : null };
  }
  const { stopId } = position;
  if (stopId === null) return null;
  const stop = timetable?.findStop(stopId) ?? null;
  return { stopId, name: timetable && stop !== null ? timetable.stop(stop).name : null, arrivesAt: null };
}

/** The call at which the vehicle stands, else the first one ahead. */
function nextCallOf(live: LiveTimetable, run: LiveRun, position: VehiclePosition, now: number): LiveCall | undefined {
  const calls = run.calls.filter(({ stop, isSkipped, hasLeft }) => stop >= 0 && !isSkipped && !hasLeft);
  const stands = position.isStanding && findReported(live, run, calls, position);
  if (stands && Math.max(stands.departsAt, position.reportedAt + STANDS_MS) > now) return stands;
  // The first stop has no arrival, so its departure counts.
  return calls.find((call) => (call === run.calls[0] ? call.departsAt : call.arrivesAt) > now);
}

/** The call that the vehicle reports: by its sequence number if the stop is the same or of the same station, else by its stop. */
function findReported(
  { timetable }: LiveTimetable,
  { trip }: LiveRun,
  calls: readonly LiveCall[],
  { sequence, stopId }: VehiclePosition,
): LiveCall | undefined {
  const { callSequence, patternCalls } = timetable.sections;
  const first = trip < 0 ? 0 : patternCalls.valueAt(timetable.patternOf(trip));
  const reported = stopId === null ? null : timetable.findStop(stopId);
  const isThere = ({ stop }: LiveCall) =>
    reported !== null && timetable.stationOf(stop) === timetable.stationOf(reported);
  const hasNumber = ({ position }: LiveCall) =>
    trip >= 0 && position >= 0 && sequence !== null && callSequence[first + position] === sequence;
  return calls.find((call) => hasNumber(call) && (reported === null || isThere(call))) ?? calls.find(isThere);
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
  const { number, isDiesel } = parseTrainId(tripId);
  return isDiesel && trainLinkRuns.has(number);
}

/** "Cronulla" of "12:15 Bondi Junction Station to Cronulla Station" */
function toHeadsign(label: string | null): string | null {
  const to = label?.lastIndexOf(' to ') ?? -1;
  return label && to > 0 ? label.slice(to + 4).replace(/ Station$/, '') : null;
}
