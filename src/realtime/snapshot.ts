import { firstFrom } from '../core/binary-search.ts';
import { Int16Column, Int32Column, Uint8Column } from '../core/columns.ts';
import { placeSections, type SectionsOf } from '../core/sections.ts';
import { MAY_ALIGHT, MAY_BOARD } from '../timetable/call-flags.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { FeedSourceId } from './polling/feed-source.ts';
import { CALL, RULES, type Rule } from './prediction/run-columns.ts';

/*
 * The predicted runs of one publication of a feed, in one immutable buffer that the main thread and the search threads open
 * without copying. Indices of trips, stops and routes belong to one timetable. Times are in seconds after `base`, the header of
 * the feed.
 */

const SECTIONS = {
  /** The trip of each run, sorted by trip and day. Runs that the timetable lacks come last and have -1. */
  runTrip: Int32Column,
  /** The service day, in days since 1970; 0 for runs that the timetable lacks. */
  runDay: Int32Column,
  /** `RUN` bits. */
  runFlags: Uint8Column,
  /** For a run that the timetable lacks: the trip with the same headsign and direction; -1 if there is none. */
  runLike: Int32Column,
  /** The route of a run without a trip; -1 otherwise. */
  runRoute: Int32Column,
  /** The row of its trip in the feed; -1 for a run without an update, predicted because the vehicle's previous run is late. */
  runUpdate: Int32Column,
  /** The first call of each run, and the number of its calls. */
  firstCall: Int32Column,
  callCount: Int32Column,
  /** The stop of the call today; -1 if the timetable lacks it. */
  stop: Int32Column,
  /** The position of the call in the trip; -1 if it is not planned. */
  position: Int16Column,
  plannedArrival: Int32Column,
  plannedDeparture: Int32Column,
  /** The best times: live, else planned. In order along a run. */
  arrival: Int32Column,
  departure: Int32Column,
  /** `CALL` bits. */
  state: Uint8Column,
  /** The index of the rule in `RULES`. */
  rule: Uint8Column,
  /** Whether riders may board and alight, as in the timetable or the feed; 0 where the vehicle does not stop or has left. */
  flags: Uint8Column,
  /** The `OccupancyStatus` number of GTFS-realtime plus 1; 0 if unknown. */
  occupancy: Uint8Column,
  /** Calls by stop: the stops in order, where the calls of each begin in `visits`, and the calls. */
  visitStop: Int32Column,
  visitStart: Int32Column,
  visits: Int32Column,
  /** The run of each entry of `visits`. */
  visitRun: Int32Column,
  /** Loads of carriages by call: the calls in order, where the loads of each begin, and the loads, encoded as in `occupancy`. */
  loadCall: Int32Column,
  loadStart: Int32Column,
  loads: Uint8Column,
} as const;

export type SnapshotSections = SectionsOf<typeof SECTIONS>;
export type SnapshotNumbers = { [Name in keyof typeof SECTIONS]: ArrayLike<number> };
type SnapshotHeader = SnapshotAbout & { lengths: number[] };

/** Bits of `runFlags`. */
export const RUN = {
  cancelled: 1,
  /** The feed lists the calls; they may differ from those of the trip. */
  replaced: 2,
  /** At least one call is live. */
  live: 4,
} as const;

/** The trips and stop updates of a feed that are not understood: their number and the first examples, by reason. */
export type LeftOutOfFeed = Record<string, { count: number; examples: string[] }>;

/** What a snapshot says about itself, beside its runs. */
export interface SnapshotAbout {
  source: FeedSourceId;
  /** The header of the feed, in seconds since 1970. */
  base: number;
  /** The timetable that the indices belong to, named by `identityOf`. */
  timetable: string;
  /** The identifiers of the runs without a trip, in order. */
  addedIds: string[];
  /** The identifiers of cancelled trips that the timetable lacks, such as runs that the feed had added. */
  cancelledIds: string[];
  /** Number of the feed's trips with passengers that were looked up in the timetable, and how many were found. */
  compared: number;
  found: number;
  leftOut: LeftOutOfFeed;
}

/** Names a timetable: when it was imported, and its size. */
export function identityOf({ importedAt, tripCount, stopCount }: Timetable): string {
  return `${importedAt} ${tripCount} ${stopCount}`;
}

const HEADER_START = 4;
const MAX_ADDED_PER_LOOKUP = 8;

export function packSnapshot(about: SnapshotAbout, numbers: SnapshotNumbers): SharedArrayBuffer {
  const names = Object.keys(SECTIONS) as (keyof typeof SECTIONS)[];
  const lengths = names.map((name) => numbers[name].length);
  const header = Buffer.from(JSON.stringify({ ...about, lengths } satisfies SnapshotHeader));
  const { total, open } = placeSections(SECTIONS, HEADER_START + header.length, lengths);
  const packed = new SharedArrayBuffer(total);
  new DataView(packed).setUint32(0, header.length, true);
  Buffer.from(packed).set(header, HEADER_START);
  const sections = open(packed);
  for (const name of names) sections[name].set(numbers[name]);
  return packed;
}

/** The predicted runs of one publication of a feed. Opening only parses the header and copies no runs. */
export class Snapshot {
  readonly packed: SharedArrayBuffer;
  readonly about: SnapshotAbout;
  readonly sections: SnapshotSections;
  /** Milliseconds since 1970. */
  readonly headerAt: number;
  /** The number of runs that the timetable has. */
  readonly tripCount: number;
  readonly runCount: number;

