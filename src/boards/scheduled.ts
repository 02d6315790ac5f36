import { DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.ts';
import type { RunCall } from '../efa/calls.ts';
import { type Feed, toOccupancy } from '../realtime/feed/feed.ts';
import { type AddedCall, type LivingFeed, type OverlaidCall, overlayStop, type StopCall } from '../realtime/overlay.ts';
import { feedOfFile, filesOfFeed } from '../realtime/polling/feed-source.ts';
import { type FileId, SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import type { CallRef, Timetable, TimetableRoute } from '../timetable/timetable.ts';
import type { FindAlerts } from '../transit/alert.ts';
import { type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { toMinute } from '../transit/time.ts';
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
import { callsOfAddedTrip, callsOfRun, MAX_CONTINUATIONS } from './run-calls.ts';

/** What a board is made of at one moment, in milliseconds since 1970. */
export interface ScheduledStop {
  timetable: Timetable;
  /** The stop that was asked for. */
  stop: number;
  /** The feeds of its departures that are alive. */
  feeds: readonly LivingFeed[];
  now: number;
  /** Files that lack the day asked for: the board is made of the others. None unless given. */
  lackingFiles?: readonly FileId[];
  findAlerts?: FindAlerts | undefined;
}

/** A vehicle that is later than this is not looked for. */
const MAX_LATE_MS = 2 * HOUR_MS;
/** The order of what is planned shortly before the end of a window is not known: vehicles beyond it may run early. */
const MAX_EARLY_MS = 5 * MINUTE_MS;
/** Departures are looked for in windows that grow until the limit is filled: a stop may have one bus a week. */
const WINDOWS_MS = [HOUR_MS / 2, 2 * HOUR_MS, 8 * HOUR_MS, DAY_MS, 3 * DAY_MS, 7 * DAY_MS] as const;
const COVERED_STEP_MS = 2 * HOUR_MS;
/** A cursor goes back a day at most. */
const WINDOWS_BACK_MS = [HOUR_MS / 2, 2 * HOUR_MS, 8 * HOUR_MS, 25 * HOUR_MS] as const;
/** So many departures are listed at most: at Central those of three hours. */
const MAX_LISTED = 400;
/** After so many that the filters leave out, none is looked for further ahead: at Central those of seven hours. */
const MAX_SCANNED = 1500;

/**
 * Reads a board from the timetable, with the feeds laid over it. `at` is the moment asked for, null for the present. The board is
 * complete as far as the timetable covers its time.
 */
export function readScheduledBoard(
  request: BoardRequest,
  at: number | null,
  parts: ScheduledStop,
): Omit<Board, 'freshness' | 'notices'> {
  const { timetable, stop } = parts;
  const reader = new StopReader(request, parts);
  const selection =
    request.page?.before === undefined ? readForwards(request, at, reader) : readBackwards(request, reader);
  return {
    ...selection,
    departures: selection.departures.map((departure) => reader.withAlerts(departure)),
    stopName: timetable.stop(timetable.stationOf(stop)).name,
    stopModes: reader.modes,
    leftOut: {},
    callsOf: (departure) => reader.callsOf(departure),
  };
}

/** Reads on in windows until the limit is filled in order, or as far as the timetable reaches. */
function readForwards(request: BoardRequest, at: number | null, reader: StopReader): Selection {
  const { page, limit } = request;
  const isPresent = at === null && !page;
  const from = toMinute(page?.from ?? at ?? reader.now);
  if (isPresent) reader.addLate(from);
  let until = from;
  let found: Departure[] = [];
  for (const windowMs of WINDOWS_MS) {
    const end = reader.coveredUntil(until, from + windowMs);
    if (end === until) break;
    until = reader.add(until, end);
    found = reader.list({ from, until, isPresent });
    const inOrder = found.filter((one) => (page ? one.plannedAt : leavesAt(one) + MAX_EARLY_MS) < until);
    const counted = inOrder.filter((one) => isCounted(request, one));
    if (nextOfEachRoute(counted, request).length >= limit || until < end || reader.isTired) break;
    reader.skipLines(inOrder);
  }
  return { ...selectFirst(request, found), knownUntil: until };
}

function readBackwards(request: BoardRequest, reader: StopReader): Selection {
  const before = request.page?.before ?? reader.now;
  let from = toMinute(before - 1) + MINUTE_MS;
  let found: Departure[] = [];
  for (const windowMs of WINDOWS_BACK_MS) {
    const start = toMinute(before - windowMs);
    if (!reader.covers(start, from)) break;
    const end = from;
    from = reader.add(start, end, { isBackwards: true });
    found = reader.list({ from, until: before, isPresent: false });
    if (found.filter((one) => isCounted(request, one)).length >= request.limit || from > start) break;
  }
  return { ...selectFirst(request, found), knownUntil: from };
}

/** What a departure is made of: a call of the timetable, or one that is in a feed only. */
type Source = { ref: CallRef; added: null } | { ref: null; added: AddedCall };

/** Looks up departures, or arrivals, of one stop. */
class StopReader {
  readonly now: number;
  /** The modes of all vehicles that stop here. */
  readonly modes: readonly Mode[];
  readonly #request: BoardRequest;
  readonly #parts: ScheduledStop;
  readonly #stops: readonly number[];
  readonly #stopIds: ReadonlySet<string>;
  readonly #isArrival: boolean;
  /** The stop that vehicles call at afterwards, with its platforms; null where any will do. */
  readonly #to: ReadonlySet<number> | null;
  /** The stops at which a train may change its number on its way there. */
  #changes: ReadonlySet<number> | null = null;
  readonly #planned: Departure[] = [];
  /** The same as the feeds need it. */
  readonly #calls: StopCall[] = [];
  readonly #sources = new Map<string, Source>();
  #scanned = 0;
  /** With `per_route`: how many of each line the board has. */
  #countByLine: ReadonlyMap<string, number> | null = null;

  constructor(request: BoardRequest, parts: ScheduledStop) {
    const { timetable, now } = parts;
    this.now = now;
    this.#request = request;
    this.#parts = parts;
    this.#stops = timetable.boardStopsOf(request.request.stopId.toUpperCase());
    const stops = this.#stops.map((index) => timetable.stop(index));
    this.#stopIds = new Set(stops.map(({ id }) => id));
    this.modes = sortModes(stops.flatMap(({ modes }) => modes));
    this.#isArrival = request.request.isArrival ?? false;
    const to = request.only?.to;
    this.#to = to === undefined ? null : new Set(findBoardStops(timetable, to));
  }

  covers(from: number, until: number): boolean {
    const { timetable, lackingFiles = [] } = this.#parts;
    const lacking = timetable.filesLackingDays(this.#stops, from, until, this.#request.request.modes);
    return lacking.every((file) => lackingFiles.includes(file));
  }

  /** Until when, at most, the timetable has the days; `from` where it has none. */
  coveredUntil(from: number, until: number): number {
    let end = until;
    while (end > from && !this.covers(from, end)) end -= COVERED_STEP_MS;
    return Math.max(from, end);
  }

  /**
   * Adds what is planned within this time. Where that is too much, the part next to the board's moment is added. Returns the end of
   * what is added, or where it begins if it is read backwards.
   */
  add(from: number, until: number, { isBackwards = false } = {}): number {
    const refs = this.#scan(from, until);
    const room = MAX_LISTED - this.#planned.length;
    const beyond = isBackwards ? refs.at(-room - 1) : refs[room];
    // Of a minute either all departures are listed or none.
    const [start, end] = !beyond
      ? [from, until]
      : isBackwards
        ? [toMinute(beyond.plannedAt) + MINUTE_MS, until]
        : [from, toMinute(beyond.plannedAt)];
    for (const ref of refs) if (ref.plannedAt >= start && ref.plannedAt < end) this.#addPlanned(ref);
    return isBackwards ? start : end;
  }

  /** Enough was looked at. */
  get isTired(): boolean {
    return this.#scanned > MAX_SCANNED;
  }

  /** With `per_route`: skips lines that already have as many departures on the board as it shows. `first` are the first of the board. */
  skipLines(first: readonly Departure[]): void {
    if (this.#request.perRoute === undefined) return;
    const lines = Map.groupBy(
      first.filter((one) => !isCancelled(one)),
      routeOf,
    );
    this.#countByLine = new Map([...lines].map(([line, { length }]) => [line, length]));
  }

  /** Adds what was planned before this moment and may leave after it, by the feeds. */
  addLate(from: number): void {
    const { timetable, feeds } = this.#parts;
    if (feeds.length === 0) return;
    for (const ref of this.#scan(from - MAX_LATE_MS, from)) {
      const source = feedOfFile(timetable.routeOf(timetable.patternOf(ref.trip)).file);
      const living = feeds.find((feed) => feed.source === source);
      const lateMs = living ? findLateness(timetable, living.feed, ref.trip) : 0;
      if (ref.plannedAt + lateMs >= from - MINUTE_MS) this.#addPlanned(ref);
    }
  }

  /** Lists what is wanted, of what was added, with the feeds laid over it. */
  list({ from, until, isPresent }: { from: number; until: number; isPresent: boolean }): Departure[] {
    const { feeds, now } = this.#parts;
    const isPlanned = (tripId: string) => this.#isPlanned(tripId);
    const stop = { stopIds: this.#stopIds, calls: this.#calls, isArrival: this.#isArrival, isPlanned };
    const overlay = overlayStop(stop, feeds, now);
    const planned = this.#planned.map((departure, index) =>
      this.#withLive(departure, overlay.calls[index] as OverlaidCall),
    );
    const added = overlay.added.flatMap((call) => this.#mapAdded(call) ?? []);
    return [...planned, ...added].filter((departure) => {
      const { state, plannedAt } = departure;
      const moment = isPresent ? leavesAt(departure) : plannedAt;
      return state.kind !== 'departed' && moment >= from && plannedAt < until && this.#isWanted(departure);
    });
  }

  withAlerts(departure: Departure): Departure {
    const { timetable, stop, findAlerts } = this.#parts;
    if (!findAlerts) return departure;
    const { stopId, runId: tripId, isVehicleAccessible, isStopAccessible } = departure;
    const station = timetable.stop(timetable.stationOf(stop)).id;
    const alerts = findAlerts({ ...departure, tripId, stopIds: [stopId, station], at: leavesAt(departure) });
    const isRestricted = alerts.some(({ restrictsWheelchairs }) => restrictsWheelchairs);
    return {
      ...departure,
      alerts: alerts.map(({ text }) => text),
      isWheelchairAccessible: isVehicleAccessible ?? (isStopAccessible === true && !isRestricted),
    };
  }

  callsOf(departure: Departure): RunCall[] | null {
    const { timetable, feeds, now } = this.#parts;
    const { ref, added } = this.#sources.get(departure.key) ?? {};
    const calls = ref
      ? callsOfRun(timetable, ref, feeds, now).calls
      : added
        ? callsOfAddedTrip(timetable, added.trip)
        : null;
    const isHere = (call: RunCall) =>
      call.stopId === departure.stopId &&
      call.departure !== null &&
      toMinute(call.departure.plannedAt) === departure.plannedAt;
    const here = calls?.findIndex(isHere) ?? -1;
    const call = calls?.[here];
    return calls && call ? [callHere(departure, call), ...calls.slice(here + 1)] : null;
  }

  #isWanted(departure: Departure): boolean {
    let calls: RunCall[] | null | undefined;
    return this.#request.isWanted(departure, () => {
      calls ??= this.callsOf(departure);
      return calls;
    });
  }

  /** What is planned, as far as the caller may want it. */
  #scan(from: number, until: number): CallRef[] {
    const { timetable } = this.#parts;
    const { request, only } = this.#request;
    const routes = only?.routes;
    const isOnRoute = (pattern: number) => !routes || routes.includes(timetable.routeOf(pattern).route.toUpperCase());
    const accepts = (pattern: number, position: number) => isOnRoute(pattern) && this.#mayGoThere(pattern, position);
    const refs = this.#isArrival
      ? timetable.arrivals(this.#stops, from, until, request.modes, accepts)
      : timetable.departures(this.#stops, from, until, request.modes, accepts);
    this.#scanned += refs.length;
    const { perRoute = Number.POSITIVE_INFINITY } = this.#request;
    const isOnLine = (ref: CallRef) => {
      const { mode, route } = timetable.routeOf(timetable.patternOf(ref.trip));
      const line = routeOf({ mode, route, destination: timetable.callAt(ref).headsign });
      return (this.#countByLine?.get(line) ?? 0) < perRoute;
    };
    return refs.filter((ref) => (!this.#to || this.#goesThere(ref)) && (!this.#countByLine || isOnLine(ref)));
  }

  /** Whether vehicles of a pattern call at `to` afterwards, or may do so as another run. */
  #mayGoThere(pattern: number, position: number): boolean {
    if (!this.#to || this.#callsThere(pattern, position + 1)) return true;
    const { timetable } = this.#parts;
    const end = timetable.stopsOf(pattern).at(-1);
    this.#changes ??= findChanges(timetable, this.#to);
    return end !== undefined && this.#changes.has(end) && timetable.routeOf(pattern).mode === 'train';
  }

  #callsThere(pattern: number, from: number): boolean {
    const stops = this.#parts.timetable.stopsOf(pattern);
    for (let position = from; position < stops.length; position++) {
      if (this.#to?.has(stops[position] as number)) return true;
    }
    return false;
  }

  #goesThere({ trip, day, position }: CallRef): boolean {
    const { timetable } = this.#parts;
    let [next, from]: [number | null, number] = [trip, position + 1];
    for (let count = 0; next !== null && count <= MAX_CONTINUATIONS; count++) {
      if (this.#callsThere(timetable.patternOf(next), from)) return true;
      [next, from] = [timetable.nextTrip(next, day), 0];
    }
    return false;
  }

  #addPlanned(ref: CallRef): void {
    const { timetable, now } = this.#parts;
    const trip = timetable.trip(ref.trip);
    const call = timetable.callAt(ref);
    const stop = timetable.stop(call.stop);
    const plannedAt = toMinute(ref.plannedAt);
    const departure: Departure = {
      ...ofRoute(trip),
      key: this.#keyOf(trip.tripId, stop.id, plannedAt),
      runId: isBundle(trip.file) ? null : trip.tripId,
      stopId: stop.id,
      destination: call.headsign,
      ...(this.#isArrival && { origin: this.#originOf(ref.trip) }),
      platform: stop.platform,
      plannedAt,
      ...accessOf(trip.isWheelchairAccessible, stop.isWheelchairAccessible),
      occupancy: null,
      alerts: [],
      saidAt: now,
      state: { kind: 'scheduled' },
    };
    this.#planned.push(departure);
    this.#calls.push({ ...departure, runId: trip.tripId, day: ref.day, feed: feedOfFile(trip.file) });
    this.#sources.set(departure.key, { ref, added: null });
  }

  /** A loop may call twice at a stop within a minute. */
  #keyOf(tripId: string, stopId: string, plannedAt: number): string {
    for (let count = 0; ; count++) {
      const key = `${tripId},${stopId},${plannedAt} ${count}`;
      if (!this.#sources.has(key)) return key;
    }
  }

  #originOf(trip: number): string | null {
    const { timetable } = this.#parts;
    const [first] = timetable.stopsOf(timetable.patternOf(trip));
    return first === undefined ? null : timetable.stop(timetable.stationOf(first)).name;
  }

  #withLive(departure: Departure, { state, movedTo }: OverlaidCall): Departure {
    if (state.kind === 'scheduled' && movedTo === null) return departure;
    const { timetable, now } = this.#parts;
    const index = movedTo === null ? null : timetable.findStop(movedTo);
    const stop = index === null ? null : timetable.stop(index);
    const moved = stop && {
      stopId: stop.id,
      platform: stop.platform ?? (this.#stopIds.has(stop.id) ? null : stop.name),
    };
    // A board of a time that is over shows what has left.
    const hasLeft = state.kind === 'departed' && departure.plannedAt < now - MINUTE_MS;
    return {
      ...departure,
      ...moved,
      state: hasLeft ? { kind: 'scheduled' } : state,
      occupancy: state.kind === 'live' ? (state.occupancy ?? null) : null,
    };
  }

  /** Whether a trip of the timetable calls here. */
  #isPlanned(tripId: string): boolean {
    const { timetable } = this.#parts;
    return timetable
      .findTrips(tripId)
      .some((trip) => timetable.stopsOf(timetable.patternOf(trip)).some((stop) => this.#stops.includes(stop)));
  }

  /** Null for a call of a line that the timetable lacks. */
  #mapAdded(added: AddedCall): Departure | null {
    const { timetable, now } = this.#parts;
    const { trip, update, source, headerAt } = added;
    const index = update.stopId === null ? null : timetable.findStop(update.stopId);
    const files = filesOfFeed(source);
    const [known] = timetable.findTrips(trip.tripId, files);
    const planned = known === undefined ? null : timetable.trip(known);
    const routes = files.flatMap((file) => (trip.routeId && timetable.findRoute(trip.routeId, file)) || []);
    const line = planned ?? routes[0];
    const last = timetable.findStop(trip.stopUpdates.at(-1)?.stopId ?? '');
    const destination = planned?.headsign ?? (last === null ? null : timetable.stop(timetable.stationOf(last)).name);
    if (index === null || !line || destination === null) return null;
    const stop = timetable.stop(index);
    const plannedAt = toMinute(added.plannedAt);
    const departure: Departure = {
      ...ofRoute(line),
      key: `${trip.tripId},${stop.id},${plannedAt} 0`,
      runId: trip.tripId,
      stopId: stop.id,
      destination,
      ...(this.#isArrival && { origin: known === undefined ? null : this.#originOf(known) }),
      platform: stop.platform,
      plannedAt,
      ...accessOf(planned?.isWheelchairAccessible ?? null, stop.isWheelchairAccessible),
      occupancy: toOccupancy(update.occupancy),
      alerts: [],
      saidAt: now,
      state: { kind: 'live', leavesAt: this.#isArrival ? added.arrivesAt : added.departsAt, headerAt },
    };
    this.#sources.set(departure.key, { ref: null, added });
    return departure;
  }
}

function accessOf(isVehicleAccessible: boolean | null, isStopAccessible: boolean | null) {
  const isWheelchairAccessible = isVehicleAccessible ?? isStopAccessible ?? false;
  return { isWheelchairAccessible, isVehicleAccessible, isStopAccessible };
}

/** By trip: boards of all stops that a vehicle has passed ask how late it is. */
const lateness = new WeakMap<Feed, { timetable: Timetable; ofTrips: Map<number, number> }>();

/** How late the vehicle is at most, by the feed: milliseconds. */
function findLateness(timetable: Timetable, feed: Feed, trip: number): number {
  let known = lateness.get(feed);
  if (known?.timetable !== timetable) known = { timetable, ofTrips: new Map() };
  lateness.set(feed, known);
  const lateMs = known.ofTrips.get(trip) ?? feed.findLateness(timetable.tripIdOf(trip)) ?? 0;
  known.ofTrips.set(trip, lateMs);
  return lateMs;
}

/** The stops at which trains begin that call at one of these stops, or that go on as such a train. */
function findChanges(timetable: Timetable, stops: ReadonlySet<number>): ReadonlySet<number> {
  const found = new Set<number>();
  let through: Iterable<number> = stops;
  for (let count = 0; count < MAX_CONTINUATIONS; count++) {
    const starts = [...through].flatMap((stop) =>
      [...timetable.patternsAt(stop)].flatMap((pattern) => {
        const calls = timetable.stopsOf(pattern);
        const isOnTheWay = count === 0 || calls.at(-1) === stop;
        return isOnTheWay && timetable.routeOf(pattern).mode === 'train' ? (calls[0] as number) : [];
      }),
    );
    through = starts;
    for (const stop of starts) found.add(stop);
  }
  return found;
}

function ofRoute({ mode, route, network }: TimetableRoute): Pick<Departure, 'mode' | 'route' | 'network'> {
  return { mode, route, network };
}

/** A station with its platforms. The trip planner calls most street stops "G" and the number of one of their poles. */
export function findBoardStops(timetable: Timetable, stopId: string): readonly number[] {
  const stops = timetable.boardStopsOf(stopId);
  return stops.length > 0 ? stops : timetable.boardStopsOf(stopId.replace(/^G/, ''));
}

/** No feed has the identifiers of the bundle of all operators, nor has the trip planner. */
function isBundle(file: FileId): boolean {
  return 'isBundle' in SCHEDULE_FILES[file];
}
