import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts';
import type { Feed, StopUpdate } from '../realtime/feed/feed.ts';
import {
  type AddedCall,
  type OverlaidCall,
  overlayStop,
  type StopCall,
  type TrustedFeed,
} from '../realtime/overlay.ts';
import { feedOfFile } from '../realtime/polling/feed-source.ts';
import type { FileId } from '../timetable/schedule-files.ts';
import type { CallRef, Timetable, TimetableStop } from '../timetable/timetable.ts';
import type { FindAlerts } from '../transit/alert.ts';
import type { RunCall } from '../transit/call.ts';
import { type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { withoutG } from '../transit/region.ts';
import { toMinute } from '../transit/time.ts';
import { createDestinationFilter, type DestinationFilter } from './destination-filter.ts';
import { callHere } from './monitor.ts';
import {
  type Board,
  type BoardRequest,
  isCounted,
  nextOfEachRoute,
  routeOf,
  type Selection,
  selectFirst,
} from './pager.ts';
import { callsOfAddedTrip, callsOfRun } from './run-calls.ts';
import { addedDeparture, type DepartureParts, plannedDeparture, withAlerts, withLive } from './scheduled-departure.ts';

/** What a board is built from. Times are in milliseconds since 1970. */
export interface ScheduledStop {
  timetable: Timetable;
  /** The requested stop. */
  stop: number;
  /** The healthy feeds that cover its departures. */
  feeds: readonly TrustedFeed[];
  now: number;
  /** Files that do not cover the requested day; the board uses the others. Default: none. */
  lackingFiles?: readonly FileId[];
  findAlerts?: FindAlerts | undefined;
}

/** Vehicles that are later than this are not found. */
const MAX_LATE_MS = 2 * HOUR_MS;
/** Vehicles planned after a window may run early, so the order near its end is uncertain. */
const MAX_EARLY_MS = 5 * MINUTE_MS;
/** The search window grows until the limit is filled, because a stop may have one bus a week. */
const WINDOWS_MS = [HOUR_MS / 2, 2 * HOUR_MS, 8 * HOUR_MS, DAY_MS, 3 * DAY_MS, 7 * DAY_MS] as const;
const COVERED_STEP_MS = 2 * HOUR_MS;
/** A cursor goes back a day at most. */
const WINDOWS_BACK_MS = [HOUR_MS / 2, 2 * HOUR_MS, 8 * HOUR_MS, 25 * HOUR_MS] as const;
/**
 * The first step adds this many departures plus twice the limit. If they do not fill the limit, each further step adds four
 * times as many. With `per_route` the steps are smaller, because each one shows which lines are complete.
 */
const FIRST_ADDED = 20;
/** Maximum number of departures listed: three hours at Central. */
const MAX_LISTED = 400;
/** Maximum number of departures examined when filters reject them: seven hours at Central. */
const MAX_SCANNED = 1500;

/**
 * Reads a board from the timetable and lays the feeds over it. `at` is the requested time, or null for now. The board is
 * complete as far as the timetable covers its time.
 */
export function readScheduledBoard(
  request: BoardRequest,
  at: number | null,
  parts: ScheduledStop,
): Omit<Board, 'freshness' | 'notices'> {
  const { timetable, stop, findAlerts } = parts;
  const reader = new StopReader(request, parts);
  const station = timetable.stop(timetable.stationOf(stop));
  const selection =
    request.page?.before === undefined ? readForwards(request, at, reader) : readBackwards(request, reader);
  return {
    ...selection,
    departures: selection.departures.map((one) => (findAlerts ? withAlerts(findAlerts, one, station.id) : one)),
    stopName: station.name,
    stopModes: reader.modes,
    leftOut: {},
    callsOf: (departure) => reader.callsOf(departure),
  };
}

/** Reads on until the limit is filled in order or the timetable ends. */
function readForwards(request: BoardRequest, at: number | null, reader: StopReader): Selection {
  const { page, limit } = request;
  const isPresent = at === null && !page;
  const from = toMinute(page?.from ?? at ?? reader.now);
  if (isPresent) reader.addLate(from);
  let until = from;
  let found: Departure[] = [];
  for (until of reader.addForwards(from, FIRST_ADDED + 2 * limit)) {
    found = reader.list({ from, until, isPresent });
    const inOrder = found.filter((one) => (page ? one.plannedAt : leavesAt(one) + MAX_EARLY_MS) < until);
    const counted = inOrder.filter((one) => isCounted(request, one));
    if (nextOfEachRoute(counted, request).length >= limit) break;
    reader.skipLines(inOrder);
  }
  return { ...selectFirst(request, found), knownUntil: until };
}

function readBackwards(request: BoardRequest, reader: StopReader): Selection {
  const before = request.page?.before ?? reader.now;
  let from = before;
  let found: Departure[] = [];
  for (from of reader.addBackwards(before)) {
    found = reader.list({ from, until: before, isPresent: false });
    if (found.filter((one) => isCounted(request, one)).length >= request.limit) break;
  }
  return { ...selectFirst(request, found), knownUntil: from };
}

/** Where a departure comes from: a call in the timetable, or one that only a feed has. */
type Source = { ref: CallRef; added: null } | { ref: null; added: AddedCall };

/** Looks up departures or arrivals of one stop. */
class StopReader {
  readonly now: number;
  /** The modes of all vehicles that stop here. */
  readonly modes: readonly Mode[];
  readonly #request: BoardRequest;
  readonly #parts: ScheduledStop;
  readonly #stops: readonly number[];
  readonly #stopsHere: ReadonlyMap<number, TimetableStop>;
  readonly #stop: {
    stopIds: ReadonlySet<string>;
    matched: Set<StopUpdate>;
    isArrival: boolean;
    isPlanned: (tripId: string) => boolean;
  };
  readonly #departureParts: DepartureParts;
  /** The stop that vehicles must call at later; null if there is no such filter. */
  readonly #to: DestinationFilter | null;
  /** The IDs of the stops that make up that stop; empty if it is a platform. */
  readonly #stopsOfTo: ReadonlySet<string>;
  /** All departures added so far, by the timetable alone. */
  readonly #planned: Departure[] = [];
  /** The same departures in the form that the feeds need. */
  readonly #calls: StopCall[] = [];
  /** The same departures with the feeds laid over them. */
  readonly #live: Departure[] = [];
  /** Whether a departure passes the caller's filters; cached. */
  readonly #wanted = new Map<Departure, boolean>();
  /** By the departure's `key`. */
  readonly #sources = new Map<string, Source>();
  /** The number of planned calls examined. */
  #scanned = 0;
  /** With `per_route`: how many departures of each line the board has. */
  #countByLine: ReadonlyMap<string, number> | null = null;

  constructor(request: BoardRequest, parts: ScheduledStop) {
    const { timetable, now } = parts;
    this.now = now;
    this.#request = request;
    this.#parts = parts;
    this.#stops = timetable.boardStopsOf(request.request.stopId.toUpperCase());
    const stops = this.#stops.map((index) => timetable.stop(index));
    this.#stopsHere = new Map(stops.map((one) => [one.index, one]));
    this.modes = sortModes(stops.flatMap(({ modes }) => modes));
    this.#stop = {
      stopIds: new Set(stops.map(({ id }) => id)),
      matched: new Set(),
      isArrival: request.request.isArrival ?? false,
      isPlanned: (tripId) => this.#isPlanned(tripId),
    };
    this.#departureParts = { timetable, now, ...this.#stop };
    const to = request.only?.to;
    const toStops = to === undefined ? null : new Set(findBoardStops(timetable, to));
    this.#to = toStops && createDestinationFilter(timetable, toStops, parts.feeds);
    const index = to === undefined ? null : timetable.findStop(to);
    const isPlatform = index !== null && timetable.stop(index).parent !== null;
    const stopsOfTo = to === undefined || isPlatform ? [] : timetable.boardStopsOf(to);
    this.#stopsOfTo = new Set(stopsOfTo.map((stop) => timetable.stop(stop).id));
  }

  /**
   * Adds what is planned from this moment on: `most` departures at first, then larger steps. Yields the time up to which
   * everything is added.
   */
  *addForwards(from: number, most: number): Generator<number> {
    let until = from;
    for (const windowMs of WINDOWS_MS) {
      let end = from + windowMs;
      while (end > until && !this.#covers(until, end)) end -= COVERED_STEP_MS;
      if (end <= until) return;
      for (let refs = this.#scan(until, end); until < end; most = this.#countByLine ? 2 * FIRST_ADDED : most * 4) {
        refs = refs.slice(this.#add(refs, most));
        until = refs[0] ? toMinute(refs[0].plannedAt) : end;
        yield until;
        if (this.#scanned > MAX_SCANNED || this.#planned.length >= MAX_LISTED) return;
      }
    }
  }

  /** Adds what is planned before this moment, latest first. Yields the time from which everything is added. */
  *addBackwards(before: number): Generator<number> {
    let from = toMinute(before - 1) + MINUTE_MS;
    for (const windowMs of WINDOWS_BACK_MS) {
      const start = toMinute(before - windowMs);
      if (!this.#covers(start, from)) return;
      const refs = this.#scan(start, from).reverse();
      const next = refs[this.#add(refs, MAX_LISTED)];
      from = next ? toMinute(next.plannedAt) + MINUTE_MS : start;
      yield from;
      if (next) return;
    }
  }

  #covers(from: number, until: number): boolean {
    const { timetable, lackingFiles = [] } = this.#parts;
    const lacking = timetable.filesLackingDays(this.#stops, from, until, this.#request.request.modes);
    return lacking.every((file) => lackingFiles.includes(file));
  }

  /** Adds the first `most` of these, but never only a part of a minute. Returns how many it examined. */
  #add(refs: readonly CallRef[], most: number): number {
    const end = Math.min(MAX_LISTED, this.#planned.length + most);
    let looked = 0;
    for (let minute = 0; looked < refs.length; looked++) {
      const ref = refs[looked] as CallRef;
      if (this.#planned.length >= end && toMinute(ref.plannedAt) !== minute) break;
      minute = toMinute(ref.plannedAt);
      if (this.#mayBeWanted(ref)) this.#addPlanned(ref);
    }
    this.#scanned += looked;
    return looked;
  }

  /**
   * With `per_route`: skips lines that already fill their share of the board. `first` are the departures at the top of the
   * board.
   */
  skipLines(first: readonly Departure[]): void {
    if (this.#request.perRoute === undefined) return;
    const lines = Map.groupBy(
      first.filter((one) => !isCancelled(one)),
      routeOf,
    );
    this.#countByLine = new Map([...lines].map(([line, { length }]) => [line, length]));
  }

  /** Adds departures planned before this time that may leave after it, according to the feeds. */
  addLate(from: number): void {
    const { timetable, feeds } = this.#parts;
    if (feeds.length === 0) return;
    const isLate = (trip: number, plannedAt: number) => {
      const source = feedOfFile(timetable.routeOf(timetable.patternOf(trip)).file);
      const trusted = feeds.find((feed) => feed.source === source);
      return trusted !== undefined && plannedAt + findLateness(timetable, trusted.feed, trip) >= from - MINUTE_MS;
    };
    for (const ref of this.#scan(from - MAX_LATE_MS, from, isLate)) if (this.#mayBeWanted(ref)) this.#addPlanned(ref);
  }

  /** Lists the wanted departures among those added, with the feeds laid over them. */
  list({ from, until, isPresent }: { from: number; until: number; isPresent: boolean }): Departure[] {
    const added = this.#overlay().flatMap((call) => this.#mapAdded(call) ?? []);
    return [...this.#live, ...added].filter((departure) => {
      const { state, plannedAt } = departure;
      const moment = isPresent ? leavesAt(departure) : plannedAt;
      return state.kind !== 'departed' && moment >= from && plannedAt < until && this.#isWanted(departure);
    });
  }

  /** Lays the feeds over everything added since the last time, and adds calls that only the feeds have. */
  #overlay(): AddedCall[] {
    const { feeds, now } = this.#parts;
    const runs = new Set(this.#calls.slice(this.#live.length).map(({ runId }) => runId));
    const indexes = this.#calls.flatMap(({ runId }, index) => (runs.has(runId) ? index : []));
    const calls = indexes.map((index) => this.#calls[index] as StopCall);
    const overlay = overlayStop({ ...this.#stop, calls }, feeds, now);
    for (const [at, index] of indexes.entries()) {
      const planned = this.#planned[index] as Departure;
      this.#live[index] = withLive(this.#departureParts, planned, overlay.calls[at] as OverlaidCall);
    }
    return overlay.added;
  }

  callsOf(departure: Departure): RunCall[] | null {
    const { timetable, feeds, now } = this.#parts;
    const source = this.#sources.get(departure.key);
    if (!source) return null;
    const { ref, added } = source;
    const calls = ref ? callsOfRun(timetable, ref, feeds, now).calls : callsOfAddedTrip(timetable, added.trip);
    const { stopId, plannedAt } = departure;
    const here = calls.findIndex(
      (call) => call.stopId === stopId && call.departure && toMinute(call.departure.plannedAt) === plannedAt,
    );
    const call = calls[here];
    return call ? [callHere(departure, call), ...calls.slice(here + 1).map((later) => this.#withGroup(later))] : null;
  }

  /** Adds the ID of the stop `to` to a call at one of its stops, because only the trip planner knows some of its groups. */
  #withGroup(call: RunCall): RunCall {
    const to = this.#request.only?.to;
    return to !== undefined && this.#stopsOfTo.has(call.stopId) ? { ...call, ids: [...call.ids, to] } : call;
  }

  #isWanted(departure: Departure): boolean {
    const isWanted = this.#wanted.get(departure) ?? this.#request.isWanted(departure, () => this.callsOf(departure));
    this.#wanted.set(departure, isWanted);
    return isWanted;
  }

  /** The planned departures that the caller may want. */
  #scan(from: number, until: number, acceptsTrip = (_trip: number, _plannedAt: number) => true): CallRef[] {
    const { timetable } = this.#parts;
    const { request, only } = this.#request;
    const routes = only?.routes;
    const isOnRoute = (pattern: number) => !routes || routes.includes(timetable.routeOf(pattern).route.toUpperCase());
    return timetable.departures(this.#stops, from, until, {
      modes: request.modes,
      isArrival: this.#stop.isArrival,
      accepts: (pattern, position) => isOnRoute(pattern) && (this.#to?.mayGoThere(pattern, position) ?? true),
      acceptsTrip,
    });
  }

  #mayBeWanted(ref: CallRef): boolean {
    return (this.#to?.goesThere(ref) ?? true) && (!this.#countByLine || this.#isLineOpen(ref));
  }

  #isLineOpen(ref: CallRef): boolean {
    const { timetable } = this.#parts;
    const { mode, route } = timetable.routeOf(timetable.patternOf(ref.trip));
    const line = routeOf({ mode, route, destination: timetable.headsignAt(ref) });
    return (this.#countByLine?.get(line) ?? 0) < (this.#request.perRoute ?? Number.POSITIVE_INFINITY);
  }

  #addPlanned(ref: CallRef): void {
    const { timetable } = this.#parts;
    const trip = timetable.trip(ref.trip);
    const index = timetable.stopsOf(timetable.patternOf(ref.trip))[ref.position] as number;
    const stop = this.#stopsHere.get(index) as TimetableStop;
    const plannedAt = toMinute(ref.plannedAt);
    const key = this.#keyOf(trip.tripId, stop.id, plannedAt);
    this.#planned.push(plannedDeparture(this.#departureParts, { key, ref, trip, stop }));
    const { tripId: runId, mode, file } = trip;
    this.#calls.push({ runId, mode, stopId: stop.id, plannedAt, day: ref.day, feed: feedOfFile(file) });
    this.#sources.set(key, { ref, added: null });
  }

  /** A loop may call at a stop twice, even within a minute. */
  #keyOf(tripId: string, stopId: string, plannedAt: number): string {
    for (let count = 0; ; count++) {
      const key = `${tripId},${stopId},${plannedAt} ${count}`;
      if (!this.#sources.has(key)) return key;
    }
  }

  /**
   * Whether the timetable has this trip calling here. A replacement may go on from the planned last stop, or begin before the
   * first.
   */
  #isPlanned(tripId: string): boolean {
    const { timetable } = this.#parts;
    return timetable.findTrips(tripId).some((trip) => {
      const stops = timetable.stopsOf(timetable.patternOf(trip));
      const calls = this.#stop.isArrival ? stops.subarray(1) : stops.subarray(0, -1);
      return calls.some((stop) => this.#stops.includes(stop));
    });
  }

  #mapAdded(added: AddedCall): Departure | null {
    const departure = addedDeparture(this.#departureParts, added);
    if (departure) this.#sources.set(departure.key, { ref: null, added });
    return departure;
  }
}

/** Cached by trip, because the board of every stop behind a vehicle needs its lateness. */
const lateness = new WeakMap<Feed, { timetable: Timetable; ofTrips: Map<number, number> }>();

/** The vehicle's greatest delay according to the feed, in milliseconds. */
function findLateness(timetable: Timetable, feed: Feed, trip: number): number {
  let known = lateness.get(feed);
  if (known?.timetable !== timetable) known = { timetable, ofTrips: new Map() };
  lateness.set(feed, known);
  const lateMs = known.ofTrips.get(trip) ?? feed.findLateness(timetable.tripIdOf(trip)) ?? 0;
  known.ofTrips.set(trip, lateMs);
  return lateMs;
}

/** A station with its platforms. For most street stops, the trip planner uses "G" and the number of one of the poles. */
export function findBoardStops(timetable: Timetable, stopId: string): readonly number[] {
  const stops = timetable.boardStopsOf(stopId);
  return stops.length > 0 ? stops : timetable.boardStopsOf(withoutG(stopId));
}
