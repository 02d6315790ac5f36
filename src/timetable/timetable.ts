import { firstFrom } from '../core/binary-search.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts';
import { int32At, type Uint32Column } from '../core/columns.ts';
import { lineIdOf } from '../transit/line-names.ts';
import { MODES, type Mode } from '../transit/modes.ts';
import { boundsAround, distanceMetres, isWithin, type Position } from '../transit/position.ts';
import type { Bounds } from '../transit/region.ts';
import { withoutDate } from '../transit/trip-id.ts';
import { fromFlag, unpackAccess, type VehicleAccess } from '../transit/vehicle-access.ts';
import { BOOK_TO_ALIGHT, BOOK_TO_BOARD, MAY_ALIGHT, MAY_BOARD } from './call-flags.ts';
import type { FileReport } from './import/schedule-file.ts';
import { CELLS_AROUND, candidatesOf, cellOf, hash32, openSections, ROUTE, type Sections } from './packed-timetable.ts';
import { loadPath } from './paths.ts';
import { type FileId, SCHEDULE_FILES } from './schedule-files.ts';
import { serviceDayStart, toDate, toDayNumber, toMoment, weekdayOf } from './service-day.ts';
import { createWater } from './water.ts';

export { NotATimetable } from './packed-timetable.ts';

/** A stop, platform or station, named as in the trip planner. The position is in degrees. */
export interface TimetableStop {
  index: number;
  id: string;
  /** Without suburb and platform. */
  name: string;
  /** "Platform 3", "Wharf 4", "Stand B"; null if the stop is not a platform. */
  platform: string | null;
  lat: number;
  lng: number;
  /** The station of a platform. */
  parent: number | null;
  /** Platforms without a value use their station's; null if unknown. */
  isWheelchairAccessible: boolean | null;
  /** The modes of all its departures and arrivals; a station includes its platforms. */
  modes: readonly Mode[];
}

/** A route of a file; several may belong to one line. */
export interface TimetableRoute {
  file: FileId;
  /** The file's `route_id`, which the realtime feeds use too. */
  routeId: string;
  /** The short name: "T4", "333". */
  route: string;
  mode: Mode;
  lineName: string;
  /** As in the file; may be empty. */
  longName: string;
  /** The same for all routes of a line. */
  lineId: string;
  /** The name of the agency; may be empty. */
  operator: string;
  /** The trip planner's `transportation.product.id`; null if uncertain. */
  network: number | null;
}

export interface TimetableTrip extends TimetableRoute {
  tripId: string;
  headsign: string;
  isWheelchairAccessible: boolean | null;
}

/** A call of a trip on a service day. Moments are milliseconds since 1970. */
export interface PlannedCall {
  stop: number;
  arrivesAt: number;
  departsAt: number;
  mayBoard: boolean;
  mayAlight: boolean;
  mustBookToBoard: boolean;
  mustBookToAlight: boolean;
  /** The call's own headsign, or the trip's. */
  headsign: string;
}

export interface RunRef {
  trip: number;
  day: number;
}

export interface CallPosition extends RunRef {
  position: number;
}

/** A planned departure or arrival. */
export interface CallRef extends CallPosition {
  /** Milliseconds since 1970. */
  plannedAt: number;
}

interface ScanOptions {
  modes?: readonly Mode[];
  isArrival?: boolean;
  /** Whether to include the trips of a pattern that call at this position. */
  accepts?: (pattern: number, position: number) => boolean;
  /** Whether to include the run of a trip on a service day. */
  acceptsRun?: (trip: number, day: number) => boolean;
}

/** A line that departs from a stop. */
export interface TimetableLine extends Pick<TimetableRoute, 'lineId' | 'route' | 'mode' | 'lineName' | 'network'> {
  /** Most frequent first. */
  headsigns: string[];
}

/**
 * Trains of the last evening run until about 04:00. Boards before that need the previous service day too. Later ones do not,
 * because only TrainLink's longest runs are then still under way.
 */
const NIGHT_MS = 4 * HOUR_MS;
/** A vehicle that waits longer at its last call ends there. */
export const MAX_STAND_SECONDS = 15 * 60;
/** A vehicle's next trip may be planned to start up to this long before the previous one ends; it then starts late. */
export const MAX_OVERLAP_SECONDS = 5 * 60;
/** A vehicle may start its next trip from another stand within this distance. */
export const SAME_STAND_METRES = 100;

