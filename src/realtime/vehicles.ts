import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { createBoundedMap, ownText } from '../own-memory.ts';
import type { Carriages, Departure, Occupancy } from '../transit/departure.ts';
import type { Freshness } from '../transit/freshness.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { type Bounds, isCovered } from '../transit/place.ts';
import type { RunStart } from '../transit/run-id.ts';
import { type Feed, type StopUpdate, toCarriages, toOccupancy, type VehiclePosition } from './feed/feed.ts';
import { findDelay, findPlannedAt } from './join.ts';
import { type LiveFeeds, listLivingFeeds } from './live-feeds.ts';
import { FEED_SOURCES, type FeedSourceId, listFeedSources, positionsOf } from './polling/feed-source.ts';

/** A vehicle on its way. Null is what nobody says. */
export interface Vehicle extends Pick<VehiclePosition, 'tripId' | 'lat' | 'lng' | 'bearing' | 'reportedAt'> {
  /** Unique among all vehicles. */
  key: string;
  mode: Mode;
  route: string | null;
  headsign: string | null;
  /** A departure of its run. */
  start: RunStart | null;
  /** The stop at which it stops next. */
  nextCall: {
    stopId: string;
    arrivesAt: number | null;
    /** The feed of trip updates says it; else it is what the vehicle reports, of trains a signal. */
    isByFeed: boolean;
  } | null;
  occupancy: Occupancy | null;
  carriages: Carriages;
  isAccessible: boolean | null;
}

/** Vehicles that have not reported for longer have ended their run, or lost their radio. */
export const MAX_REPORT_AGE_MS = 5 * MINUTE_MS;
/** Two machines' clocks differ by less. */
const MAX_AHEAD_MS = 30 * SECOND_MS;
/** No response is fresh for longer, so that whoever follows it goes on counting as a request for positions. */
const FRESH_MS = 30 * SECOND_MS;
const STALE_MS = MINUTE_MS;
/** Three times the runs that are under way at the peak. */
const MAX_RUNS = 15_000;
/** The same identifier runs again on the next service day. */
const SAME_DAY_MS = 12 * HOUR_MS;
/** The lines of trains, as identifiers and as passengers name them. */
const TRAIN_LINES: Readonly<Record<string, string>> = {
  APS: 'T8',
  BMT: 'BMT',
  CCN: 'CCN',
  CMB: 'T5',
  ESI: 'T4',
  HUN: 'HUN',
  IWL: 'T2',
  NSN: 'T1',
  NTH: 'T9',
  OLY: 'T7',
  SCO: 'SCO',
  SHL: 'SHL',
  T3: 'T3',
  T6: 'T6',
  WST: 'T1',
};
/** Trains that take no passengers. */
const EMPTY_TRAIN = /^RTTA_/;

/**
 * Finds vehicles in the feeds of their positions, and what the boards of this instance and the feeds of trip updates that
 * happen to be polled say of their runs.
 */
export class Vehicles {
  readonly #now: () => number;
  readonly #feeds: LiveFeeds | null;
  readonly #runs = createBoundedMap<
    Pick<Departure, 'mode' | 'route' | 'destination' | 'isVehicleAccessible'> & RunStart
  >('runs of vehicles', MAX_RUNS);

  /** Without feeds there are no positions. */
  constructor({ now, feeds = null }: { now: () => number; feeds?: LiveFeeds | null }) {
    this.#now = now;
    this.#feeds = feeds;
  }

  get areKnown(): boolean {
    return this.#feeds !== null;
  }

  /** Remembers the runs of the departures of a board. */
  learn(departures: readonly Departure[]): void {
    for (const { runId, stopId, mode, route, destination, plannedAt, isVehicleAccessible } of departures) {
      if (runId === null) continue;
      const known = this.#runs.peek(runId);
      if (known && Math.abs(known.plannedAt - plannedAt) < SAME_DAY_MS) continue;
      const texts = { route: ownText(route), destination: ownText(destination), stopId: ownText(stopId) };
      const id = ownText(runId);
      this.#runs.set(id, { ...texts, runId: id, mode, plannedAt, isVehicleAccessible });
    }
  }

