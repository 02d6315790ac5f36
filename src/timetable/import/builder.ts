import { Float64Column, Int32Column, Uint8Column, Uint32Column } from '../../core/columns.ts';
import { createNumbers, Numbers } from '../../core/growing-numbers.ts';
import { lineIdOf } from '../../transit/line-names.ts';
import { MODES, type Mode } from '../../transit/modes.ts';
import { isDated, parseTrainId, withoutDate } from '../../transit/trip-id.ts';
import { cellOf, fillSlots, hash32, packSections, ROUTE, type SectionNumbers } from '../packed-timetable.ts';
import { packPath } from '../paths.ts';
import { FILE_IDS, type FileId, SCHEDULE_FILES } from '../schedule-files.ts';
import { toDayNumber } from '../service-day.ts';
import { type StopName, splitStopName } from '../stop-names.ts';
import { createCells } from './cells.ts';
import { cutShape, partsAfloat } from './cut-shape.ts';
import { createFootpaths } from './footpaths.ts';
import { group, groupSorted, Lists, Texts } from './growing-arrays.ts';
import { orderByPlace } from './place-order.ts';
import type {
  FileReport,
  ScheduleCalls,
  ScheduleFile,
  ScheduleRoute,
  ScheduleService,
  ScheduleStop,
  ScheduleTrip,
} from './schedule-file.ts';

type WritePath = (record: Int32Column) => void;

/** Where the path of a pattern begins and ends in the file of paths. */
type PathRange = { start: number; end: number };

/** `rank` is the index of its file in `SCHEDULE_FILES`; the first file decides the name and position of a stop. */
type MergedStop = ScheduleStop & { rank: number };

/** The numbers that the items of a file have in the timetable. */
interface AddedParts {
  /** -1 for routes and stops of the bundle that no trip uses. */
  routes: Int32Column;
  stops: Int32Column;
  headsigns: Int32Column;
  report: FileReport;
}

interface LineSize {
  trips: number;
  patterns: number;
  /** The files that have trips of the line. */
  files: Set<FileReport>;
}

/** The service of a trip that has no day left. */
const GONE = -1;

/** The sections with one number for each trip. */
const TRIP = [
  'tripPattern',
  'tripStart',
  'tripHeadway',
  'tripArrivals',
  'tripDepartures',
  'tripLoads',
  'tripService',
  'tripHeadsign',
  'tripBlock',
  'tripFlags',
] as const;
/** The fields of each call of a pattern, in `#patterns` after the fields of `PATTERN`. */
const CALL = { stop: 0, flags: 1, headsign: 2, sequence: 3, length: 4 } as const;
const PATTERN = { route: 0, calls: 1, direction: 2, length: 3 } as const;

/**
 * Adds files one by one and keeps no reference to them. The bundle must be last, because it repeats trips of the other files. Its
 * parents are those of the trip planner, so they replace the parents of all other files.
 */
export class TimetableBuilder {
  readonly #reports: FileReport[] = [];
  readonly #texts = new Texts();
  readonly #tripIds = new Texts();
  readonly #stops: MergedStop[] = [];
  readonly #stopNumbers = new Map<string, number>();
  readonly #routes = new Numbers();
  /** Services whose `firstDay` is a multiple of 8 (see `align`). */
  readonly #services: ScheduleService[] = [];
  readonly #serviceNumbers = new Map<string, number>();
  readonly #blockNumbers = new Map<string, number>();
  /** By ID of the line in capitals. */
  readonly #lines = new Map<string, LineSize>();
  readonly #patterns = new Lists();
  /** Where each pattern begins in `#patterns`, and the pattern of each beginning. */
  readonly #patternStart = new Numbers();
  readonly #patternNumbers = new Map<number, number>();
  /** The path of each pattern; null if it has none. */
  readonly #paths: (PathRange | null)[] = [];
  /** The paths cut so far from the current file, by shape and stops. */
  readonly #pathsByStops = new Map<string, PathRange | null>();
  #pathsEnd = 0;
  readonly #ferryWays = new Lists();
  readonly #writePath: WritePath;
  readonly #offsets = new Lists();
  readonly #loads = new Lists();
  readonly #trips = createNumbers(TRIP);
  /**
   * Trains with IDs as in the suburban file, which may repeat trains of TrainLink. The map below has the services of each run
   * with an ID of TrainLink's own.
   */
  readonly #diesels: { run: string; trip: number; report: FileReport }[] = [];
  readonly #trainLinkRuns = new Map<string, Set<number>>();

