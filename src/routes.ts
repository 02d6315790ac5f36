import type { ErrorCode } from './errors/api-error.ts';
import type { FRESHNESS_WINDOWS } from './transit/freshness.ts';

interface OperationRoute {
  path: string;
  /** The parameter that names stops: keys and tokens can be limited to stops. Null if the operation cannot be. */
  stops: 'stop' | 'stops' | 'stop_id' | null;
  /** Responses are fresh for at most this window of `transit/freshness.ts`; those from feeds until the next poll. */
  fresh: keyof typeof FRESHNESS_WINDOWS;
  /** The event of the stream under `/stream`; null without a stream. */
  event: string | null;
  /** Errors besides the common ones. */
  errors: readonly ErrorCode[];
  /** The price in requests; one by default. `day` is 1 for a day whose timetable is not kept ready, else 0. */
  price?: (query: never, day: number) => number;
}

/** The query parameters that prices depend on, by kind of operation. */
interface Trips {
  arrive_by: boolean;
  limit: number;
  via?: readonly unknown[] | undefined;
}
type Stops = { stops?: readonly unknown[] | undefined };
type Reachable = { format: string; limit: number };
type Times = { to: readonly unknown[] };

/**
 * Prices in requests: `around` for boards around a position, `area` for an area as GeoJSON, `via` for each stop of `via` times
 * `limit`, `stopsFile` for the download of all stops. One request covers `stopsOfOne` reachable stops or `destinationsOfOne`
 * travel times.
 */
export const PRICES = { around: 2, area: 3, via: 2, stopsOfOne: 1000, destinationsOfOne: 5, stopsFile: 100 } as const;
const P = PRICES;

/**
 * Every operation, by its ID in OpenAPI. Routes, charges, keys, streams, OpenAPI and pages use this table.
 * `operations/all-operations.ts` adds the query, the body and the handler of each.
 */
// biome-ignore format: one line for each route
export const OPERATION_ROUTES = {
  getDepartures:      { path: '/v1/departures',                   stops: 'stop',    fresh: 'departuresAtTime', event: 'board',    errors: ['DATE_OUT_OF_RANGE', 'STOP_NOT_FOUND'] },
  getArrivals:        { path: '/v1/arrivals',                     stops: 'stop',    fresh: 'departuresAtTime', event: null,       errors: ['DATE_OUT_OF_RANGE', 'STOP_NOT_FOUND'] },
  getBoards:          { path: '/v1/boards',                       stops: 'stops',   fresh: 'departuresAtTime', event: null,       errors: ['DATE_OUT_OF_RANGE', 'STOP_NOT_FOUND'], price: ({ stops }: Stops) => stops?.length ?? P.around },
  getNearbyStops:     { path: '/v1/nearby',                       stops: null,      fresh: 'nearby',           event: null,       errors: [] },
  searchStops:        { path: '/v1/stops/search',                 stops: null,      fresh: 'search',           event: null,       errors: [] },
  searchPlaces:       { path: '/v1/places/search',                stops: null,      fresh: 'search',           event: null,       errors: [] },
  listStops:          { path: '/v1/stops',                        stops: null,      fresh: 'stops',            event: null,       errors: [] },
  getStop:            { path: '/v1/stops/{stop_id}',              stops: 'stop_id', fresh: 'stops',            event: null,       errors: ['STOP_NOT_FOUND'] },
  listLines:          { path: '/v1/lines',                        stops: 'stop',    fresh: 'stops',            event: null,       errors: ['STOP_NOT_FOUND'] },
  listLineStatus:     { path: '/v1/lines/status',                 stops: null,      fresh: 'notices',          event: null,       errors: [] },
  getLine:            { path: '/v1/lines/{line_id}',              stops: null,      fresh: 'stops',            event: null,       errors: ['LINE_NOT_FOUND', 'DATE_OUT_OF_RANGE'] },
  getLineTimetable:   { path: '/v1/lines/{line_id}/timetable',    stops: null,      fresh: 'stops',            event: null,       errors: ['LINE_NOT_FOUND', 'DATE_OUT_OF_RANGE'] },
  getLinePunctuality: { path: '/v1/lines/{line_id}/punctuality',  stops: 'stop',    fresh: 'stops',            event: null,       errors: ['LINE_NOT_FOUND', 'STOP_NOT_FOUND'] },
  planTrips:          { path: '/v1/trips',                        stops: null,      fresh: 'timetable',        event: null,       errors: ['DATE_OUT_OF_RANGE', 'NO_JOURNEYS_FOUND', 'STOP_NOT_FOUND'], price: ({ arrive_by, via, limit }: Trips, day) => 1 + day * (arrive_by ? 2 : 1) + (via?.length ?? 0) * limit * P.via },
  getJourney:         { path: '/v1/trips/{journey_id}',           stops: null,      fresh: 'stops',            event: 'journey',  errors: ['JOURNEY_NOT_FOUND'] },
  listReachable:      { path: '/v1/reachable',                    stops: null,      fresh: 'timetable',        event: null,       errors: ['DATE_OUT_OF_RANGE', 'STOP_NOT_FOUND'], price: ({ format, limit }: Reachable, day) => day + (format === 'geojson' ? P.area : Math.ceil(limit / P.stopsOfOne)) },
  listTravelTimes:    { path: '/v1/travel-times',                 stops: null,      fresh: 'timetable',        event: null,       errors: ['DATE_OUT_OF_RANGE', 'STOP_NOT_FOUND'], price: ({ to }: Times, day) => day + Math.ceil(to.length / P.destinationsOfOne) },
  listAlerts:         { path: '/v1/alerts',                       stops: 'stop',    fresh: 'notices',          event: 'alerts',   errors: [] },
  getAlert:           { path: '/v1/alerts/{alert_id}',            stops: null,      fresh: 'notices',          event: null,       errors: ['ALERT_NOT_FOUND'] },
  getRun:             { path: '/v1/runs/{run_id}',                stops: null,      fresh: 'timetable',        event: 'board',    errors: ['RUN_NOT_FOUND'] },
  listVehicles:       { path: '/v1/vehicles',                     stops: null,      fresh: 'vehicles',         event: 'vehicles', errors: ['LINE_NOT_FOUND', 'RUN_NOT_FOUND'] },
  listCarParks:       { path: '/v1/carparks',                     stops: null,      fresh: 'timetable',        event: null,       errors: ['CARPARKS_NOT_ENABLED'] },
  getCarPark:         { path: '/v1/carparks/{carpark_id}',        stops: null,      fresh: 'timetable',        event: null,       errors: ['CARPARK_NOT_FOUND', 'CARPARKS_NOT_ENABLED'] },
} as const satisfies Record<string, OperationRoute>;

export type OperationId = keyof typeof OPERATION_ROUTES;

/** The entry of an operation, with its ID. */
export function routeOf<Id extends OperationId>(id: Id): { id: Id } & (typeof OPERATION_ROUTES)[Id] {
  return { id, ...OPERATION_ROUTES[id] };
}

export function streamPath({ path }: { path: string }): string {
  return `${path}/stream`;
}

/** The other routes of the API. Pages have routes of their own, in `web/`. */
export const OTHER_ROUTES = {
  /** Routes behind the key check. The file costs `PRICES.stopsFile` requests; a token and a tool call by `/mcp` cost one. */
  stopsFile: '/v1/stops.ndjson',
  tokens: '/v1/tokens',
  assistants: '/mcp',
  /** Routes without a key. */
  description: '/openapi.json',
  health: '/healthz',
  readiness: '/readyz',
} as const;
