import { z } from 'zod';
import type { Mode } from '../../transit/mode.ts';
import { type FileId, isFileId } from '../schedule-files.ts';

/** The file cannot be used at all. The message says why. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile';
}

/** What an import found in a file. */
export const fileReportSchema = z.object({
  file: z.custom<FileId>((name) => typeof name === 'string' && isFileId(name)),
  trips: z.number(),
  stopTimes: z.number(),
  /** `YYYYMMDD`, the first and last day on which any trip runs. */
  firstDay: z.string(),
  lastDay: z.string(),
  /** Counts by reason. */
  leftOut: z.record(z.string(), z.number()),
});
export type FileReport = z.infer<typeof fileReportSchema>;

/** A stop, platform or station; boarding areas, entrances and nodes are none. */
export interface ScheduleStop {
  id: string;
  /** As in the file: `splitStopName` takes the platform off. */
  name: string;
  lat: number;
  lng: number;
  parentId: string | null;
  isStation: boolean;
  platformCode: string | null;
  /** 0 unknown, 1 yes, 2 no */
  wheelchair: 0 | 1 | 2;
}

export interface ScheduleRoute {
  id: string;
  /** "T4", "333", "F1" */
  shortName: string;
  /** The line as the trip planner names it: "T4 Eastern Suburbs & Illawarra Line" */
  lineName: string;
  mode: Mode;
  agencyId: string;
  agencyName: string;
  /** The trip planner's `transportation.product.id`, where the file makes it certain. */
  network: number | null;
}

export interface ScheduleService {
  /** A service day number; bit `n` of `days` (bit `n & 7` of byte `n >> 3`) is day `firstDay + n`. */
  firstDay: number;
  days: Uint8Array;
}

export interface ScheduleTrip {
  id: string;
  /** Indices in `routes` and `services` */
  route: number;
  service: number;
  headsign: string;
  blockId: string | null;
  /** 0 unknown, 1 yes, 2 no */
  wheelchair: 0 | 1 | 2;
  /** Number of its shape; -1 without one. */
  shape: number;
  /** Its calls are those from this index on. At least two. */
  firstCall: number;
  callCount: number;
}

export const MAY_BOARD = 1;
export const MAY_ALIGHT = 2;
export const NEEDS_BOOKING = 4;

/** Columns of the same length; in their order within a trip. Passing points are none. */
export interface ScheduleCalls {
  /** Index in `stops` */
  stop: Int32Array;
  /** Seconds since the start of the service day */
  arrival: Int32Array;
  departure: Int32Array;
  /** `MAY_BOARD`, `MAY_ALIGHT`, `NEEDS_BOOKING` */
  flags: Uint8Array;
  /** Index in `headsigns`; -1 where the headsign is the trip's. */
  headsign: Int32Array;
  /** Along the shape, as `toDistance` gives it. */
  distance: Int32Array;
}

/** Where vehicles go, as columns: the points of shape `n`, in order, lie from `start[n]` up to `start[n + 1]`. */
export interface ScheduleShapes {
  /** Numbers by `shape_id`. */
  ids: ReadonlyMap<string, number>;
  start: Int32Array;
  /** In millionths of a degree. */
  lat: Int32Array;
  lng: Int32Array;
  /** As `toDistance` gives it. */
  distance: Int32Array;
  /** How many points the file has of each shape. */
  pointsRead: Int32Array;
}

/** One zip of the schedule. */
export interface ScheduleFile {
  id: FileId;
  report: FileReport;
  stops: ScheduleStop[];
  routes: ScheduleRoute[];
  services: ScheduleService[];
  trips: ScheduleTrip[];
  calls: ScheduleCalls;
  headsigns: string[];
  shapes: ScheduleShapes;
}