  constructor(writePath: WritePath = () => {}) {
    this.#writePath = writePath;
  }

  /** Returns the report of the file, with what is left out because other files have it. */
  add(file: ScheduleFile): FileReport {
    const report = { ...file.report, leftOut: { ...file.report.leftOut } };
    this.#reports.push(report);
    const { isBundle } = SCHEDULE_FILES[file.id];
    const numbers = Int32Column.from(file.services, (service) => this.#addService(service));
    const services = Int32Column.from(file.trips, ({ service }) => numbers.valueAt(service));
    if (isBundle) this.#dropDoubles(file, services, report);
    const trips = file.trips.filter((_, index) => services[index] !== GONE);
    const usedRoutes = new Set(trips.map(({ route }) => route));
    const usedStops = isBundle ? stopsOf(file, trips, (id) => this.#stopNumbers.has(id)) : null;
    const added: AddedParts = {
      routes: Int32Column.from(file.routes, (route, index) =>
        isBundle && !usedRoutes.has(index) ? -1 : this.#addRoute(route, file.id),
      ),
      stops: this.#addStops(file, usedStops),
      headsigns: Int32Column.from(file.headsigns, (text) => this.#texts.add(text)),
      report,
    };
    const usedServices = Int32Column.from(services.filter((service) => service !== GONE));
    for (const [index, trip] of withoutLongBlocks(trips, report).entries()) {
      this.#addTrip(trip, usedServices.valueAt(index), file, added);
    }
    this.#pathsByStops.clear();
    return report;
  }

  finish({ importedAt }: { importedAt: number }): SharedArrayBuffer {
    for (const diesel of this.#diesels) this.#dropDiesel(diesel);
    const trips = this.#finishTrips();
    const { maxSeconds, sections: calls } = this.#finishCalls(trips);
    const stops = this.#finishStops(calls);
    const walks = createFootpaths({ ...calls, ...stops });
    const numbers = {
      ...trips,
      ...calls,
      ...stops,
      ...walks,
      ...createCells({ ...trips, ...calls, ...stops, ...walks }),
      serviceFirst: this.#services.map(({ firstDay }) => firstDay),
      serviceStart: startsOf(this.#services.map(({ days }) => days.length)),
      serviceBits: Buffer.concat(this.#services.map(({ days }) => days)),
      routes: this.#routes.used,
      // Must be last, because the others add texts.
      textBytes: this.#texts.bytes,
      textStart: this.#texts.start,
    } satisfies SectionNumbers;
    return packSections({ importedAt, files: this.#reports, maxSeconds }, numbers);
  }

  #addRoute(route: ScheduleRoute, file: FileId): number {
    const { id, shortName, lineName, mode, network, longName, agencyId, agencyName } = route;
    const add = (...texts: string[]) => {
      for (const text of texts) this.#routes.push(this.#texts.add(text));
    };
    add(file, id, shortName, lineName);
    this.#routes.push(MODES.indexOf(mode));
    this.#routes.push(network === null ? 0 : network + 1);
    add(longName, agencyId, agencyName);
    return this.#routes.length / ROUTE.length - 1;
  }

  /** Returns the number of each stop of a file, or -1 if it is not used. Stops near each other get numbers near each other. */
  #addStops({ id, stops }: ScheduleFile, used: ReadonlySet<number> | null): Int32Column {
    const numbers = new Int32Column(stops.length).fill(-1);
    for (const index of orderByPlace(stops)) {
      if (used?.has(index) !== false) numbers[index] = this.#addStop(stops[index] as ScheduleStop, id);
    }
    return numbers;
  }

  #addStop(stop: ScheduleStop, file: FileId): number {
    const rank = FILE_IDS.indexOf(file);
    const { isBundle } = SCHEDULE_FILES[file];
    const number = numberOf(this.#stopNumbers, stop.id, () => this.#stops.push({ ...stop, rank }));
    const mergedStop = this.#stops[number] as MergedStop;
    const [first, second] = mergedStop.rank <= rank ? [mergedStop, stop] : [stop, mergedStop];
    this.#stops[number] = {
      ...first,
      rank: Math.min(rank, mergedStop.rank),
      parentId: (isBundle ? stop.parentId : null) ?? first.parentId ?? second.parentId,
      platformCode: first.platformCode ?? second.platformCode,
      wheelchair: first.wheelchair || second.wheelchair,
    };
    return number;
  }

  #addService(service: ScheduleService): number {
    const aligned = align(service);
    const key = `${aligned.firstDay} ${Buffer.from(aligned.days).toString('base64')}`;
    return numberOf(this.#serviceNumbers, key, () => this.#services.push(aligned));
  }

  #addTrip(
    trip: ScheduleTrip,
    service: number,
    file: ScheduleFile,
    { routes, stops, headsigns, report }: AddedParts,
  ): void {
    const calls = file.calls.get(trip);
    const { count: callCount, stop, sequence, arrival, departure, flags, headsign } = calls;
    const route = file.routes[trip.route] as ScheduleRoute;
    const line = this.#lineOf(route);
    const start = departure.valueAt(0);
    const pattern = new Int32Column(PATTERN.length + callCount * CALL.length);
    const arrivals = new Int32Column(callCount);
    const departures = new Int32Column(callCount);
    pattern[PATTERN.route] = routes.valueAt(trip.route);
    pattern[PATTERN.calls] = callCount;
    pattern[PATTERN.direction] = trip.direction;
    for (let call = 0, at: number = PATTERN.length; call < callCount; call++, at += CALL.length) {
      const ownHeadsign = headsign.valueAt(call);
      pattern[at + CALL.stop] = stops.valueAt(stop.valueAt(call));
      pattern[at + CALL.flags] = flags.valueAt(call);
      pattern[at + CALL.sequence] = sequence.valueAt(call);
      pattern[at + CALL.headsign] = ownHeadsign < 0 ? 0 : headsigns.valueAt(ownHeadsign);
      arrivals[call] = arrival.valueAt(call) - start;
      departures[call] = departure.valueAt(call) - start;
    }
    const patternStart = this.#patterns.add(pattern);
    const isNew = !this.#patternNumbers.has(patternStart);
    const excess = findExcess(line, isNew);
    if (excess !== null) {
      leaveOut(report, `trip of a line with more than ${excess}`, 1);
      return;
    }
    if (isNew) line.patterns++;
    line.trips++;
    line.files.add(report);
    const number = this.#trips.tripPattern.length;
    this.#tripIds.append(trip.id);
    const patternNumber = numberOf(this.#patternNumbers, patternStart, () => {
      this.#patternStart.push(patternStart);
      return this.#patternStart.length;
    });
    this.#paths[patternNumber] ??= this.#addPath(trip, calls, file);
    this.#trips.tripPattern.push(patternNumber);
    this.#trips.tripStart.push(start + trip.shift);
    this.#trips.tripHeadway.push(trip.headway);
    this.#trips.tripArrivals.push(this.#offsets.add(arrivals));
    this.#trips.tripDepartures.push(this.#offsets.add(departures));
    const loads = calls.load.subarray(0, callCount);
    this.#trips.tripLoads.push(loads.some((load) => load !== 0) ? this.#loads.add(loads) + 1 : 0);
    this.#trips.tripService.push(service);
    this.#trips.tripHeadsign.push(this.#texts.add(trip.headsign));
    const { blockId } = trip;
    const addBlock = () => this.#blockNumbers.size + 2;
    this.#trips.tripBlock.push(blockId ? numberOf(this.#blockNumbers, `${file.id} ${blockId}`, addBlock) : 0);
    this.#trips.tripFlags.push(trip.access);
    this.#recordTrain(trip, number, { file, report });
  }

  /** TrainLink's trains have two IDs: one of Sydney's trains, and one of its own with a date. The bundle may have both. */
  #recordTrain(
    { id, route }: ScheduleTrip,
    trip: number,
    { file, report }: { file: ScheduleFile; report: FileReport },
  ) {
    const { id: routeId, mode } = file.routes[route] as ScheduleRoute;
    const { isBundle } = SCHEDULE_FILES[file.id];
    const { number: run, isDiesel } = parseTrainId(id);
    if (file.id === 'nswtrains' || (isBundle && mode === 'train' && isDated(id))) {
      const service = this.#trips.tripService.values.valueAt(trip);
      this.#trainLinkRuns.set(run, (this.#trainLinkRuns.get(run) ?? new Set()).add(service));
    } else if ((file.id === 'sydneytrains' || isBundle) && (routeId.startsWith('CTY') || isDiesel)) {
      this.#diesels.push({ run, trip, report });
    }
  }

  #lineOf({ mode, shortName, agencyId }: ScheduleRoute): LineSize {
    const id = lineIdOf({ mode, route: shortName, agencyId }).toUpperCase();
    const line = this.#lines.get(id) ?? { trips: 0, patterns: 0, files: new Set() };
    this.#lines.set(id, line);
    return line;
  }

  /** Cuts the shape of a trip at its calls, unless a trip with the same shape and stops was cut before. */
  #addPath(trip: ScheduleTrip, calls: ScheduleCalls, { shapes, stops, routes }: ScheduleFile): PathRange | null {
    const { shape, callCount } = trip;
    if (shape < 0) return null;
    const called = calls.stop.subarray(0, callCount);
    const key = `${shape} ${called.join()}`;
    const cachedPath = this.#pathsByStops.get(key);
    if (cachedPath !== undefined) return cachedPath;
    const micro = (of: 'lat' | 'lng') => Int32Column.from(called, (stop) => Math.round((stops[stop]?.[of] ?? 0) * 1e6));
    const distance = calls.distance.subarray(0, callCount);
    const path = cutShape(shapes, shape, { lat: micro('lat'), lng: micro('lng'), distance });
    const start = this.#pathsEnd;
    if (path) {
      const record = packPath(path);
      this.#writePath(record);
      const isFerry = routes[trip.route]?.mode === 'ferry';
      const isDrawn = shapes.pointsRead.valueAt(shape) >= DRAWN_POINTS_PER_CALL * callCount;
      if (isFerry && isDrawn) for (const part of partsAfloat(path)) this.#ferryWays.add(Int32Column.from(part));
      this.#pathsEnd += record.byteLength;
    }
    const added = path && { start, end: this.#pathsEnd };
    this.#pathsByStops.set(key, added);
    return added;
  }

  /** Drops the days of a train that also has an ID of TrainLink's own, because that one has exact times. */
  #dropDiesel({ run, trip, report }: { run: string; trip: number; report: FileReport }): void {
    const exact = this.#trainLinkRuns.get(run);
    if (!exact) return;
    const { values } = this.#trips.tripService;
    const others = [...exact].map((number) => this.#services[number] as ScheduleService);
    values[trip] = this.#withoutDays(values.valueAt(trip), others);
    if (values[trip] === GONE) leaveOut(report, 'double', 1);
  }

  /**
   * Removes a trip of the bundle on the days on which another file has a trip with its ID. Files of another publication may have
   * other IDs: if most IDs of a line are unknown, all its trips are removed on the days of the other files that have the line.
   */
  #dropDoubles({ routes, trips }: ScheduleFile, services: Int32Column, report: FileReport): void {
    const known = this.#servicesOfRuns();
    const lines = routes.map((route) => this.#lineOf(route));
    const compared = new Map(lines.map((line) => [line, { days: [...line.files].map(daysOf), trips: 0, found: 0 }]));
    const keyOf = ({ id, route }: ScheduleTrip) => runKeyOf(id, (routes[route] as ScheduleRoute).mode);
    const lineOf = ({ id, route }: ScheduleTrip) =>
      (isDated(id) ? null : compared.get(lines[route] as LineSize)) ?? null;
    for (const [index, trip] of trips.entries()) {
      const line = lineOf(trip);
      const service = this.#services[services.valueAt(index)] as ScheduleService;
      if (!line?.days.some((days) => overlaps(service, days))) continue;
      line.trips++;
      if (known.has(keyOf(trip))) line.found++;
    }
    for (const [index, trip] of trips.entries()) {
      const line = lineOf(trip);
      const same = known.get(keyOf(trip));
      const others = [...(same ?? [])].map((number) => this.#services[number] as ScheduleService);
      if (line && 2 * line.found < line.trips) others.push(...line.days);
      if (others.length === 0) continue;
      services[index] = this.#withoutDays(services.valueAt(index), others);
      if (services[index] === GONE) leaveOut(report, same ? 'double' : 'trip of a line of another file', 1);
    }
  }

  /** The services of all trips so far, by `runKeyOf`. */
  #servicesOfRuns(): Map<string, Set<number>> {
    const services = new Map<string, Set<number>>();
    const { tripService, tripPattern } = this.#trips;
    for (let trip = 0; trip < tripService.length; trip++) {
      const route = this.#ofPattern(tripPattern.values.valueAt(trip), PATTERN.route);
      const mode = MODES[this.#modeOf(route)] as Mode;
      // The first text is the empty one.
      const key = runKeyOf(this.#tripIds.get(trip + 1), mode);
      services.set(key, (services.get(key) ?? new Set()).add(tripService.values.valueAt(trip)));
    }
    return services;
  }

  /** Removes the days of other services from a service. Returns the number of what remains; `GONE` if no day does. */
  #withoutDays(service: number, others: readonly ScheduleService[]): number {
    const { firstDay, days } = this.#services[service] as ScheduleService;
    const left = new Uint8Column(days);
    for (const other of others) {
      const shift = (firstDay - other.firstDay) / 8;
      for (let at = 0; at < left.length; at++) left[at] = left.valueAt(at) & ~(other.days[at + shift] ?? 0);
    }
    return left.some((bits) => bits !== 0) ? this.#addService({ firstDay, days: left }) : GONE;
  }

  /** Returns the trips, sorted by pattern and start. */
  #finishTrips() {
    const { tripPattern, tripStart, tripService } = this.#trips;
    const { start: patternTrips, members: order } = groupSorted(
      this.#patternStart.length,
      tripPattern.length,
      (trip) => (tripService.values[trip] === GONE ? -1 : tripPattern.values.valueAt(trip)),
      (trip) => tripStart.values.valueAt(trip),
    );
    const inOrder = ({ values }: Numbers) => Int32Column.from(order, (trip) => values.valueAt(trip));
    const trips = Object.fromEntries(TRIP.map((name) => [name, inOrder(this.#trips[name])])) as Record<
      (typeof TRIP)[number],
      Int32Column
    >;
    const blocks = groupSorted(
      this.#blockNumbers.size + 1,
      order.length,
      (trip) => trips.tripBlock[trip] || -1,
      (trip) => trips.tripStart.valueAt(trip),
    );
    const ids = new Texts();
    const hashes = new Uint32Column(order.length);
    const dateless = { trips: new Numbers(), hashes: new Numbers() };
    for (const [trip, added] of order.entries()) {
      // The first text is the empty one.
      const id = this.#tripIds.get(added + 1);
      ids.append(id);
      hashes[trip] = hash32(id);
      if (!isDated(id)) continue;
      dateless.trips.push(trip);
      dateless.hashes.push(hash32(withoutDate(id)));
    }
    return {
      tripIdBytes: ids.bytes,
      tripIdStart: ids.start.subarray(1),
      ...trips,
      offsets: this.#offsets.numbers.used,
      loads: this.#loads.numbers.used,
      tripSlots: fillSlots(hashes),
      datelessSlots: fillSlots(Uint32Column.from(dateless.hashes.used), dateless.trips.used),
      patternTrips,
      blockStart: blocks.start,
      blockTrips: blocks.members,
    };
  }

  /** Returns the calls of the patterns, and the calls at each stop. */
  #finishCalls(trips: FinishedTrips) {
    const ofPatterns = (field: number) =>
      Int32Column.from(this.#patternStart.used, (_, pattern) => this.#ofPattern(pattern, field));
    const patternCalls = startsOf(ofPatterns(PATTERN.calls));
    const callPattern = new Int32Column(patternCalls.valueAt(patternCalls.length - 1));
    for (const pattern of this.#patternStart.used.keys()) {
      callPattern.fill(pattern, patternCalls[pattern], patternCalls[pattern + 1]);
    }
    const positionOf = (call: number) => call - patternCalls.valueAt(callPattern.valueAt(call));
    const ofCalls = (field: number) =>
      Uint32Column.from(callPattern, (pattern, call) =>
        this.#ofPattern(pattern, PATTERN.length + positionOf(call) * CALL.length + field),
      );
    const callStop = ofCalls(CALL.stop);
    // All trips of a pattern may have been duplicates.
    const isEmpty = (pattern: number) => trips.patternTrips[pattern] === trips.patternTrips[pattern + 1];
    const visits = group(this.#stops.length, callStop.length, (call) =>
      isEmpty(callPattern.valueAt(call)) ? -1 : callStop.valueAt(call),
    );
    const { maxSeconds, ...times } = buildCallTimes(patternCalls, trips);
    return {
      maxSeconds,
      sections: {
        patternRoute: Uint32Column.from(ofPatterns(PATTERN.route)),
        patternDirection: Uint8Array.from(ofPatterns(PATTERN.direction)),
        patternCalls,
        pathStart: Uint32Column.from(this.#paths, (path) => path?.start ?? 0),
        pathEnd: Uint32Column.from(this.#paths, (path) => path?.end ?? 0),
        ferryWays: this.#ferryWays.numbers.used,
        callStop,
        callSequence: ofCalls(CALL.sequence),
        callFlags: ofCalls(CALL.flags),
        callHeadsign: ofCalls(CALL.headsign),
        ...times,
        visitStart: visits.start,
        visitPattern: Uint32Column.from(visits.members, (call) => callPattern.valueAt(call)),
        visitPosition: visits.members.map(positionOf),
      },
    };
  }

  /** The mode of a route, as its index in `MODES`. */
  #modeOf(route: number): number {
    return this.#routes.values.valueAt(route * ROUTE.length + ROUTE.mode);
  }

  #ofPattern(pattern: number, field: number): number {
    return this.#patterns.numbers.values.valueAt(this.#patternStart.values.valueAt(pattern) + field);
  }

  #finishStops({ visitStart, visitPattern, patternRoute }: FinishedCalls) {
    const stops = this.#stops;
    const count = stops.length;
    const parents = this.#resolveParents();
    const names = new Map<number, StopName>();
    const nameOf = (stop: number): StopName => {
      const parent = parents.valueAt(stop);
      const name = names.get(stop) ?? splitStopName(stops[stop] as MergedStop, parent < 0 ? null : nameOf(parent).name);
      names.set(stop, name);
      return name;
    };
    const modes = new Uint8Column(count);
    for (let stop = 0; stop < count; stop++) {
      let bits = 0;
      for (let visit = visitStart.valueAt(stop); visit < visitStart.valueAt(stop + 1); visit++) {
        const route = patternRoute.valueAt(visitPattern.valueAt(visit));
        bits |= 1 << this.#modeOf(route);
      }
      for (let at = stop; at >= 0; at = parents.valueAt(at)) modes[at] = modes.valueAt(at) | bits;
    }
    const children = group(count, count, (stop) => parents.valueAt(stop));
    const cells = Uint32Column.from(stops, ({ lat, lng }) => cellOf(lat, lng));
    const grid = groupSorted(
      1,
      count,
      () => 0,
      (stop) => cells.valueAt(stop),
    ).members;
    return {
      stopId: stops.map(({ id }) => this.#texts.add(id)),
      stopName: stops.map((_, stop) => this.#texts.add(nameOf(stop).name)),
      stopPlatform: stops.map((_, stop) => this.#texts.add(nameOf(stop).platform ?? '')),
      stopLat: Float64Column.from(stops, ({ lat }) => lat),
      stopLng: Float64Column.from(stops, ({ lng }) => lng),
      stopParent: parents,
      childStart: children.start,
      children: children.members,
      stopFlags: stops.map(({ wheelchair }) => wheelchair),
      stopModes: modes,
      stopSlots: fillSlots(Uint32Column.from(stops, ({ id }) => hash32(id))),
      gridStop: grid,
      gridCell: Array.from(grid, (stop) => cells.valueAt(stop)),
    };
  }

  /** -1 if a stop has no parent, or its parents form a cycle. */
  #resolveParents(): Int32Column {
    const parents = Int32Column.from(this.#stops, ({ parentId }) => this.#stopNumbers.get(parentId ?? '') ?? -1);
    for (let stop = 0; stop < parents.length; stop++) {
      let at = stop;
      for (let levels = 0; at >= 0 && levels < MAX_LEVELS; levels++) at = parents.valueAt(at);
      if (at >= 0) parents[stop] = -1;
    }
    return parents;
  }
}

type FinishedTrips = { patternTrips: Uint32Column } & Record<
  'tripStart' | 'tripArrivals' | 'tripDepartures' | 'offsets',
  Int32Column
>;
type FinishedCalls = Record<'visitStart' | 'visitPattern' | 'patternRoute', Uint32Column>;

/** The start of each list if lists of these lengths are stored one after another. One more entry: the end of the last list. */
function startsOf(lengths: readonly number[] | Int32Column): Uint32Column {
  const starts = new Uint32Column(lengths.length + 1);
  for (const [at, length] of lengths.entries()) starts[at + 1] = starts.valueAt(at) + length;
  return starts;
}

/**
 * Finds the earliest and latest time at each call over the trips of its pattern, in seconds from their start, and the latest
 * time of all in seconds of the day.
 */
function buildCallTimes(
  patternCalls: Uint32Column,
  { patternTrips, tripStart, tripArrivals, tripDepartures, offsets }: FinishedTrips,
) {
  const callEarliest = new Int32Column(patternCalls.valueAt(patternCalls.length - 1));
  const callLatest = callEarliest.slice();
  let maxSeconds = 0;
  for (let pattern = 0; pattern < patternCalls.length - 1; pattern++) {
    const first = patternCalls.valueAt(pattern);
    for (let call = first; call < patternCalls.valueAt(pattern + 1); call++) {
      let [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let trip = patternTrips.valueAt(pattern); trip < patternTrips.valueAt(pattern + 1); trip++) {
        const arrival = offsets.valueAt(tripArrivals.valueAt(trip) + call - first);
        const departure = offsets.valueAt(tripDepartures.valueAt(trip) + call - first);
        earliest = Math.min(earliest, arrival, departure);
        latest = Math.max(latest, arrival, departure);
        maxSeconds = Math.max(maxSeconds, tripStart.valueAt(trip) + Math.max(arrival, departure));
      }
      callEarliest[call] = earliest;
      callLatest[call] = latest;
    }
  }
  return { callEarliest, callLatest, maxSeconds };
}

/**
 * The limits of one line, because its timetable of a day reads all of it. All lines of New South Wales together have 185,000
 * trips and 12,000 patterns.
 */
const MAX_LINE_TRIPS = 100_000;
const MAX_LINE_PATTERNS = 5000;

/** Which limit one more trip would exceed; null if none. */
function findExcess({ trips, patterns }: LineSize, isNewPattern: boolean): string | null {
  if (trips === MAX_LINE_TRIPS) return `${MAX_LINE_TRIPS} trips`;
  return isNewPattern && patterns === MAX_LINE_PATTERNS ? `${MAX_LINE_PATTERNS} patterns` : null;
}

/**
 * The limit of trips in a block, because searches follow a block trip by trip. A vehicle makes less than a hundred trips on a
 * day, but a block may be for many days.
 */
const MAX_BLOCK_TRIPS = 5000;

/** A shape with fewer points only connects the wharves and may cross land. */
const DRAWN_POINTS_PER_CALL = 4;

/** More levels than hub, station and platform mean that the parents form a cycle. */
const MAX_LEVELS = 4;

/** Returns the number of the item with this key. If it is new, `add` adds it and returns the new count. */
function numberOf<Key>(numbers: Map<Key, number>, key: Key, add: () => number): number {
  const number = numbers.get(key) ?? add() - 1;
  numbers.set(key, number);
  return number;
}

function leaveOut(report: FileReport, reason: string, count: number): void {
  report.leftOut[reason] = (report.leftOut[reason] ?? 0) + count;
}

/** Returns the trips. Those of blocks that are too long get no block. */
function withoutLongBlocks(trips: readonly ScheduleTrip[], report: FileReport): readonly ScheduleTrip[] {
  const counts = new Map<string | null, number>();
  for (const { blockId } of trips) counts.set(blockId, (counts.get(blockId) ?? 0) + 1);
  const long = [...counts.keys()].filter((id) => id !== null && (counts.get(id) ?? 0) > MAX_BLOCK_TRIPS);
  if (long.length === 0) return trips;
  leaveOut(report, `block of more than ${MAX_BLOCK_TRIPS} trips`, long.length);
  return trips.map((trip) => (long.includes(trip.blockId) ? { ...trip, blockId: null } : trip));
}

/**
 * The part of a trip ID that is the same in every publication and unique on a day: of a dated ID all but the date, of Sydney's
 * trains the run number.
 */
function runKeyOf(id: string, mode: Mode): string {
  return mode === 'train' && !isDated(id) ? `train ${parseTrainId(id).number}` : withoutDate(id);
}

/** The days that a file covers, whatever runs on them. */
function daysOf({ firstDay: first, lastDay: last }: FileReport): ScheduleService {
  const firstDay = toDayNumber(first) ?? 0;
  const count = Math.max(0, (toDayNumber(last) ?? 0) - firstDay + 1);
  const days = new Uint8Column(Math.ceil(count / 8)).fill(255);
  if (count % 8 > 0) days[days.length - 1] = 255 >> (8 - (count % 8));
  return align({ firstDay, days });
}

/** Whether two aligned services have a day in common. */
function overlaps({ firstDay, days }: ScheduleService, other: ScheduleService): boolean {
  const shift = (firstDay - other.firstDay) / 8;
  return days.some((bits, at) => (bits & (other.days[at + shift] ?? 0)) !== 0);
}

/** Returns the indices of the stops of these trips, of those that other files have, and of the stations of both. */
function stopsOf(
  { stops, calls }: ScheduleFile,
  trips: readonly ScheduleTrip[],
  isKnown: (stopId: string) => boolean,
): Set<number> {
  const used = new Set<number>();
  for (const trip of trips) {
    const { count, stop } = calls.get(trip);
    for (let call = 0; call < count; call++) used.add(stop.valueAt(call));
  }
  for (const [number, { id }] of stops.entries()) if (isKnown(id)) used.add(number);
  const numbers = new Map(stops.map(({ id }, number) => [id, number]));
  for (const number of used) {
    const parent = numbers.get(stops[number]?.parentId ?? '');
    if (parent !== undefined) used.add(parent);
  }
  return used;
}

/**
 * Returns the same days in bytes that begin at a multiple of eight, without empty ones at either end, so that equal services
 * have equal bytes.
 */
function align({ firstDay, days }: ScheduleService): ScheduleService {
  const shift = ((firstDay % 8) + 8) % 8;
  const shifted = new Uint8Column(days.length + 1);
  for (const [index, bits] of days.entries()) {
    shifted[index] = shifted.valueAt(index) | (bits << shift);
    shifted[index + 1] = bits >> (8 - shift);
  }
  const first = shifted.findIndex((bits) => bits !== 0);
  if (first < 0) return { firstDay: 0, days: new Uint8Column() };
  const last = shifted.findLastIndex((bits) => bits !== 0);
  return { firstDay: firstDay - shift + 8 * first, days: new Uint8Column(shifted.subarray(first, last + 1)) };
}
