import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts';
import type { LiveTimetable } from '../realtime/live-timetable.ts';
import type { FileId } from '../timetable/schedule-files.ts';
import type { CallRef, Timetable, TimetableRoute } from '../timetable/timetable.ts';
import type { FindAlerts } from '../transit/alert.ts';
import type { RunCall } from '../transit/call.ts';
import type { Departure } from '../transit/departure.ts';
import { isNamed } from '../transit/line-id.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { withoutG } from '../transit/region.ts';
import { toMinute } from '../transit/time.ts';
import { createDestinationFilter, type DestinationFilter } from './destination-filter.ts';
import { callHere } from './monitor.ts';
import { type BoardContent, type BoardRequest, isCounted, routeOf, type Selection, selectFirst } from './pager.ts';
import { callsOfRun } from './run-calls.ts';
import {
  type BoardCall,
  type BoardRange,
  type DepartureParts,
  listLiveCalls,
  plannedCall,
  toDeparture,
  withAlerts,
} from './scheduled-departure.ts';

/** What a board is built from. Times are in milliseconds since 1970. */
export interface ScheduledStop {
  /** The timetable with the healthy feeds that cover the departures. */
  live: LiveTimetable;
  /** The index of the requested stop in the timetable. */
  stop: number;
  now: number;
  /** Files that do not cover the requested day; the board uses the others. Default: none. */
  lackingFiles?: readonly FileId[];
  listAlerts?: FindAlerts | undefined;
}

/** The search window grows until the limit is filled, because a stop may have one bus a week. */
const WINDOWS_MS = [HOUR_MS / 2, 2 * HOUR_MS, 8 * HOUR_MS, DAY_MS, 3 * DAY_MS, 7 * DAY_MS] as const;
const COVERED_STEP_MS = 2 * HOUR_MS;
/** Windows for pages before a time. A cursor goes back a day at most. */
const WINDOWS_BACK_MS = [HOUR_MS / 2, 2 * HOUR_MS, 8 * HOUR_MS, 25 * HOUR_MS] as const;
/**
 * The first step adds this many planned departures plus the limit. If they do not fill the limit, each further step adds four
 * times as many as the one before. With `per_route` each further step adds twice this number, because complete lines are then
 * skipped.
 */
const FIRST_ADDED = 10;
/** Maximum number of planned departures listed: three hours at Central. */
const MAX_LISTED = 400;
/** Maximum number of planned departures examined when filters reject them: seven hours at Central. */
const MAX_SCANNED = 1500;

/**
 * Builds a board from the timetable and the snapshots of its feeds: the calls of runs in feeds and of all other runs, merged by
 * time. `at` is the requested time, or null for now. The board is complete as far as the timetable covers its time.
 */
export function getScheduledBoard(request: BoardRequest, at: number | null, parts: ScheduledStop): BoardContent {
  const { live, stop, listAlerts: findAlerts } = parts;
  const reader = new StopReader(request, parts);
  const station = live.timetable.stop(live.timetable.stationOf(stop));
  const selection =
    request.page?.before === undefined ? listForwards(request, at, reader) : listBackwards(request, reader);
  return {
    ...selection,
    departures: selection.departures.map((one) => (findAlerts ? withAlerts(findAlerts, one, station.id) : one)),
    stopName: station.name,
    stopModes: reader.modes,
    leftOut: {},
    callsOf: (departure) => reader.callsOf(departure),
  };
}

/** Adds departures until the limit is filled in order or the timetable ends. */
function listForwards(request: BoardRequest, at: number | null, reader: StopReader): Selection {
  const { page, limit } = request;
  const isByBestTime = !page;
  const from = toMinute(page?.from ?? at ?? reader.now);
  reader.addLive({ from, until: Number.POSITIVE_INFINITY, isByBestTime });
  let until = from;
  let found: ListedDepartures = { departures: [], certain: 0, unseenFrom: from };
  for (until of reader.addForwards(from, FIRST_ADDED + limit)) {
    found = reader.list({ from, until, isByBestTime });
    if (found.certain >= limit) break;
  }
  return { ...selectFirst(request, found.departures), knownUntil: Math.min(until, found.unseenFrom) };
}

function listBackwards(request: BoardRequest, reader: StopReader): Selection {
  const before = request.page?.before ?? reader.now;
  let from = before;
  let departures: Departure[] = [];
  reader.addLive({ from: Number.NEGATIVE_INFINITY, until: before, isByBestTime: false });
  for (from of reader.addBackwards(before)) {
    departures = reader.listAll({ from, until: before });
    if (departures.filter((one) => isCounted(request, one)).length >= request.limit) break;
  }
  return { ...selectFirst(request, departures), knownUntil: from };
}

interface ListedDepartures {
  departures: Departure[];
  /** How many departures at the start count towards the limit and can no longer be preceded by one that is added later. */
  certain: number;
  /** The list has every added departure that is planned before this time. */
  unseenFrom: number;
}

