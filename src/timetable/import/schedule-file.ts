import type { Int32Column, Uint8Column } from '../../core/columns.ts';
import type { Mode } from '../../transit/mode.ts';
import type { FileId } from '../schedule-files.ts';
import { describeLeftOut } from './left-out.ts';

/** The file as a whole is unusable. The message has the reason. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile';
}

/** Builds the error for a file that was read but has too little that can be used. The message ends with what was left out. */
export function refuseFile(problem: string, leftOut: Readonly<Record<string, number>>): UnreadableFile {
  const reasons = describeLeftOut(leftOut, MAX_REASONS);
  return new UnreadableFile(reasons === '' ? problem : `${problem}; left out: ${reasons}`);
}

const MAX_REASONS = 5;

/** The result of importing a file. */
export interface FileReport {
  file: FileId;
  trips: number;
  stopTimes: number;
  /** The number of trips on the busiest day; null in a report of an earlier version. */
  busiestDay: number | null;
  /** `YYYYMMDD`, the first and last day with any trip. */
  firstDay: string;
  lastDay: string;
  /** Counts by reason. */
  leftOut: Record<string, number>;
}

/** A stop, platform or station; not a boarding area, entrance or node. */
export interface ScheduleStop {
  id: string;
  /** As in the file, with the platform: `splitStopName` removes that. */
  name: string;
  lat: number;
  lng: number;
  parentId: string | null;
  isStation: boolean;
  platformCode: string | null;
  /** 0 unknown, 1 yes, 2 no. */
  wheelchair: 0 | 1 | 2;
}

/** A row of routes.txt, with the trip planner's names. */
export interface ScheduleRoute {
  id: string;
  /** For instance "T4", "333" or "F1". */
  shortName: string;
  /** The line's name in the trip planner: "T4 Eastern Suburbs & Illawarra Line". */
  lineName: string;
  /** As in the file; may be empty. */
  longName: string;
  mode: Mode;
  agencyId: string;
  agencyName: string;
  /** The trip planner's `transportation.product.id`; null unless the file determines it. */
  network: number | null;
}

/** The days on which a service runs, from calendar.txt and calendar_dates.txt. */
export interface ScheduleService {
  /** A service day number. Bit `n` of `days` (bit `n & 7` of byte `n >> 3`) is day `firstDay + n`. */
  firstDay: number;
  days: Uint8Column;
}

/** A row of trips.txt or, with frequencies, one of its runs. */
export interface ScheduleTrip {
  id: string;
  /** Indices in `routes` and `services`. */
  route: number;
  service: number;
  headsign: string;
  blockId: string | null;
  /** `direction_id`; 0 if the file has none. */
  direction: 0 | 1;
  /** What riders may bring on the vehicle, as packed by `packAccess`. */
  access: number;
  /** The number of its shape; -1 if it has none. */
  shape: number;
  /** Its index in the file's `calls`, which runs of a frequency share. It has at least two calls. */
  calls: number;
  callCount: number;
  /** Seconds to add to the times of its calls, for runs of a frequency; else 0. */
  shift: number;
  /** The seconds between vehicles without fixed times; 0 if the times are fixed. */
  headway: number;
}

/** The first `count` entries of these columns are the calls of a trip, in order. They are valid until the next trip is read. */
export interface ScheduleCalls {
  count: number;
  /** The departure from the trip's first row in the file, which may be a passing point. */
  startsAt: number;
  /** Index in `stops`. */
  stop: Int32Column;
  /** The file's `stop_sequence`. */
  sequence: Int32Column;
  /** Seconds since the start of the service day. */
  arrival: Int32Column;
  departure: Int32Column;
  /** Flags: `MAY_BOARD`, `MAY_ALIGHT`, `BOOK_TO_BOARD`, `BOOK_TO_ALIGHT`. */
  flags: Int32Column;
  /** Index in `headsigns`; -1 if the trip's headsign applies. */
  headsign: Int32Column;
  /** Along the shape, in the unit of `toDistance`. */
  distance: Int32Column;
  /**
   * How full the vehicle usually is when it leaves. Two bits for each weekday from Monday: 0 unknown, 1 many seats, 2 few seats,
   * 3 standing only.
   */
  load: Int32Column;
}

/** The paths of vehicles, in columns. The points of shape `n`, in order, lie from `start[n]` up to `start[n + 1]`. */
export interface ScheduleShapes {
  /** Numbers by `shape_id`. */
  ids: ReadonlyMap<string, number>;
  start: Int32Column;
  /** In millionths of a degree. */
  lat: Int32Column;
  lng: Int32Column;
  /** In the unit of `toDistance`. */
  distance: Int32Column;
  /** The number of points that the file has for each shape. */
  pointsRead: Int32Column;
}

/** The content of one zip. */
export interface ScheduleFile {
  id: FileId;
  report: FileReport;
  stops: ScheduleStop[];
  routes: ScheduleRoute[];
  services: ScheduleService[];
  trips: ScheduleTrip[];
  calls: { get(trip: ScheduleTrip): ScheduleCalls };
  headsigns: string[];
  shapes: ScheduleShapes;
}
