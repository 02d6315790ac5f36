/**
 * The words of the sandbox's network: what stops there are and which lines call at them.
 * Which of them are facts and which are made up is told with the data (network/rows.ts).
 */

/** Where a vehicle stands: a platform, stand, wharf side or pole. */
export interface SandboxPoint {
  /** Global identifier of the point, "2000391". Unique in the network. */
  id: string;
  /** The authority's internal code: "THL1", "K", "X1", "LR2", "F3A". */
  code: string;
  /** What upstream calls `platformName`: "Platform 1", "Town Hall, Park St, Stand K", "Wharf 3, Side A"; the stop's own name where there is no platform. */
  platformName: string;
  lat: number;
  lng: number;
}

/** A station, interchange, wharf, light rail stop or street stop, with everything that belongs to it. */
export interface SandboxStop {
  /** "200070", or "G201023" for a street stop group. Unique in the network. */
  id: string;
  /** The authority's internal number, "10101101". Unique in the network. */
  stopId: string;
  /** Name without the suburb, "Town Hall Station". */
  name: string;
  /** Suburb, "Sydney"; in the ACT with its suffix, "Braddon (ACT)". */
  locality: string;
  lat: number;
  lng: number;
  wheelchairAccess: boolean;
  points: readonly SandboxPoint[];
}

export interface SandboxProduct {
  /** Number of the network, 1 for Sydney Trains, 13 for Sydney Light Rail. */
  id: number;
  /** The authority's product class: 1, 2, 4, 5, 7, 9 or 11. */
  class: number;
  name: string;
}

/** When a pattern runs, in Sydney local time: first departure, last departure, gap. `until` may pass "24:00". */
export interface SandboxService {
  days: 'daily' | 'weekdays' | 'weekends';
  from: string;
  until: string;
  everyMinutes: number;
}

/** One ordered list of calls; a line has one pattern per direction and per stopping pattern. */
export interface SandboxPattern {
  /** What the vehicle shows: "Hurstville via Banksia". */
  headsign: string;
  /** Minutes since the first call, rising; halves and tenths are allowed. */
  calls: readonly { point: string; minutes: number }[];
  services: readonly SandboxService[];
  /** Geometry as `[lat, lng]`, first call to last; straight lines between the calls where absent. */
  path?: readonly (readonly [number, number])[];
}

export interface SandboxLine {
  /** "nsw:020T4". Unique in the network. */
  id: string;
  /** Short name, "T4"; where the authority gives none (coach, school bus), null. */
  route: string | null;
  /** Long name for rail, light rail and ferry, "T4 Eastern Suburbs & Illawarra Line"; the short one for buses, "324". */
  number: string;
  product: SandboxProduct;
  operator: string;
  /** "City to Macarthur via Airport or Sydenham": the line's, not the direction's. */
  description: string;
  /** Whether its vehicles report their position at all: without it, every run is timetable-only. */
  monitored: boolean;
  patterns: readonly SandboxPattern[];
}

/** What the name search finds beside stops. */
export interface SandboxPlace {
  id: string;
  name: string;
  locality: string;
  type: 'street' | 'poi' | 'suburb' | 'locality';
  lat: number;
  lng: number;
}

export interface SandboxNetwork {
  stops: readonly SandboxStop[];
  lines: readonly SandboxLine[];
  places: readonly SandboxPlace[];
}