/** Looks up departures or arrivals of one stop. */
class StopReader {
  readonly now: number;
  /** The modes of all vehicles that stop here. */
  readonly modes: readonly Mode[];
  readonly #request: BoardRequest;
  readonly #parts: ScheduledStop;
  readonly #stops: readonly number[];
  readonly #departureParts: DepartureParts;
  /** The filter for vehicles that call at the stop `to` later; null if the caller has no such filter. */
  readonly #to: DestinationFilter | null;
  /** The IDs of the parts of the stop `to`; empty if it is a platform. */
  readonly #stopsOfTo: ReadonlySet<string>;
  readonly #calls: BoardCall[] = [];
  /** Null if the vehicle has left or the caller does not want it. */
  readonly #wanted = new Map<BoardCall, Departure | null>();
  readonly #byKey = new Map<string, BoardCall>();
  #plannedCount = 0;
  /** The number of planned calls examined. */
  #scanned = 0;
  /** With `per_route`: how many departures of each line the board has. */
  #countByLine = new Map<string, number>();

  constructor(request: BoardRequest, parts: ScheduledStop) {
    const { live, now } = parts;
    const { timetable } = live;
    this.now = now;
    this.#request = request;
    this.#parts = parts;
    this.#stops = timetable.boardStopsOf(request.request.stopId.toUpperCase());
    this.modes = sortModes(this.#stops.flatMap((stop) => timetable.modesOf(stop)));
    const isArrival = request.request.isArrival ?? false;
    this.#departureParts = { live, now, isArrival, stops: new Set(this.#stops) };
    const to = request.only?.to;
    this.#to = to === undefined ? null : createDestinationFilter(live, new Set(listBoardStops(timetable, to)));
    const index = to === undefined ? null : timetable.findStop(to);
    const isPlatform = index !== null && timetable.stop(index).parent !== null;
    const stopsOfTo = to === undefined || isPlatform ? [] : timetable.boardStopsOf(to);
    this.#stopsOfTo = new Set(stopsOfTo.map((stop) => timetable.stop(stop).id));
  }

  /** Adds the calls of runs in feeds, early and late ones included. */
  addLive(range: BoardRange): void {
    const { modes } = this.#request.request;
    const isOnRoute = (route: TimetableRoute) => modes.includes(route.mode) && this.#isOnRoute(route);
    for (const call of listLiveCalls(this.#departureParts, range, isOnRoute)) {
      if (this.#to?.isLeftTo(call) ?? true) this.#calls.push(call);
    }
  }

  /**
   * Adds departures of runs that no feed has, planned from this time on: `most` at first, then in further steps (see
   * `FIRST_ADDED`). Yields the time up to which everything is added.
   */
  *addForwards(from: number, most: number): Generator<number> {
    let until = from;
    for (const windowMs of WINDOWS_MS) {
      let end = from + windowMs;
      while (end > until && !this.#covers(until, end)) end -= COVERED_STEP_MS;
      if (end <= until) return;
      const isPerRoute = this.#request.perRoute !== undefined;
      for (let refs = this.#scan(until, end); until < end; most = isPerRoute ? 2 * FIRST_ADDED : most * 4) {
        refs = refs.slice(this.#add(refs, most));
        until = refs[0] ? toMinute(refs[0].plannedAt) : end;
        yield until;
        if (this.#scanned > MAX_SCANNED || this.#plannedCount >= MAX_LISTED) return;
      }
    }
  }

  /** Adds departures of runs that no feed has, planned before this time, latest first. Yields the time from which everything is added. */
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
    const { live, lackingFiles = [] } = this.#parts;
    const lacking = live.timetable.filesLackingDays(this.#stops, from, until, this.#request.request.modes);
    return lacking.every((file) => lackingFiles.includes(file));
  }

  /** Adds the first `most` of these, and always whole minutes. Returns how many it examined. */
  #add(refs: readonly CallRef[], most: number): number {
    const end = Math.min(MAX_LISTED, this.#plannedCount + most);
    let looked = 0;
    for (let minute = 0; looked < refs.length; looked++) {
      const ref = refs[looked] as CallRef;
      if (this.#plannedCount >= end && toMinute(ref.plannedAt) !== minute) break;
      minute = toMinute(ref.plannedAt);
      const call = plannedCall(this.#departureParts, ref);
      if (this.#isLineFull(call) || this.#to?.isLeftTo(call) === false) continue;
      this.#calls.push(call);
      this.#plannedCount++;
    }
    this.#scanned += looked;
    return looked;
  }

  /** Lists the first wanted departures of the range, in the order of the board, until they fill the limit. */
  list({ from, until, isByBestTime }: BoardRange): ListedDepartures {
    const { limit, perRoute, page } = this.#request;
    const momentOf = (call: BoardCall) => (isByBestTime ? call.bestAt : call.plannedAt);
    const inRange = this.#calls.filter((call) => momentOf(call) >= from && call.plannedAt < until);
    inRange.sort((one, other) => momentOf(one) - momentOf(other));
    const found: ListedDepartures = { departures: [], certain: 0, unseenFrom: Number.POSITIVE_INFINITY };
    this.#countByLine = new Map();
    let lastAt = Number.NEGATIVE_INFINITY;
    for (const call of inRange) {
      const moment = momentOf(call);
      const isFull = found.certain >= limit && moment > lastAt;
      // Late vehicles planned before the board's time are always listed, so that the pages before and after this one are
      // complete.
      if (isFull && !(isByBestTime && call.plannedAt < from)) {
        found.unseenFrom = Math.min(found.unseenFrom, call.plannedAt);
        continue;
      }
      if (this.#isLineFull(call)) continue;
      const departure = this.#findWanted(call);
      if (!departure) continue;
      found.departures.push(departure);
      const isShown = departure.state.kind !== 'cancelled';
      if (perRoute !== undefined && isShown) {
        const line = routeOf(departure);
        this.#countByLine.set(line, (this.#countByLine.get(line) ?? page?.countShown(departure) ?? 0) + 1);
      }
      const isCertain = moment < until && (perRoute === undefined ? isCounted(this.#request, departure) : isShown);
      if (isCertain) [found.certain, lastAt] = [found.certain + 1, moment];
    }
    return found;
  }

  /** Lists all wanted departures planned in the range. */
  listAll({ from, until }: Omit<BoardRange, 'isByBestTime'>): Departure[] {
    return this.#calls
      .filter(({ plannedAt }) => plannedAt >= from && plannedAt < until)
      .flatMap((call) => this.#findWanted(call) ?? []);
  }

  /** Whether the board has as many departures of the line as `per_route` allows. */
  #isLineFull(call: BoardCall): boolean {
    const { perRoute, page } = this.#request;
    if (perRoute === undefined) return false;
    const line = { mode: call.route.mode, route: call.route.route, destination: call.headsign() };
    return (this.#countByLine.get(routeOf(line)) ?? page?.countShown(line) ?? 0) >= perRoute;
  }

  /** Null if the vehicle has left or the caller does not want it. */
  #findWanted(call: BoardCall): Departure | null {
    const known = this.#wanted.get(call);
    if (known !== undefined) return known;
    const departure = toDeparture(this.#departureParts, call, this.#keyOf(call));
    this.#byKey.set(departure.key, call);
    const isWanted =
      departure.state.kind !== 'departed' && this.#request.isWanted(departure, () => this.callsOf(departure));
    this.#wanted.set(call, isWanted ? departure : null);
    return isWanted ? departure : null;
  }

  /**
   * The key of a call: run, stop, planned time and a number. A vehicle may call twice within a minute, at one stop of the board
   * or at two. The number counts the earlier calls of the run in that minute, including unwanted ones, so it is the same on every
   * page.
   */
  #keyOf(call: BoardCall): string {
    const { plannedAt, index, keyStop } = call;
    const tripId = call.tripId();
    const isEarlier = (other: BoardCall) =>
      other.plannedAt === plannedAt && other.index < index && other.tripId() === tripId;
    const { id } = this.#parts.live.timetable.stop(keyStop);
    for (let count = this.#calls.filter(isEarlier).length; ; count++) {
      const key = `${tripId},${id},${plannedAt} ${count}`;
      if (!this.#byKey.has(key)) return key;
    }
  }

  callsOf(departure: Departure): RunCall[] | null {
    const call = this.#byKey.get(departure.key);
    if (!call) return null;
    const { calls } = callsOfRun(this.#parts.live, call.run());
    const here = calls[call.index];
    return here ? [callHere(departure, here), ...calls.slice(call.index + 1).map((one) => this.#withGroup(one))] : null;
  }

  /** Adds the ID of the stop `to` to calls at its parts, because only the trip planner knows some groups. */
  #withGroup(call: RunCall): RunCall {
    const to = this.#request.only?.to;
    return to !== undefined && this.#stopsOfTo.has(call.stopId) ? { ...call, ids: [...call.ids, to] } : call;
  }

  #isOnRoute(line: TimetableRoute): boolean {
    const { routes } = this.#request.only ?? {};
    return routes === undefined || isNamed(routes, line);
  }

  /** The planned departures of runs that no feed has and that the caller may want. */
  #scan(from: number, until: number): CallRef[] {
    const { live } = this.#parts;
    const { timetable } = live;
    return timetable.departures(this.#stops, from, until, {
      modes: this.#request.request.modes,
      isArrival: this.#departureParts.isArrival,
      accepts: (pattern, position) =>
        this.#isOnRoute(timetable.routeOf(pattern)) && (this.#to?.mayGoThere(pattern, position) ?? true),
      acceptsRun: (trip, day) => live.find(trip, day) === null,
    });
  }
}

/**
 * The stops of the timetable that make up a stop: for a station its platforms. For most street stops, the trip planner uses "G"
 * and the number of one of the poles.
 */
export function listBoardStops(timetable: Timetable, stopId: string): readonly number[] {
  const stops = timetable.boardStopsOf(stopId);
  return stops.length > 0 ? stops : timetable.boardStopsOf(withoutG(stopId));
}
