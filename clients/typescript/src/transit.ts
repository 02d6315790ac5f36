import type * as api from './openapi.ts';
import { createSender, type RequestOptions, type TransitOptions } from './request.ts';
import { followStream, type StreamOptions } from './stream.ts';

export type * from './openapi.ts';
export { type RequestOptions, TransitError, type TransitOptions } from './request.ts';
export type { StreamOptions } from './stream.ts';

/** What the generated types say about an operation. */
interface Described {
  path?: unknown;
  query?: unknown;
  url: string;
}

type Given<Part> = [Part] extends [undefined] ? unknown : NonNullable<Part>;

/** The parameters of an operation, from path and query. Responses are JSON, never GeoJSON. */
export type ParametersOf<Operation extends Described> = Omit<
  Given<Operation['path']> & Given<Operation['query']>,
  'format'
>;

export interface PageOptions extends RequestOptions {
  /** `next`: later departures or journeys, `prev`: earlier ones. Default: `next`. */
  rel?: 'next' | 'prev';
}

export type Transit = ReturnType<typeof createTransit>;

/** A client of the service at `url`. Functions have the names of the operations in its documentation. */
export function createTransit(options: TransitOptions) {
  const sender = createSender(options);

  function get<Operation extends Described, Body>(url: Operation['url']) {
    return async (parameters: ParametersOf<Operation>, options?: RequestOptions): Promise<Body> =>
      (await sender.send(toPath(url, parameters), options)).body as Body;
  }

  /** A list with pages: `for await (const page of transit.planTrips.pages(…))`. */
  function paged<Operation extends Described, Body>(url: Operation['url']) {
    async function* pages(
      parameters: ParametersOf<Operation>,
      { rel = 'next', signal }: PageOptions = {},
    ): AsyncGenerator<Body, void, void> {
      let path: string | null = toPath(url, parameters);
      while (path !== null) {
        const { body, headers } = await sender.send(path, signal && { signal });
        yield body as Body;
        path = linkedPath(url, headers, rel);
      }
    }
    return Object.assign(get<Operation, Body>(url), { pages });
  }

  function stream<Operation extends Described, Body>(url: Operation['url']) {
    return (parameters: ParametersOf<Operation>, options?: StreamOptions) =>
      followStream<Body>(sender, toPath(url, parameters), options);
  }

  return {
    getDepartures: paged<api.GetDeparturesData, api.GetDeparturesResponse>('/v1/departures'),
    getArrivals: paged<api.GetArrivalsData, api.GetArrivalsResponse>('/v1/arrivals'),
    getBoards: get<api.GetBoardsData, api.GetBoardsResponse>('/v1/boards'),
    getNearbyStops: get<api.GetNearbyStopsData, api.GetNearbyStopsResponse>('/v1/nearby'),
    searchStops: get<api.SearchStopsData, api.SearchStopsResponse>('/v1/stops/search'),
    searchPlaces: get<api.SearchPlacesData, api.SearchPlacesResponse>('/v1/places/search'),
    listStops: get<api.ListStopsData, api.ListStopsResponse>('/v1/stops'),
    getStop: get<api.GetStopData, api.GetStopResponse>('/v1/stops/{stop_id}'),
    planTrips: paged<api.PlanTripsData, api.PlanTripsResponse>('/v1/trips'),
    getJourney: get<api.GetJourneyData, api.GetJourneyResponse>('/v1/trips/{journey_id}'),
    listReachable: get<api.ListReachableData, api.ListReachableResponse>('/v1/reachable'),
    listTravelTimes: get<api.ListTravelTimesData, api.ListTravelTimesResponse>('/v1/travel-times'),
    listLines: get<api.ListLinesData, api.ListLinesResponse>('/v1/lines'),
    getLine: get<api.GetLineData, api.GetLineResponse>('/v1/lines/{line_id}'),
    getLineTimetable: get<api.GetLineTimetableData, api.GetLineTimetableResponse>('/v1/lines/{line_id}/timetable'),
    getLinePunctuality: get<api.GetLinePunctualityData, api.GetLinePunctualityResponse>(
      '/v1/lines/{line_id}/punctuality',
    ),
    listLineStatus: get<api.ListLineStatusData, api.ListLineStatusResponse>('/v1/lines/status'),
    listAlerts: get<api.ListAlertsData, api.ListAlertsResponse>('/v1/alerts'),
    getAlert: get<api.GetAlertData, api.GetAlertResponse>('/v1/alerts/{alert_id}'),
    getRun: get<api.GetRunData, api.GetRunResponse>('/v1/runs/{run_id}'),
    listVehicles: get<api.ListVehiclesData, api.ListVehiclesResponse>('/v1/vehicles'),
    listCarParks: get<api.ListCarParksData, api.ListCarParksResponse>('/v1/carparks'),
    getCarPark: get<api.GetCarParkData, api.GetCarParkResponse>('/v1/carparks/{carpark_id}'),
    streamDepartures: stream<api.StreamDeparturesData, api.StreamDeparturesResponse>('/v1/departures/stream'),
    streamJourney: stream<api.StreamJourneyData, api.StreamJourneyResponse>('/v1/trips/{journey_id}/stream'),
    streamAlerts: stream<api.StreamAlertsData, api.StreamAlertsResponse>('/v1/alerts/stream'),
    streamRun: stream<api.StreamRunData, api.StreamRunResponse>('/v1/runs/{run_id}/stream'),
    streamVehicles: stream<api.StreamVehiclesData, api.StreamVehiclesResponse>('/v1/vehicles/stream'),
    /** For servers: a token for an app or page, made with a secret key. */
    createToken: async (body: api.TokenRequest = {}, options?: RequestOptions) =>
      (await sender.send('/v1/tokens', { ...options, body })).body as api.CreateTokenResponse,
  };
}

/** Parameters in braces belong to the path, the others to the query. Lists are written with commas. */
function toPath(url: string, parameters: object): string {
  const given = new Map(Object.entries(parameters).filter(([, value]) => value !== undefined));
  const path = url.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(given.get(name));
    given.delete(name);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams([...given].map(([name, value]): [string, string] => [name, String(value)]));
  return given.size > 0 ? `${path}?${query}` : path;
}

/** Only the query of the link is used, so that no link can send the key elsewhere. Null at the end of the list. */
function linkedPath(url: string, headers: Headers, rel: string): string | null {
  for (const [, target, name] of (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g))
    if (name === rel && target) return url + target.slice(target.indexOf('?'));
  return null;
}
