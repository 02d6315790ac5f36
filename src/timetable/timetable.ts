import type { Mode } from '../transit/mode.ts';
import type { FileReport } from './import/read-file.ts';
import type { FileId } from './schedule-files.ts';

/** The bytes are no timetable, are cut off, or were written by another version of the service. */
export class NotATimetable extends Error {
  override name = 'NotATimetable';
}

export interface TimetableStop {
  index: number;
  id: string;
  /** Without suburb and platform. */
  name: string;
  /** "Platform 3", "Wharf 4", "Stand B"; null where the stop is none. */
  platform: string | null;
  lat: number;
  lng: number;
  /** The station of a platform. */
  parent: number | null;
  isStation: boolean;
  /** Platforms without a value have that of their station; null where it is not known. */
  isWheelchairAccessible: boolean | null;
  /** Of all its departures and arrivals; a station has those of its platforms. */
  modes: readonly Mode[];
}

export interface TimetableRoute {
  file: FileId;
  /** `route_id` of the file, which the realtime feeds use too. */
  routeId: string;
  /** "T4", "333" */
  route: string;
  mode: Mode;
  lineName: string;
  longName: string;
  /** The trip planner's `transportation.product.id`; null where it is not certain. */
  network: number | null;
  /** Six hexadecimal digits. */
  color: string | null;
  agencyId: string;
  agencyName: string;
}

export interface TimetableTrip extends TimetableRoute {
  index: number;
  tripId: string;
  headsign: string;
  isWheelchairAccessible: boolean | null;
  directionId: 0 | 1 | null;
  blockId: string | null;
  shapeId: string | null;
}

/** A call of a trip on a service day. Moments are milliseconds since 1970. */
export interface PlannedCall {
  stop: number;
  arrivesAt: number;
  departsAt: number;
  mayBoard: boolean;
  mayAlight: boolean;
  needsBooking: boolean;
  /** The call's own, else the trip's. */
  headsign: string;
  /** `stop_sequence` of the file. */
  sequence: number;
}

/** A departure, or an arrival: call `position` of the trip's calls on service day `day`. */
export interface CallRef {
  trip: number;
  day: number;
  position: number;
  /** Milliseconds since 1970. */
  plannedAt: number;
}

export interface TimetableLine {
  route: string;
  mode: Mode;
  lineName: string;
  /** The most frequent first. */
  headsigns: string[];
}

/** The schedule of all files, read-only. Indices of stops and trips are valid for this timetable only; moments are milliseconds since 1970. */
export class Timetable {
  declare readonly importedAt: number;
  declare readonly files: readonly FileReport[];
  declare readonly stopCount: number;
  declare readonly tripCount: number;

  /** Throws `NotATimetable`. */
  constructor(_packed: ArrayBuffer | SharedArrayBuffer) {
    throw new NotATimetable('not built');
  }

  declare stop: (index: number) => TimetableStop;
  declare findStop: (id: string) => number | null;
  /** The stops whose calls make up the board of this one: the whole station, also of a platform. A pole is its own board. */
  declare boardStops: (index: number) => readonly number[];
  /** The stop that a board is named by: the station of a platform, else itself. */
  declare stationOf: (index: number) => number;
  /** Stops and stations, the nearest first. */
  declare near: (lat: number, lng: number, metres: number) => { index: number; metres: number }[];
  /** Planned departures (boarding allowed, not the last call) with `from` <= plannedAt < `until`, in order of time. */
  declare departures: (stops: readonly number[], from: number, until: number, modes?: readonly Mode[]) => CallRef[];
  /** Planned arrivals (alighting allowed, not the first call), likewise. */
  declare arrivals: (stops: readonly number[], from: number, until: number, modes?: readonly Mode[]) => CallRef[];
  declare trip: (index: number) => TimetableTrip;
  declare calls: (trip: number, day: number) => PlannedCall[];
  /** The trips with this id; of ferries and TrainLink, where there is none, those whose id differs in the date segment only. */
  declare findTrips: (tripId: string, files?: readonly FileId[]) => number[];
  /** The route with this `route_id`. */
  declare findRoute: (routeId: string, file: FileId) => TimetableRoute | null;
  declare runsOn: (trip: number, day: number) => boolean;
  /** The service days on which the trip runs with a call within a day of this moment. */
  declare daysOf: (trip: number, around: number) => number[];
  /** The trip as which the vehicle goes on from the last call, on the same service day. */
  declare nextTrip: (trip: number, day: number) => number | null;
  /** Whether every file that serves these stops has the service days of this time. */
  declare covers: (stops: readonly number[], from: number, until: number) => boolean;
  /** The files of the trips that call there. */
  declare filesAt: (stops: readonly number[]) => readonly FileId[];
  /** The modes and lines of departures within this time. */
  declare modesAt: (stops: readonly number[], from: number, until: number) => Mode[];
  declare linesAt: (stops: readonly number[], from: number, until: number) => TimetableLine[];
}
