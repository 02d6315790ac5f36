/*
 * The vocabulary of the sandbox's network: its stops, and the lines that call at them. The data is in the GTFS folder `gtfs/`;
 * docs/guide/sandbox.md explains which parts are real and which are made up.
 */

/** All data of the GTFS folder. */
export interface SandboxNetwork {
  stops: readonly SandboxStop[];
  lines: readonly SandboxLine[];
  places: readonly SandboxPlace[];
}

/** A station, interchange, wharf, light rail stop or street stop, with all its points. */
export interface SandboxStop extends Position {
  /** "200070", or "G201023" for a group of street stops. Unique among stops and points. */
  id: string;
  /** Upstream's internal number, "10101101". Unique in the network. */
  stopId: string;
  /** The name without the suburb, "Town Hall Station". */
  name: string;
  /** The suburb, "Sydney"; in the ACT with a suffix, "Braddon (ACT)". */
  locality: string;
  wheelchairAccess: boolean;
  points: readonly SandboxPoint[];
}

/** Where a vehicle stops: a platform, stand, wharf side or pole. */
export interface SandboxPoint extends Position {
  /** The global identifier of the point, "2000391". Unique among stops and points. */
  id: string;
  /** Upstream's internal code: "THL1", "K", "X1", "LR2", "F3A". */
  code: string;
  /** Upstream's `platformName`: "Platform 1", "Town Hall, Park St, Stand K"; the stop's name if there is no platform. */
  platformName: string;
}

/** A line as the trip planner names it, with its patterns. */
export interface SandboxLine {
  /** "nsw:020T4". Unique in the network. */
  id: string;
  /** The short name, "T4"; null for coaches and school buses, which have none. */
  route: string | null;
  /** The long name for rail, light rail and ferry, "T4 Eastern Suburbs & Illawarra Line"; the short one for buses, "324". */
  number: string;
  product: {
    /** The number of the network: 1 for Sydney Trains, 13 for Sydney Light Rail. */
    id: number;
    /** Upstream's product class: 1, 2, 4, 5, 7, 9 or 11. */
    class: number;
    name: string;
  };
  operator: string;
  /** "City to Macarthur via Airport or Sydenham"; the same in both directions of the line. */
  description: string;
  /** Whether its vehicles report their position. Without reports every run is timetable-only. */
  monitored: boolean;
  patterns: readonly SandboxPattern[];
}

/** An ordered list of calls; a line has one pattern for each direction and selection of stops. */
export interface SandboxPattern {
  /** The text that the vehicle displays: "Hurstville via Banksia". */
  headsign: string;
  /** GTFS `direction_id`: 0 outbound, 1 inbound. */
  direction: 0 | 1;
  /** Whether the vehicles take wheelchairs; null if the timetable does not specify it. */
  wheelchairAccessible: boolean | null;
  /** Minutes since the first call, ascending; fractions are allowed. */
  calls: readonly { point: string; minutes: number }[];
  services: readonly SandboxService[];
  /** The path from the first call to the last; if absent, straight lines between the calls. */
  path?: readonly Position[];
}

/** Departures at a fixed interval. Times are minutes of the service day, which continue past 24 × 60 after midnight. */
export interface SandboxService {
  calendar: SandboxCalendar;
  firstMinute: number;
  /** No departure is later. */
  lastMinute: number;
  everyMinutes: number;
}

/** The days on which a service runs. */
export interface SandboxCalendar {
  /** Seven values, Monday first. */
  weekdays: readonly boolean[];
  /** The first and last day of validity, inclusive, as days since 1970-01-01. */
  firstDay: number;
  lastDay: number;
}

/** A place in the name search that is not a stop. */
export interface SandboxPlace extends Position {
  id: string;
  name: string;
  locality: string;
  type: 'street' | 'poi' | 'suburb' | 'locality';
}

/** Upstream's product classes. */
export const TRAIN = 1;
export const METRO = 2;
export const LIGHT_RAIL = 4;
export const BUS = 5;
export const COACH = 7;
export const FERRY = 9;
export const SCHOOL_BUS = 11;

/** A position in degrees (WGS 84). */
export interface Position {
  lat: number;
  lng: number;
}

const METRES_PER_DEGREE = 111_195;

/** The straight line on a flat earth, which is accurate enough for a few kilometres. */
export function distanceMetres(from: Position, to: Position): number {
  const north = (to.lat - from.lat) * METRES_PER_DEGREE;
  const east = (to.lng - from.lng) * METRES_PER_DEGREE * Math.cos(((from.lat + to.lat) / 2) * (Math.PI / 180));
  return Math.hypot(north, east);
}