/**
 * The schedule of all files. It is immutable except for `useMembers`. Indices of stops and trips are valid for this instance
 * only. Times are in milliseconds since 1970.
 */
export class Timetable {
  /** The bytes of this timetable, which threads share. */
  readonly packed: SharedArrayBuffer;
  /** The typed arrays described in `packed-timetable.ts`, for searches that read thousands of calls. */
  readonly sections: Sections;
  readonly importedAt: number;
  readonly files: readonly FileReport[];
  readonly stopCount: number;
  readonly tripCount: number;
  readonly #pathsFile: string | null;
  readonly #hasBundle: boolean;
  #isOverWater: ((from: Position, to: Position) => boolean) | null = null;
  readonly #maxMs: number;
  readonly #texts: string[] = [];
  readonly #textBytes: Buffer;
  readonly #tripIdBytes: Buffer;
  #membersOf: (stopId: string) => readonly string[] = () => [];
  readonly #routes: TimetableRoute[] = [];
  readonly #routesById = new Map<string, number>();
  readonly #modesOfBits: (readonly Mode[])[] = [];
  readonly #coverage: ReadonlyMap<FileId, readonly [first: number, last: number]>;

  /** `pathsFile` is the path file written with it. Throws `NotATimetable`. */
  constructor(packed: SharedArrayBuffer, pathsFile: string | null = null) {
    const { about, sections } = openSections(packed);
    this.packed = packed;
    this.#pathsFile = pathsFile;
    this.sections = sections;
    this.importedAt = about.importedAt;
    this.files = about.files;
    this.#hasBundle = about.files.some(({ file }) => SCHEDULE_FILES[file].isBundle);
    this.stopCount = sections.stopId.length;
    this.tripCount = sections.tripStart.length;
    this.#maxMs = about.maxSeconds * SECOND_MS;
    this.#textBytes = bufferOf(sections.textBytes);
    this.#tripIdBytes = bufferOf(sections.tripIdBytes);
    this.#coverage = new Map(
      about.files.map(({ file, firstDay, lastDay }) => [
        file,
        [toDayNumber(firstDay) ?? Number.POSITIVE_INFINITY, toDayNumber(lastDay) ?? Number.NEGATIVE_INFINITY],
      ]),
    );
  }

  stop(index: number): TimetableStop {
    const { stopId, stopName, stopPlatform, stopLat, stopLng, stopParent, stopFlags, stopModes } = this.sections;
    const parent = stopParent.valueAt(index);
    const wheelchair = stopFlags[index] || stopFlags[parent] || 0;
    return {
      index,
      id: this.#text(stopId[index]),
      name: this.#text(stopName[index]),
      platform: this.#text(stopPlatform[index]) || null,
      lat: stopLat.valueAt(index),
      lng: stopLng.valueAt(index),
      parent: parent >= 0 ? parent : null,
      isWheelchairAccessible: fromFlag(wheelchair),
      modes: this.#modes(stopModes.valueAt(index)),
    };
  }

  /** Unlike `stop`, this reads no texts, which counts in searches of many stops. */
  positionOf(stop: number): Position {
    return [this.sections.stopLat.valueAt(stop), this.sections.stopLng.valueAt(stop)];
  }

  /** The modes that serve a stop, without its texts. */
  modesOf(stop: number): readonly Mode[] {
    return this.#modes(this.sections.stopModes.valueAt(stop));
  }

  findStop(id: string): number | null {
    for (const stop of candidatesOf(this.sections.stopSlots, hash32(id))) {
      if (this.#text(this.sections.stopId[stop]) === id) return stop;
    }
    return null;
  }

  getStop(id: string): number {
    const stop = this.findStop(id);
    if (stop === null) throw new Error(`the timetable has no stop ${id}`);
    return stop;
  }

  /**
   * The stops with the calls that form this stop's board: for a station or a platform the whole station, for a pole the pole
   * itself.
   */
  boardStops(index: number): readonly number[] {
    const { childStart, children } = this.sections;
    const station = this.stationOf(index);
    const stops = [station];
    // Not one `push` for all: a file may have more platforms in a station than a function takes arguments.
    for (const stop of stops) {
      for (const child of children.subarray(childStart[stop], childStart[stop + 1])) stops.push(child);
    }
    return this.#withMembers(this.stop(station).id, stops);
  }

  /** Like `boardStops`, by stop ID, which may be a group of poles (`G…`) that only the trip planner has. Empty if unknown. */
  boardStopsOf(stopId: string): readonly number[] {
    const index = this.findStop(stopId);
    return index === null ? this.#withMembers(stopId, []) : this.boardStops(index);
  }

  /**
   * Adds stops that only the trip planner assigns to a station: in the schedule, bus stands beside a station have no parent.
   */
  useMembers(membersOf: (stopId: string) => readonly string[]): void {
    this.#membersOf = membersOf;
  }

  #withMembers(stopId: string, stops: readonly number[]): readonly number[] {
    const members = this.#membersOf(stopId).flatMap((id) => this.findStop(id) ?? []);
    // The bundle's parents are newer than the trip planner's lists.
    const others = this.#hasBundle ? members.filter((stop) => this.sections.stopParent.valueAt(stop) < 0) : members;
    return others.length === 0 ? stops : [...new Set([...stops, ...others])];
  }

  /** The stop that names a board: the station of a platform, or the stop itself. */
  stationOf(index: number): number {
    let station = index;
    for (let parent = index; parent >= 0; parent = this.sections.stopParent.valueAt(parent)) station = parent;
    return station;
  }

  /** Stops and stations, nearest first. */
  near(lat: number, lng: number, metres: number): { index: number; metres: number }[] {
    // Searches slightly farther because the bounds are rounded.
    return this.inBox(boundsAround([lat, lng], metres * 1.001 + 1))
      .map((index) => ({ index, metres: distanceMetres([lat, lng], this.positionOf(index)) }))
      .filter((nearby) => nearby.metres <= metres)
      .sort((a, b) => a.metres - b.metres || a.index - b.index);
  }

  /** Stops and stations, unsorted. */
  inBox(bounds: Bounds): number[] {
    const { gridCell, gridStop, stopLat, stopLng } = this.sections;
    const { south, west, north, east } = bounds;
    const columns = cellOf(south, east) - cellOf(south, west);
    const stops: number[] = [];
    for (let cell = cellOf(south, west); cell <= cellOf(north, west); cell += CELLS_AROUND) {
      for (
        let at = firstFrom(0, gridCell.length, (at) => gridCell.valueAt(at) >= cell);
        gridCell.valueAt(at) <= cell + columns;
        at++
      ) {
        const stop = gridStop.valueAt(at);
        if (isWithin(bounds, stopLat.valueAt(stop), stopLng.valueAt(stop))) stops.push(stop);
      }
    }
    return stops;
  }

  /**
   * Planned departures (boarding allowed, not the last call) or arrivals (alighting allowed, not the first call) with `from` <=
   * plannedAt < `until`, sorted by time.
   */
  departures(stops: readonly number[], from: number, until: number, options: ScanOptions = {}): CallRef[] {
    return [...this.#scan(stops, from, until, options)].sort(
      (a, b) => a.plannedAt - b.plannedAt || a.trip - b.trip || a.position - b.position,
    );
  }

  /** Whether a straight walk crosses the path of a ferry. */
  isOverWater(from: Position, to: Position): boolean {
    this.#isOverWater ??= createWater(this.sections);
    return this.#isOverWater(from, to);
  }

  vehicleAccess(trip: number): VehicleAccess {
    return unpackAccess(this.sections.tripFlags.valueAt(trip));
  }

  /** The seconds between the vehicles of a trip without fixed times; null if its times are fixed. */
  headwayOf(trip: number): number | null {
    return this.sections.tripHeadway[trip] || null;
  }

  /**
   * How full the vehicle usually is when it leaves a call on this day: 1 many seats, 2 few seats, 3 standing only; null if
   * unknown.
   */
  usualLoad({ trip, day, position }: CallPosition): number | null {
    const { tripLoads, loads } = this.sections;
    const first = tripLoads.valueAt(trip);
    const week = first === 0 ? 0 : loads.valueAt(first - 1 + position);
    return (week >> (2 * weekdayOf(day))) & 3 || null;
  }

  trip(index: number): TimetableTrip {
    const { tripHeadsign } = this.sections;
    return {
      ...this.#routeOfTrip(index),
      tripId: this.tripIdOf(index),
      headsign: this.#text(tripHeadsign[index]),
      isWheelchairAccessible: this.vehicleAccess(index).wheelchairs,
    };
  }

  calls(trip: number, day: number): PlannedCall[] {
    const { length } = this.stopsOf(this.patternOf(trip));
    return Array.from({ length }, (_, position) => this.callAt({ trip, day, position }));
  }

  callAt({ trip, day, position }: CallPosition): PlannedCall {
    const { tripStart, tripArrivals, tripDepartures, offsets, patternCalls } = this.sections;
    const { callStop, callFlags } = this.sections;
    const call = patternCalls.valueAt(this.patternOf(trip)) + position;
    const start = toMoment(day, tripStart.valueAt(trip));
    const flags = callFlags.valueAt(call);
    return {
      stop: callStop.valueAt(call),
      arrivesAt: start + int32At(offsets, tripArrivals.valueAt(trip) + position) * SECOND_MS,
      departsAt: start + int32At(offsets, tripDepartures.valueAt(trip) + position) * SECOND_MS,
      mayBoard: (flags & MAY_BOARD) !== 0,
      mayAlight: (flags & MAY_ALIGHT) !== 0,
      mustBookToBoard: (flags & BOOK_TO_BOARD) !== 0,
      mustBookToAlight: (flags & BOOK_TO_ALIGHT) !== 0,
      headsign: this.headsignAt({ trip, position }),
    };
  }

  headsignAt({ trip, position }: { trip: number; position: number }): string {
    const { callHeadsign, patternCalls, tripHeadsign } = this.sections;
    return this.#text(callHeadsign[patternCalls.valueAt(this.patternOf(trip)) + position] || tripHeadsign[trip]);
  }

  /** The pattern of a trip. Trips of a pattern share their route and sequence of stops. */
  patternOf(trip: number): number {
    return this.sections.tripPattern.valueAt(trip);
  }

  /** The patterns that call at a stop. A pattern that calls twice is listed twice. */
  patternsAt(stop: number): Uint32Column {
    const { visitStart, visitPattern } = this.sections;
    return visitPattern.subarray(visitStart[stop], visitStart[stop + 1]);
  }

  stopsOf(pattern: number): Uint32Column {
    const { callStop, patternCalls } = this.sections;
    return callStop.subarray(patternCalls[pattern], patternCalls[pattern + 1]);
  }

  /** Reads the path between two calls of a trip from disk; null if unknown. */
  async loadPath(trip: number, range: { first: number; last: number }): Promise<Position[] | null> {
    const { pathStart, pathEnd } = this.sections;
    const pattern = this.patternOf(trip);
    const [start, end] = [pathStart.valueAt(pattern), pathEnd.valueAt(pattern)];
    if (this.#pathsFile === null || start === end) return null;
    return loadPath(this.#pathsFile, { start, end, calls: this.stopsOf(pattern).length }, range);
  }

  routeOf(pattern: number): TimetableRoute {
    return this.routeAt(this.sections.patternRoute.valueAt(pattern));
  }

  /** The trips with this ID; if none has it, those whose ID differs only in its date. Sorted by index. */
  listTripsBetween(tripId: string, files?: readonly FileId[]): number[] {
    const { tripSlots, datelessSlots } = this.sections;
    const find = (slots: Uint32Column, id: string, idOf: (trip: number) => string) =>
      [...candidatesOf(slots, hash32(id))]
        .filter((trip) => idOf(trip) === id && (!files || files.includes(this.#routeOfTrip(trip).file)))
        .sort((a, b) => a - b);
    const trips = find(tripSlots, tripId, (trip) => this.tripIdOf(trip));
    if (trips.length > 0) return trips;
    return find(datelessSlots, withoutDate(tripId), (trip) => withoutDate(this.tripIdOf(trip)));
  }

  /** The route with this `route_id`, from the first of these files that has it. */
  findRoute(routeId: string | null, files: readonly FileId[]): TimetableRoute | null {
    const route = this.findRouteIndex(routeId, files);
    return route === null ? null : this.routeAt(route);
  }

  findRouteIndex(routeId: string | null, files: readonly FileId[]): number | null {
    if (this.#routesById.size === 0) {
      for (let route = 0; route < this.sections.routes.length / ROUTE.length; route++) {
        const { file, routeId } = this.routeAt(route);
        this.#routesById.set(`${file} ${routeId}`, route);
      }
    }
    const [route] = files.flatMap((file) => this.#routesById.get(`${file} ${routeId}`) ?? []);
    return route ?? null;
  }

  routeAt(index: number): TimetableRoute {
    const cached = this.#routes[index];
    if (cached) return cached;
    const numbers = this.sections.routes.subarray(index * ROUTE.length, (index + 1) * ROUTE.length);
    const text = (field: keyof typeof ROUTE) => this.#text(numbers[ROUTE[field]]);
    const [mode, shortName] = [MODES[numbers.valueAt(ROUTE.mode)] as Mode, text('shortName')];
    const route: TimetableRoute = {
      file: text('file') as FileId,
      routeId: text('id'),
      route: shortName,
      mode,
      lineId: lineIdOf({ mode, route: shortName, agencyId: text('agencyId') }),
      lineName: text('lineName'),
      longName: text('longName'),
      operator: text('operator'),
      network: numbers[ROUTE.network] ? numbers.valueAt(ROUTE.network) - 1 : null,
    };
    this.#routes[index] = route;
    return route;
  }

  runsOn(trip: number, day: number): boolean {
    return this.#isServiceOn(this.sections.tripService.valueAt(trip), day);
  }

  /** For each service, 1 if its trips run on the day. */
  servicesOn(day: number): Uint8Array {
    return Uint8Array.from(this.sections.serviceFirst, (_, service) => (this.#isServiceOn(service, day) ? 1 : 0));
  }

  #isServiceOn(service: number, day: number): boolean {
    const { serviceFirst, serviceStart, serviceBits } = this.sections;
    const since = day - serviceFirst.valueAt(service);
    const at = serviceStart.valueAt(service) + (since >> 3);
    const isWithin = since >= 0 && at < serviceStart.valueAt(service + 1);
    return isWithin && (serviceBits.valueAt(at) & (1 << (since & 7))) !== 0;
  }

  /** The service days on which the trip has a call within a day of this time. */
  daysOf(trip: number, time: number): number[] {
    const { tripStart } = this.sections;
    const start = tripStart.valueAt(trip) * SECOND_MS;
    const end = start + this.#lastOffset(trip) * SECOND_MS;
    return this.#daysWithin(time - DAY_MS, time + DAY_MS)
      .filter((day) => {
        const dayStart = serviceDayStart(day);
        return dayStart + start <= time + DAY_MS && dayStart + end >= time - DAY_MS && this.runsOn(trip, day);
      })
      .sort((a, b) => a - b);
  }

  /**
   * The next trip of the same block on this service day, which the vehicle makes with its riders still on board; null if there is
   * none. The trips may have different services. The next one starts strictly later, so that following a block ends: a file may
   * have trips that take no time and lead in a circle.
   */
  nextTrip(trip: number, day: number): number | null {
    const { tripBlock, blockStart, blockTrips, tripStart, tripPattern, patternCalls, callStop } = this.sections;
    const block = tripBlock.valueAt(trip);
    if (block === 0) return null;
    const start = tripStart.valueAt(trip);
    const end = start + this.#lastOffset(trip);
    const pattern = tripPattern.valueAt(trip);
    const stop = callStop.valueAt(patternCalls.valueAt(pattern + 1) - 1);
    const startAt = (at: number) => tripStart.valueAt(blockTrips.valueAt(at));
    const earliest = Math.max(start + 1, end - MAX_OVERLAP_SECONDS);
    const last = blockStart.valueAt(block + 1);
    let overlapping: number | null = null;
    for (
      let at = firstFrom(blockStart.valueAt(block), last, (one) => startAt(one) >= earliest);
      at < last && startAt(at) - end <= MAX_STAND_SECONDS;
      at++
    ) {
      const next = blockTrips.valueAt(at);
      const begins = callStop.valueAt(patternCalls.valueAt(tripPattern.valueAt(next)));
      if (!this.#isSameStand(stop, begins) || !this.runsOn(next, day)) continue;
      if (startAt(at) >= end) return next;
      overlapping = next;
    }
    return overlapping;
  }

  #isSameStand(stop: number, other: number): boolean {
    return stop === other || distanceMetres(this.positionOf(stop), this.positionOf(other)) <= SAME_STAND_METRES;
  }

  /** The stops from which a vehicle may start its next trip after ending one at this stop, itself included. */
  standsAround(stop: number): number[] {
    return this.near(...this.positionOf(stop), SAME_STAND_METRES).map(({ index }) => index);
  }

  /** Whether every file that serves these stops with these modes covers the service days of this time range. */
  covers(stops: readonly number[], from: number, until: number, modes: readonly Mode[] = MODES): boolean {
    return this.filesLackingDays(stops, from, until, modes).length === 0;
  }

  /** The files that serve these stops with these modes but lack a service day of this time range. */
  filesLackingDays(
    stops: readonly number[],
    from: number,
    until: number,
    modes: readonly Mode[] = MODES,
  ): readonly FileId[] {
    const days = this.#daysWithin(from - NIGHT_MS, until, DAY_MS - 1);
    return this.filesAt(stops, modes).filter((file) => days.some((day) => !this.hasDay(file, day)));
  }

  /** Whether the file covers the service day; false for a file that the timetable lacks. */
  hasDay(file: FileId, day: number): boolean {
    const [first, last] = this.#coverage.get(file) ?? [0, -1];
    return day >= first && day <= last;
  }

  /**
   * The day, as `YYYYMMDD`, on which the first of these files ends; null without files, or if a file is missing or has no valid
   * days.
   */
  lastDay(files: readonly FileId[] = this.files.map(({ file }) => file)): string | null {
    const day = Math.min(...files.map((file) => this.#coverage.get(file)?.[1] ?? Number.NEGATIVE_INFINITY));
    return Number.isFinite(day) ? toDate(day) : null;
  }

  /** The files of the trips that call at these stops. */
  filesAt(stops: readonly number[], modes: readonly Mode[] = MODES): readonly FileId[] {
    const { visitStart, visitPattern, patternRoute, routes } = this.sections;
    const bits = bitsOf(modes);
    /** The files, each as the number of its name among the texts. */
    const files = new Set<number>();
    for (const stop of new Set(stops)) {
      for (let visit = visitStart.valueAt(stop); visit < visitStart.valueAt(stop + 1); visit++) {
        const route = patternRoute.valueAt(visitPattern.valueAt(visit)) * ROUTE.length;
        if (bits & (1 << routes.valueAt(route + ROUTE.mode))) files.add(routes.valueAt(route + ROUTE.file));
      }
    }
    return Array.from(files, (file) => this.#text(file) as FileId);
  }

  /** The modes of departures in this time range. */
  modesAt(stops: readonly number[], from: number, until: number): Mode[] {
    return MODES.filter((mode) => !this.#scan(stops, from, until, { modes: [mode] }).next().done);
  }

  /** The lines of departures in this time range, lines with most departures first. */
  linesAt(stops: readonly number[], from: number, until: number): TimetableLine[] {
    const lines = new Map<
      string,
      { line: Omit<TimetableLine, 'headsigns'>; count: number; headsigns: Map<string, number> }
    >();
    for (const ref of this.#scan(stops, from, until)) {
      const { lineId, route, mode, lineName, network } = this.#routeOfTrip(ref.trip);
      const key = `${lineId}\n${lineName}\n${network}`;
      const line = lines.get(key) ?? {
        line: { lineId, route, mode, lineName, network },
        count: 0,
        headsigns: new Map(),
      };
      lines.set(key, line);
      const headsign = this.headsignAt(ref);
      line.count++;
      line.headsigns.set(headsign, (line.headsigns.get(headsign) ?? 0) + 1);
    }
    return [...lines.values()]
      .sort((a, b) => b.count - a.count)
      .map(({ line, headsigns }) => ({
        ...line,
        headsigns: [...headsigns].sort(([, one], [, other]) => other - one).map(([text]) => text),
      }));
  }

  /** Unsorted departures or arrivals. Trips of a pattern are sorted by start, so their calls are nearly sorted too. */
  *#scan(stops: readonly number[], from: number, until: number, options: ScanOptions = {}): Generator<CallRef> {
    const { isArrival, acceptsRun } = options;
    const { patternTrips, callEarliest, callLatest, tripStart, tripArrivals, tripDepartures, offsets } = this.sections;
    const tripOffsets = isArrival ? tripArrivals : tripDepartures;
    const days = this.#daysWithin(from, until).map((day) => ({ day, dayStart: serviceDayStart(day) }));
    for (const { pattern, position, call } of this.#listVisits(stops, options)) {
      const firstTrip = patternTrips.valueAt(pattern);
      const endTrip = patternTrips.valueAt(pattern + 1);
      for (const { day, dayStart } of days) {
        const minSeconds = (from - dayStart) / SECOND_MS;
        const end = (until - dayStart) / SECOND_MS;
        const endStart = end - callEarliest.valueAt(call);
        const leastStart = minSeconds - callLatest.valueAt(call);
        if (tripStart.valueAt(endTrip - 1) < leastStart) continue;
        let trip = firstFrom(firstTrip, endTrip, (at) => tripStart.valueAt(at) >= leastStart);
        for (; trip < endTrip && tripStart.valueAt(trip) < endStart; trip++) {
          if (!this.runsOn(trip, day)) continue;
          const seconds = tripStart.valueAt(trip) + int32At(offsets, tripOffsets.valueAt(trip) + position);
          const plannedAt = dayStart + seconds * SECOND_MS;
          if (seconds < minSeconds || seconds >= end || acceptsRun?.(trip, day) === false) continue;
          yield { trip, day, position, plannedAt };
        }
      }
    }
  }

  /** The calls of patterns at these stops at which riders may board (or alight). */
  #listVisits(stops: readonly number[], { modes = MODES, isArrival = false, accepts }: ScanOptions) {
    const { visitStart, visitPattern, visitPosition, patternCalls, patternRoute, routes, callFlags } = this.sections;
    const allowed = isArrival ? MAY_ALIGHT : MAY_BOARD;
    const bits = bitsOf(modes);
    const visits: { pattern: number; position: number; call: number }[] = [];
    for (const stop of new Set(stops)) {
      for (let visit = visitStart.valueAt(stop); visit < visitStart.valueAt(stop + 1); visit++) {
        const pattern = visitPattern.valueAt(visit);
        const position = visitPosition.valueAt(visit);
        const call = patternCalls.valueAt(pattern) + position;
        if (isArrival ? position === 0 : call + 1 === patternCalls[pattern + 1]) continue;
        if ((callFlags.valueAt(call) & allowed) === 0) continue;
        const route = patternRoute.valueAt(pattern);
        if ((bits & (1 << routes.valueAt(route * ROUTE.length + ROUTE.mode))) === 0) continue;
        if (!accepts || accepts(pattern, position)) visits.push({ pattern, position, call });
      }
    }
    return visits;
  }

  /** The service days with calls in this time range. A day's calls end at most `maxMs` after its start. */
  #daysWithin(from: number, until: number, maxMs = this.#maxMs): number[] {
    const days: number[] = [];
    // No day begins more than eleven hours before midnight UTC.
    for (let day = Math.floor((until + 11 * HOUR_MS) / DAY_MS); serviceDayStart(day) + maxMs >= from; day--) {
      if (serviceDayStart(day) < until) days.push(day);
    }
    return days;
  }

  /** Seconds from the start of the trip to its last arrival. */
  #lastOffset(trip: number): number {
    const { tripPattern, patternCalls, tripArrivals, offsets } = this.sections;
    const pattern = tripPattern.valueAt(trip);
    const calls = patternCalls.valueAt(pattern + 1) - patternCalls.valueAt(pattern);
    return int32At(offsets, tripArrivals.valueAt(trip) + calls - 1);
  }

  #routeOfTrip(trip: number): TimetableRoute {
    return this.routeOf(this.patternOf(trip));
  }

  #modes(bits: number): readonly Mode[] {
    this.#modesOfBits[bits] ??= MODES.filter((_, mode) => bits & (1 << mode));
    return this.#modesOfBits[bits];
  }

  tripIdOf(trip: number): string {
    const { tripIdStart } = this.sections;
    return this.#tripIdBytes.toString('utf8', tripIdStart[trip], tripIdStart[trip + 1]);
  }

  /** Number 0 is the empty text, even in a section without entries. */
  #text(number = 0): string {
    const { textStart } = this.sections;
    this.#texts[number] ??= this.#textBytes.toString('utf8', textStart[number], textStart[number + 1]);
    return this.#texts[number];
  }
}

function bitsOf(modes: readonly Mode[]): number {
  return modes.reduce((bits, mode) => bits | (1 << MODES.indexOf(mode)), 0);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
