import { HOUR_MS } from '../core/clock.ts';
import { BOOK_TO_ALIGHT, BOOK_TO_BOARD, MAY_ALIGHT, MAY_BOARD } from '../timetable/call-flags.ts';
import { type FileId, SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import type { Timetable, TimetableRoute } from '../timetable/timetable.ts';
import type { CallState } from '../transit/departure.ts';
import { toOccupancy } from './occupancy.ts';
import type { FeedSourceId } from './polling/feed-source.ts';
import { CALL, type Rule } from './prediction/run-columns.ts';
import { identityOf, type Snapshot } from './snapshot.ts';

/** How far ahead feeds are used. Trains appear in their feed up to 510 minutes ahead. */
export const FEED_HORIZON_MS = 9 * HOUR_MS;

/** A call of a run today. Times are in milliseconds since 1970. */
export interface LiveCall {
  /** The position in the trip; -1 for a call that only the feed has. */
  position: number;
  /** The stop today, as an index of the timetable; -1 if the timetable lacks it. */
  stop: number;
  plannedStop: number;
  plannedArrivesAt: number;
  plannedDepartsAt: number;
  /** The best times: live if `isLive`, else planned. In order along the run. */
  arrivesAt: number;
  departsAt: number;
  isLive: boolean;
  /** Whether the vehicle does not stop there. */
  isSkipped: boolean;
  /** Whether the vehicle has left, according to the feed. */
  hasLeft: boolean;
  /** Whether the run ends there early today, or begins there late. */
  isEnd: boolean;
  isStart: boolean;
  mayBoard: boolean;
  mayAlight: boolean;
  mustBookToBoard: boolean;
  mustBookToAlight: boolean;
  /** The `OccupancyStatus` number of GTFS-realtime; null if unknown. */
  occupancy: number | null;
  rule: Rule;
  /** Its index in the snapshot; -1 for a run that no feed has. */
  index: number;
}

/** A run, apart from its calls. */
export interface RunFacts {
  /** The trip itself or, for a run that the timetable lacks, one with the same headsign and direction; -1 if there is none. */
  like: number;
  isCancelled: boolean;
  /** The snapshot that has the run and its index there; null for a run that no feed has. */
  source: { snapshot: Snapshot; run: number } | null;
}

/** A run on one day: as planned, or as the snapshot of a feed predicts it. */
export interface LiveRun extends RunFacts {
  /** -1 if the timetable lacks the trip. */
  trip: number;
  day: number;
  /** The identifier that feeds and the trip planner use. */
  tripId: string;
  route: TimetableRoute;
  calls: LiveCall[];
}

/**
 * The timetable with the newest trusted snapshot of each feed. It is immutable: a request uses one from beginning to end, so all
 * its live times belong together.
 */
export class LiveTimetable {
  readonly timetable: Timetable;
  readonly snapshots: readonly Snapshot[];
  readonly #byFile = new Map<FileId, Snapshot | null>();

  /** Snapshots of another timetable are left out. */
  constructor(timetable: Timetable, snapshots: readonly Snapshot[] = []) {
    this.timetable = timetable;
    this.snapshots = snapshots.filter(({ about }) => about.timetable === identityOf(timetable));
  }

  /** A copy with only these feeds. */
  only(sources: readonly FeedSourceId[]): LiveTimetable {
    return new LiveTimetable(
      this.timetable,
      this.snapshots.filter(({ source }) => sources.includes(source)),
    );
  }

  /** The snapshot with the runs of a file; null if there is none. */
  snapshotOf(file: FileId): Snapshot | null {
    let snapshot = this.#byFile.get(file);
    if (snapshot === undefined) {
      const feed = SCHEDULE_FILES[file].feed;
      snapshot = this.snapshots.find(({ source }) => source === feed) ?? null;
      this.#byFile.set(file, snapshot);
    }
    return snapshot;
  }

  /** Finds a run in the snapshots; null if none has it. */
  find(trip: number, day: number): LiveRun['source'] {
    if (this.snapshots.length === 0) return null;
    const snapshot = this.snapshotOf(this.timetable.routeOf(this.timetable.patternOf(trip)).file);
    const run = snapshot?.findRun(trip, day) ?? -1;
    return snapshot && run >= 0 ? { snapshot, run } : null;
  }

  /** The run of a trip on a service day on which it runs. */
  run(trip: number, day: number): LiveRun {
    const source = this.find(trip, day);
    if (source) return this.open(source);
    const { length } = this.timetable.stopsOf(this.timetable.patternOf(trip));
    return {
      trip,
      day,
      like: trip,
      tripId: this.timetable.tripIdOf(trip),
      route: this.timetable.routeOf(this.timetable.patternOf(trip)),
      isCancelled: false,
      source: null,
      calls: Array.from({ length }, (_, position) => this.plannedCall(trip, day, position)),
    };
  }

  /** When a run leaves its first stop and arrives at its last one, by its best times. */
  spanOf(trip: number, day: number): { from: number; until: number } {
    const source = this.find(trip, day);
    if (!source) {
      const last = this.timetable.stopsOf(this.timetable.patternOf(trip)).length - 1;
      const { departsAt } = this.timetable.callAt({ trip, day, position: 0 });
      return { from: departsAt, until: this.timetable.callAt({ trip, day, position: last }).arrivesAt };
    }
    const { snapshot, run } = source;
    const [first, end] = snapshot.callsOf(run);
    const { arrival, departure } = snapshot.sections;
    return {
      from: snapshot.momentOf(departure.valueAt(first)),
      until: snapshot.momentOf(arrival.valueAt(end - 1)),
    };
  }

  /** The runs with this identifier that the timetable lacks. */
  listAdded(tripId: string): LiveRun[] {
    return this.snapshots.flatMap((snapshot) => snapshot.listAdded(tripId).map((run) => this.open({ snapshot, run })));
  }

  /** The snapshot of a feed that cancels a run with this identifier, which the timetable lacks; null if none does. */
  findCancellation(tripId: string): Snapshot | null {
    return this.snapshots.find(({ about }) => about.cancelledIds.includes(tripId)) ?? null;
  }

  /** A run of a snapshot, with all its calls. */
  open({ snapshot, run }: NonNullable<LiveRun['source']>): LiveRun {
    const { runTrip, runDay } = snapshot.sections;
    const trip = runTrip.valueAt(run);
    const [first, end] = snapshot.callsOf(run);
    return {
      trip,
      day: runDay.valueAt(run),
      like: snapshot.likeOf(run),
      tripId: trip >= 0 ? this.timetable.tripIdOf(trip) : snapshot.addedId(run),
      route: this.routeOf(snapshot, run),
      isCancelled: snapshot.isCancelled(run),
      source: { snapshot, run },
      calls: Array.from({ length: end - first }, (_, index) => this.callOf(snapshot, trip, first + index)),
    };
  }

  /** A call of a snapshot. `trip` is the trip of its run; -1 if the timetable lacks it. */
  callOf(snapshot: Snapshot, trip: number, call: number): LiveCall {
    const { sections } = snapshot;
    const state = sections.state.valueAt(call);
    const position = sections.position.valueAt(call);
    const stop = sections.stop.valueAt(call);
    const flags = sections.flags.valueAt(call);
    return {
      position,
      stop,
      plannedStop: position < 0 || trip < 0 ? stop : this.plannedStop(trip, position),
      plannedArrivesAt: snapshot.momentOf(sections.plannedArrival.valueAt(call)),
      plannedDepartsAt: snapshot.momentOf(sections.plannedDeparture.valueAt(call)),
      arrivesAt: snapshot.momentOf(sections.arrival.valueAt(call)),
      departsAt: snapshot.momentOf(sections.departure.valueAt(call)),
      isLive: (state & CALL.live) !== 0,
      isSkipped: (state & CALL.skipped) !== 0,
      hasLeft: (state & CALL.left) !== 0,
      isEnd: (state & CALL.end) !== 0,
      isStart: (state & CALL.start) !== 0,
      mayBoard: (flags & MAY_BOARD) !== 0,
      mayAlight: (flags & MAY_ALIGHT) !== 0,
      mustBookToBoard: (flags & BOOK_TO_BOARD) !== 0,
      mustBookToAlight: (flags & BOOK_TO_ALIGHT) !== 0,
      occupancy: snapshot.occupancyOf(call),
      rule: snapshot.ruleOf(call),
      index: call,
    };
  }

  /** The route of a run of a snapshot. */
  routeOf({ sections }: Snapshot, run: number): TimetableRoute {
    const trip = sections.runTrip.valueAt(run);
    if (trip < 0) return this.timetable.routeAt(sections.runRoute.valueAt(run));
    return this.timetable.routeOf(this.timetable.patternOf(trip));
  }

  /** The headsign of a run at a position. For a run without a similar trip in the timetable, the name of the stop where it ends. */
  headsignOf({ trip, like, calls }: LiveRun, position: number): string {
    const { timetable } = this;
    if (trip >= 0 && position >= 0) return timetable.headsignAt({ trip, position });
    if (like >= 0) return timetable.trip(like).headsign;
    const end = calls.findLast(({ isSkipped }) => !isSkipped) ?? calls.at(-1);
    return end ? timetable.stop(timetable.stationOf(end.stop)).name : '';
  }

  /** Like `headsignOf`, for a call of a snapshot. Opens the whole run only if necessary. */
  headsignAt(snapshot: Snapshot, run: number, call: number): string {
    const trip = snapshot.sections.runTrip.valueAt(run);
    const position = snapshot.sections.position.valueAt(call);
    if (trip >= 0 && position >= 0) return this.timetable.headsignAt({ trip, position });
    return this.headsignOf(this.open({ snapshot, run }), position);
  }

  /** The name of the stop where a run ends early today, at this call or after it; null if it does not. */
  earlyEndOf(snapshot: Snapshot, run: number, call: number): string | null {
    const [, end] = snapshot.callsOf(run);
    for (let later = call; later < end; later++) {
      const stop = snapshot.sections.stop.valueAt(later);
      if (snapshot.isCut(later, false) && stop >= 0) return this.timetable.stop(this.timetable.stationOf(stop)).name;
    }
    return null;
  }

  plannedStop(trip: number, position: number): number {
    return this.timetable.sections.callStop.valueAt(this.#plannedCall(trip, position));
  }

  /**
   * Whether riders may board (or alight) at a call of a snapshot, or might if the vehicle stopped there as planned.
   */
  mayUse({ snapshot, run }: NonNullable<LiveRun['source']>, call: number, isArrival: boolean): boolean {
    if (snapshot.mayUse(call, isArrival)) return true;
    const trip = snapshot.sections.runTrip.valueAt(run);
    const position = snapshot.sections.position.valueAt(call);
    if (trip < 0 || position < 0) return snapshot.isSkipped(call) || snapshot.hasLeft(call);
    const flags = this.timetable.sections.callFlags.valueAt(this.#plannedCall(trip, position));
    return (flags & (isArrival ? MAY_ALIGHT : MAY_BOARD)) !== 0;
  }

  #plannedCall(trip: number, position: number): number {
    return this.timetable.sections.patternCalls.valueAt(this.timetable.patternOf(trip)) + position;
  }

  /** A call of a run that no feed has. */
  plannedCall(trip: number, day: number, position: number): LiveCall {
    const { stop, arrivesAt, departsAt, headsign: _, ...allowed } = this.timetable.callAt({ trip, day, position });
    return {
      position,
      stop,
      plannedStop: stop,
      plannedArrivesAt: arrivesAt,
      plannedDepartsAt: departsAt,
      arrivesAt,
      departsAt,
      isLive: false,
      isSkipped: false,
      hasLeft: false,
      isEnd: false,
      isStart: false,
      ...allowed,
      occupancy: null,
      rule: 'planned',
      index: -1,
    };
  }
}

/** The identifier under which callers know a run; null for runs of the bundle, whose identifiers nobody else uses. */
export function publicTripId({ file }: { file: TimetableRoute['file'] }, tripId: string): string | null {
  return SCHEDULE_FILES[file].isBundle ? null : tripId;
}

/**
 * The state of a call on a board of departures or arrivals. `isHere`: whether the vehicle calls at a stop of the board today. All
 * decisions whether a call is live, cancelled or over are made here.
 */
export function stateOfCall(
  { isCancelled, source }: RunFacts,
  call: LiveCall,
  { isArrival, isHere = true }: { isArrival: boolean; isHere?: boolean },
): CallState {
  const isOver = isArrival ? call.isStart : call.isEnd;
  if (isCancelled || call.isSkipped || isOver || !isHere) return { kind: 'cancelled' };
  if (call.hasLeft) return { kind: 'departed' };
  if (!(isArrival ? call.mayAlight : call.mayBoard)) return { kind: 'cancelled' };
  if (!call.isLive || !source) return { kind: 'scheduled' };
  return {
    kind: 'live',
    leavesAt: isArrival ? call.arrivesAt : call.departsAt,
    occupancy: toOccupancy(call.occupancy),
    headerAt: source.snapshot.headerAt,
  };
}
