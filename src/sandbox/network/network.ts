/*
 * The words of the sandbox's network: its stops, and the lines that call at them. The data is the GTFS folder `gtfs/`;
 * docs/guide/sandbox.md says what in it is fact and what is made up.
 */

export interface SandboxNetwork {
  stops: readonly SandboxStop[];
  lines: readonly SandboxLine[];
  places: readonly SandboxPlace[];
}

/** A station, interchange, wharf, light rail stop or street stop, with all its points. */
export interface SandboxStop extends Position {
  /** "200070", or "G201023" for a street stop group. Unique among stops and points. */
  id: string;
  /** Upstream's internal number, "10101101". Unique in the network. */
  stopId: string;
  /** Name without the suburb, "Town Hall Station". */
  name: string;
  /** Suburb, "Sydney"; in the ACT with its suffix, "Braddon (ACT)". */
  locality: string;
  wheelchairAccess: boolean;
  points: readonly SandboxPoint[];
}

/** A vehicle stands here: a platform, stand, wharf side or pole. */
export interface SandboxPoint extends Position {
  /** Global identifier of the point, "2000391". Unique among stops and points. */
  id: string;
  /** Upstream's internal code: "THL1", "K", "X1", "LR2", "F3A". */
  code: string;
  /**
   * Upstream's `platformName`: "Platform 1", "Town Hall, Park St, Stand K"; the stop's name where there is no
   * platform.
   */
  platformName: string;
}

export interface SandboxLine {
  /** "nsw:020T4". Unique in the network. */
  id: string;
  /** Short name, "T4"; null for coaches and school buses, to which upstream gives none. */
  route: string | null;
  /**
   * Long name for rail, light rail and ferry, "T4 Eastern Suburbs & Illawarra Line"; the short one for buses, "324".
   */
  number: string;
  product: {
    /** Number of the network, 1 for Sydney Trains, 13 for Sydney Light Rail. */
    id: number;
    /** Upstream's product class: 1, 2, 4, 5, 7, 9 or 11. */
    class: number;
    name: string;
  };
  operator: string;
  /** "City to Macarthur via Airport or Sydenham": of the line, the same in both directions. */
  description: string;
  /** Whether its vehicles report their position. Without reports every run is timetable-only. */
  monitored: boolean;
  patterns: readonly SandboxPattern[];
}

/** One ordered list of calls; a line has one pattern for each direction and each choice of stops. */
export interface SandboxPattern {
  /** The text that the vehicle shows: "Hurstville via Banksia". */
  headsign: string;
  /** GTFS `direction_id`: 0 outbound, 1 inbound. */
  direction: 0 | 1;
  /** Whether the vehicles take wheelchairs; null where the timetable does not say. */
  wheelchairAccessible: boolean | null;
  /** Minutes since the first call, rising; fractions are allowed. */
  calls: readonly { point: string; minutes: number }[];
  services: readonly SandboxService[];
  /** Geometry, first call to last; straight lines between the calls where absent. */
  path?: readonly Position[];
}

/** Departures at a fixed interval. Minutes of the service day, which go on past 24 × 60 after midnight. */
export interface SandboxService {
  calendar: SandboxCalendar;
  firstMinute: number;
  /** The last departure at the latest. */
  lastMinute: number;
  everyMinutes: number;
}

export interface SandboxCalendar {
  /** Seven of them, Monday first. */
  weekdays: readonly boolean[];
  /** First and last day of validity, both included, as days since 1970-01-01. */
  firstDay: number;
  lastDay: number;
}

/** A place of the name search that is not a stop. */
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

export interface Position {
  lat: number;
  lng: number;
}

const METRES_PER_DEGREE = 111_195;

/** Straight line on a flat earth, which is exact enough for the few kilometres that it is used for. */
export function distanceMetres(from: Position, to: Position): number {
  const north = (to.lat - from.lat) * METRES_PER_DEGREE;
  const east = (to.lng - from.lng) * METRES_PER_DEGREE * Math.cos(((from.lat + to.lat) / 2) * (Math.PI / 180));
  return Math.hypot(north, east);
}
