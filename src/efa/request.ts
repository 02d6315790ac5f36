import { ownText } from '../core/own-memory.ts';
import type { Mode } from '../transit/mode.ts';
import { isPlaceId, type Place } from '../transit/place.ts';
import type { WallClock } from '../transit/time.ts';
import {
  EXPECTED_BOARD,
  EXPECTED_NAMES,
  EXPECTED_NEARBY,
  EXPECTED_NOTICES,
  EXPECTED_TRIP,
  type ExpectedResponse,
  isBoardOf,
  isExpected,
  listsArrivals,
} from './expected-response.ts';
import {
  type DepartureMonitorPayload,
  parseAddInfo,
  parseDepartureMonitor,
  parseLocations,
  parseTrip,
} from './payload.ts';
import { toExcludedClasses } from './product-class.ts';
import { type JsonObject, parseObject } from './response/field.ts';

/** Determines how long a response is fresh; `transit/freshness.ts` has the durations. */
export type FreshnessClass = 'departuresNow' | 'departuresAtTime' | 'trips' | 'nearby' | 'search' | 'notices';

/** Parameters of every request: response format and coordinate system. */
const RAPID_JSON = { outputFormat: 'rapidJSON', coordOutputFormat: 'EPSG:4326' };

/**
 * The kinds of upstream requests: endpoint, fixed parameters, function for the other parameters, reader of the response, what
 * the response must contain, and freshness class. To add a kind, add an entry.
 */
const KINDS = {
  departureMonitor: {
    endpoint: 'departure_mon',
    parameters: {
      ...RAPID_JSON,
      mode: 'direct',
      type_dm: 'stop',
      departureMonitorMacro: 'true',
      TfNSWDM: 'true',
      depArrMacro: 'dep',
    },
    toQuery: toDepartureMonitorQuery,
    parse: parseDepartureMonitor,
    expected: EXPECTED_BOARD,
    freshness: ({ at, isForNow }: DepartureMonitorRequest) =>
      at === null || isForNow ? 'departuresNow' : 'departuresAtTime',
  },
  /** `BUS_POINT` lists platforms of all modes with the distance to where riders board; `STOP` lists stops with modes. */
  coord: {
    endpoint: 'coord',
    parameters: { ...RAPID_JSON, inclFilter: '1', type_1: 'BUS_POINT', type_2: 'STOP' },
    toQuery: toCoordQuery,
    parse: parseLocations,
    expected: EXPECTED_NEARBY,
    freshness: () => 'nearby',
  },
  /** Type "any", because type "stop" answers free text with a list without coordinates, or nothing. */
  stopFinder: {
    endpoint: 'stop_finder',
    parameters: { ...RAPID_JSON, type_sf: 'any', TfNSWSF: 'true' },
    toQuery: toStopFinderQuery,
    parse: parseLocations,
    expected: EXPECTED_NAMES,
    freshness: () => 'search',
  },
  trip: {
    endpoint: 'trip',
    parameters: { ...RAPID_JSON, type_origin: 'any', type_destination: 'any', TfNSWTR: 'true' },
    toQuery: toTripQuery,
    parse: parseTrip,
    expected: EXPECTED_TRIP,
    freshness: () => 'trips',
  },
  /** All notices of the network that are currently published. */
  notices: {
    endpoint: 'add_info',
    parameters: { ...RAPID_JSON, filterPublicationStatus: 'current' },
    toQuery: (_request: object): EfaQuery => ({}),
    parse: parseAddInfo,
    expected: EXPECTED_NOTICES,
    freshness: () => 'notices',
  },
} as const satisfies Record<
  string,
  {
    endpoint: string;
    parameters: EfaQuery;
    toQuery: (request: never) => EfaQuery;
    parse: (response: JsonObject) => object;
    expected: ExpectedResponse;
    freshness: (request: never) => FreshnessClass;
  }
>;

/** A request to upstream; `kind` distinguishes the types. */
export type UpstreamRequest = {
  [Name in keyof typeof KINDS]: { kind: Name } & Parameters<(typeof KINDS)[Name]['toQuery']>[0];
}[keyof typeof KINDS];

/** The payload of upstream's response to this request. */
export type PayloadOf<Requested extends UpstreamRequest> = ReturnType<(typeof KINDS)[Requested['kind']]['parse']>;

/** The endpoint, and the query with the fixed parameters. */
export function toRequest(request: UpstreamRequest): { endpoint: string; query: EfaQuery } {
  const { endpoint, parameters } = KINDS[request.kind];
  return { endpoint, query: { ...parameters, ...writeQuery(request) } };
}

/** False for responses of another endpoint, boards of another stop, and departures instead of arrivals. */
export function isResponseTo<Requested extends UpstreamRequest>(
  request: Requested,
  json: object,
  payload: PayloadOf<Requested>,
): boolean {
  if (!isExpected(KINDS[request.kind].expected, json, payload)) return false;
  if (request.kind !== 'departureMonitor') return true;
  const board = payload as DepartureMonitorPayload;
  return isBoardOf(request.stopId, board) && (!request.isArrival || listsArrivals(board));
}