  /**
   * Lists the vehicles of these modes at the wanted positions or on a trip. `missing` are modes of which a feed cannot be
   * believed; freshness is null when that is all of them.
   */
  async find(
    modes: readonly Mode[],
    wanted: { bounds: Bounds; isAt: (lat: number, lng: number) => boolean } | { tripId: string },
  ): Promise<{ vehicles: Vehicle[]; missing: Mode[]; freshness: Freshness | null }> {
    const feeds = this.#feeds;
    if (!feeds) return { vehicles: [], missing: [], freshness: null };
    const sources = listFeedSources(modes).filter(
      (id) => !('bounds' in wanted) || meets(wanted.bounds, FEED_SOURCES[id].area),
    );
    const found = await feeds.findVehicles(sources, wanted);
    const now = this.#now();
    const living = listLivingFeeds(feeds.states(), now);
    const vehicles = found.flatMap(({ source, vehicles: ofSource }) => {
      const updates = living.find((one) => one.source === source)?.feed;
      return ofSource.filter((vehicle) => isShown(vehicle, now)).map((one) => this.#describe(source, one, updates));
    });
    const headers = found.flatMap(({ headerAt }) => headerAt ?? []);
    const freshUntil = Math.min(now + FRESH_MS, feeds.freshUntil(sources.map(positionsOf)));
    const retrievedAt = Math.min(now, ...headers);
    const staleUntil = freshUntil + STALE_MS;
    const isNothingRead = sources.length > 0 && headers.length === 0;
    // The request keeps the feeds polled, so it is charged like a call.
    const source = sources.length > 0 ? 'upstream' : 'cache';
    return {
      vehicles: vehicles.filter(({ mode }) => modes.includes(mode)),
      missing: sortModes(found.flatMap(({ headerAt, source }) => (headerAt ? [] : FEED_SOURCES[source].modes[0]))),
      freshness: isNothingRead ? null : { retrievedAt, freshUntil, staleUntil, source, shortage: null },
    };
  }

  /** `feed` is that of trip updates; undefined where it is not polled or not believed. */
  #describe(source: FeedSourceId, position: VehiclePosition, feed: Feed | undefined): Vehicle {
    const { vehicleId, tripId, routeId, label, stopId, lat, lng, bearing, reportedAt } = position;
    const now = this.#now();
    const kept = this.#runs.get(tripId);
    const run = kept && Math.abs(kept.plannedAt - reportedAt) < SAME_DAY_MS ? kept : null;
    const [mode] = FEED_SOURCES[source].modes;
    const updates = feed?.findTrips(tripId)[0]?.stopUpdates ?? [];
    const next = updates.find((update) => isAhead(update, 'arrival', now));
    return {
      key: `${source} ${vehicleId}`,
      tripId,
      mode: run?.mode ?? mode,
      route: run?.route ?? readRoute(mode, routeId),
      headsign: run?.destination ?? readHeadsign(label),
      start: run ?? startOf(updates, { runId: tripId, mode }, now),
      nextCall: next?.stopId
        ? { stopId: next.stopId, arrivesAt: next.arrival.at ?? next.departure.at, isByFeed: true }
        : stopId === null
          ? null
          : { stopId, arrivesAt: null, isByFeed: false },
      lat,
      lng,
      bearing,
      reportedAt,
      occupancy: toOccupancy(position.occupancy),
      carriages: toCarriages(position.carriages),
      isAccessible: position.isAccessible ?? run?.isVehicleAccessible ?? null,
    };
  }
}

function meets(one: Bounds, other: Bounds): boolean {
  return one.south <= other.north && one.north >= other.south && one.west <= other.east && one.east >= other.west;
}

function isShown({ reportedAt, lat, lng, routeId }: VehiclePosition, now: number): boolean {
  const isRecent = reportedAt > now - MAX_REPORT_AGE_MS && reportedAt <= now + MAX_AHEAD_MS;
  return isRecent && isCovered(lat, lng) && !EMPTY_TRAIN.test(routeId ?? '');
}

/** Says whether the vehicle has still to arrive, or to depart. Trains lose the stops that they have passed, or their delays there. */
function isAhead(update: StopUpdate, end: 'arrival' | 'departure', now: number): boolean {
  if (update.relationship === 'SKIPPED') return false;
  const at = update[end].at ?? update.arrival.at ?? update.departure.at;
  return at === null ? findDelay(update) !== null : at > now;
}

/** The next departure, where the feed gives its planned time. Nothing departs from the last stop. */
function startOf(
  updates: readonly StopUpdate[],
  { runId, mode }: Pick<RunStart, 'runId' | 'mode'>,
  now: number,
): RunStart | null {
  const next = updates.find((update) => isAhead(update, 'departure', now));
  const plannedAt = next && next !== updates.at(-1) ? findPlannedAt(next) : null;
  return next?.stopId && plannedAt !== null ? { runId, mode, stopId: next.stopId, plannedAt } : null;
}

/** "T4" of "ESI_1a", "F1" of "9-F1-sj2-1", "333" of "2501_333" */
function readRoute(mode: Mode, routeId: string | null): string | null {
  const [first = '', second] = routeId?.split(mode === 'ferry' ? '-' : '_') ?? [];
  if (!second) return null;
  return mode === 'train' ? (TRAIN_LINES[first] ?? null) : second;
}

/** "Cronulla" of "12:15 Bondi Junction Station to Cronulla Station" */
function readHeadsign(label: string | null): string | null {
  const to = label?.lastIndexOf(' to ') ?? -1;
  return label && to > 0 ? label.slice(to + 4).replace(/ Station$/, '') : null;
}