  constructor(packed: SharedArrayBuffer) {
    const length = new DataView(packed).getUint32(0, true);
    const { lengths, ...about }: SnapshotHeader = JSON.parse(
      Buffer.from(packed).toString('utf8', HEADER_START, HEADER_START + length),
    );
    this.packed = packed;
    this.about = about;
    this.sections = placeSections(SECTIONS, HEADER_START + length, lengths).open(packed);
    this.headerAt = about.base * 1000;
    this.runCount = this.sections.runTrip.length;
    this.tripCount = this.runCount - about.addedIds.length;
  }

  get source(): FeedSourceId {
    return this.about.source;
  }

  /** The index of the run of a trip on a service day; -1 if the snapshot does not have it. */
  findRun(trip: number, day: number): number {
    const { runTrip, runDay } = this.sections;
    const isFrom = (run: number) =>
      runTrip.valueAt(run) > trip || (runTrip[run] === trip && runDay.valueAt(run) >= day);
    const run = firstFrom(0, this.tripCount, isFrom);
    return run < this.tripCount && runTrip[run] === trip && runDay[run] === day ? run : -1;
  }

  /** The runs with this identifier that the timetable lacks. */
  listAdded(tripId: string): number[] {
    const { addedIds } = this.about;
    const first = firstFrom(0, addedIds.length, (at) => (addedIds[at] as string) >= tripId);
    const runs: number[] = [];
    for (let at = first; addedIds[at] === tripId && runs.length < MAX_ADDED_PER_LOOKUP; at++) {
      runs.push(this.tripCount + at);
    }
    return runs;
  }

  /** The identifier of a run that the timetable lacks. */
  addedId(run: number): string {
    return this.about.addedIds[run - this.tripCount] as string;
  }

  /** The trip of a run or, for a run that the timetable lacks, one with the same headsign and direction; -1 if there is none. */
  likeOf(run: number): number {
    const { runTrip, runLike } = this.sections;
    return runTrip.valueAt(run) >= 0 ? runTrip.valueAt(run) : runLike.valueAt(run);
  }

  /** The entries of `visits` at a stop, as [first, end]. */
  visitsAt(stop: number): [first: number, end: number] {
    const { visitStop, visitStart } = this.sections;
    const at = firstFrom(0, visitStop.length, (index) => visitStop.valueAt(index) >= stop);
    return visitStop[at] === stop ? [visitStart.valueAt(at), visitStart.valueAt(at + 1)] : [0, 0];
  }

  /** The calls of a run, as [first, end]. */
  callsOf(run: number): [first: number, end: number] {
    const { firstCall, callCount } = this.sections;
    const first = firstCall.valueAt(run);
    return [first, first + callCount.valueAt(run)];
  }

  /** When its last run arrives, in milliseconds since 1970; 0 without runs. */
  lastArrivalAt(): number {
    let last = 0;
    for (let run = 0; run < this.runCount; run++) {
      last = Math.max(last, this.momentOf(this.sections.arrival.valueAt(this.callsOf(run)[1] - 1)));
    }
    return last;
  }

  isCancelled(run: number): boolean {
    return (this.sections.runFlags.valueAt(run) & RUN.cancelled) !== 0;
  }

  isSkipped(call: number): boolean {
    return (this.sections.state.valueAt(call) & CALL.skipped) !== 0;
  }

  /** The first stop of the timetable that the vehicle of a run does not skip; null if there is none. */
  firstStopOf(run: number): number | null {
    const [first, end] = this.callsOf(run);
    for (let call = first; call < end; call++) {
      const stop = this.sections.stop.valueAt(call);
      if (!this.isSkipped(call) && stop >= 0) return stop;
    }
    return null;
  }

  /** Whether the vehicle has left, according to the feed. */
  hasLeft(call: number): boolean {
    return (this.sections.state.valueAt(call) & CALL.left) !== 0;
  }

  /** Whether the run ends early at this call; with `isArrival` whether it begins late there. */
  isCut(call: number, isArrival: boolean): boolean {
    return (this.sections.state.valueAt(call) & (isArrival ? CALL.start : CALL.end)) !== 0;
  }

  /** Whether riders may board (or alight) there today. */
  mayUse(call: number, isArrival: boolean): boolean {
    return (this.sections.flags.valueAt(call) & (isArrival ? MAY_ALIGHT : MAY_BOARD)) !== 0;
  }

  isLive(call: number): boolean {
    return (this.sections.state.valueAt(call) & CALL.live) !== 0;
  }

  /** Converts milliseconds since 1970 to seconds after the header. */
  secondsAt(moment: number): number {
    return (moment - this.headerAt) / 1000;
  }

  /** Converts seconds after the header to milliseconds since 1970. */
  momentOf(seconds: number): number {
    return this.headerAt + seconds * 1000;
  }

  ruleOf(call: number): Rule {
    return RULES[this.sections.rule.valueAt(call)] ?? 'planned';
  }

  /** The `OccupancyStatus` number of GTFS-realtime; null if unknown. */
  occupancyOf(call: number): number | null {
    const occupancy = this.sections.occupancy.valueAt(call);
    return occupancy === 0 ? null : occupancy - 1;
  }

  /** The load of each carriage when the vehicle leaves, front to rear; null if the feed has none. */
  loadsOf(call: number): (number | null)[] | null {
    const { loadCall, loadStart, loads } = this.sections;
    const at = firstFrom(0, loadCall.length, (index) => loadCall.valueAt(index) >= call);
    if (loadCall[at] !== call) return null;
    return Array.from(loads.subarray(loadStart[at], loadStart[at + 1]), (load) => (load === 0 ? null : load - 1));
  }
}