/** `json` is the response as received; anything but an object is read as an empty response. */
export function parseResponse<Requested extends UpstreamRequest>(
  { kind }: Requested,
  json: unknown,
): PayloadOf<Requested> {
  return KINDS[kind].parse(parseObject(json) ?? {}) as PayloadOf<Requested>;
}

export function freshnessClassOf(request: UpstreamRequest): FreshnessClass {
  return KINDS[request.kind].freshness(request as never);
}

/** Requests with the same key share a response. The key consists of the freshness class and the request as sent. */
export function requestKey(request: UpstreamRequest): string {
  const { endpoint } = KINDS[request.kind];
  return ownText(`${freshnessClassOf(request)}:${endpoint}?${new URLSearchParams(writeQuery(request))}`);
}

/** False for responses so large that they would evict many others from the cache; their parts are cached elsewhere. */
export function isKeptWhole(request: UpstreamRequest): boolean {
  return !(request.kind === 'departureMonitor' && request.withCalls);
}

function writeQuery(request: UpstreamRequest): EfaQuery {
  return KINDS[request.kind].toQuery(request as never);
}

/** Departures from one stop; `at` null means now. */
export interface DepartureMonitorRequest {
  stopId: string;
  modes: readonly Mode[];
  at: WallClock | null;
  /** True for a later page of a board for now, whose response must be as fresh as the first page. */
  isForNow?: boolean;
  /** Includes where each vehicle stops afterwards, which makes the response about ten times as large. */
  withCalls?: boolean;
  /** Lists arrivals instead of departures. */
  isArrival?: boolean;
}

/** The parameters of an upstream request that depend on our request. */
export type EfaQuery = Readonly<Record<string, string>>;

const JOURNEYS_REQUESTED = '6';
/** Four decimals are a grid of about ten metres, so that callers near each other share a response. */
const POSITION_DECIMALS = 4;
const STREET_STOP = /^g\d+$/;

/** Without a time, upstream lists what has not left yet by its own clock, including late vehicles. */
function toDepartureMonitorQuery({ stopId, modes, at, withCalls, isArrival }: DepartureMonitorRequest): EfaQuery {
  return {
    name_dm: stopId.toUpperCase(),
    ...toDateAndTime(at),
    ...toExclusion(modes),
    ...(withCalls && { depType: 'stopEvents', includeCompleteStopSeq: '1' }),
    ...(isArrival && { depArrMacro: 'arr' }),
  };
}

/** Stops and platforms within a radius. Longitude comes first in requests, latitude in responses. */
function toCoordQuery({ lat, lng, radiusMetres }: { lat: number; lng: number; radiusMetres: number }): EfaQuery {
  return { coord: toCoord(lat, lng), radius_1: String(radiusMetres), radius_2: String(radiusMetres) };
}

/** Places by name: in lower case, so that equal searches are identical; IDs as upstream writes them. */
function toStopFinderQuery({ text }: { text: string }): EfaQuery {
  const name = text.trim().replace(/\s+/g, ' ').toLowerCase();
  return { name_sf: STREET_STOP.test(name) ? name.toUpperCase() : name };
}

/** Journeys between two places; `at` null means now. */
function toTripQuery(request: {
  from: Place;
  to: Place;
  at: WallClock | null;
  isArrival: boolean;
  /** Default all. */
  modes?: readonly Mode[];
  /** True if wheelchair users must be able to board and alight everywhere. */
  isAccessible?: boolean;
}): EfaQuery {
  const { from, to, at, isArrival, modes, isAccessible } = request;
  return {
    ...toEnd('origin', from),
    ...toEnd('destination', to),
    depArrMacro: isArrival ? 'arr' : 'dep',
    ...toDateAndTime(at),
    calcNumberOfTrips: JOURNEYS_REQUESTED,
    ...(modes && toExclusion(modes)),
    ...(isAccessible && { wheelchair: 'on' }),
  };
}

function toEnd(end: 'origin' | 'destination', place: Place): Record<string, string> {
  if (typeof place === 'string') return { [`name_${end}`]: isPlaceId(place) ? place : place.toUpperCase() };
  return { [`type_${end}`]: 'coord', [`name_${end}`]: toCoord(...place) };
}

function toCoord(lat: number, lng: number): string {
  return `${toDegrees(lng)}:${toDegrees(lat)}:EPSG:4326`;
}

/** A plain decimal without an exponent. Adding zero turns -0 into 0. */
function toDegrees(value: number): string {
  return String(Number(value.toFixed(POSITION_DECIMALS)) + 0);
}

/** Without date and time, upstream uses its current time. */
function toDateAndTime(at: WallClock | null): Record<string, string> {
  return at ? { itdDate: at.date, itdTime: at.time } : {};
}

/** `excludedMeans` alone would remove trains, and exclusions without it are ignored. So send both or none. */
function toExclusion(modes: readonly Mode[]): Record<string, string> {
  const excluded = toExcludedClasses(modes);
  if (excluded.length === 0) return {};
  return {
    excludedMeans: 'checkbox',
    ...Object.fromEntries(excluded.map((productClass) => [`exclMOT_${productClass}`, '1'])),
  };
}
