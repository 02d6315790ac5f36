import { ownText } from '../own-memory.ts';
import {
  EXPECTED_BOARD,
  EXPECTED_NAMES,
  EXPECTED_NEARBY,
  EXPECTED_TRIP,
  type ExpectedResponse,
  isBoardOf,
  isExpected,
} from './expected-response.ts';
import { type DepartureMonitorPayload, readDepartureMonitor, readLocations, readTrip } from './payload.ts';
import {
  type DepartureMonitorRequest,
  type EfaQuery,
  toCoordQuery,
  toDepartureMonitorQuery,
  toStopFinderQuery,
  toTripQuery,
} from './request.ts';
import { type JsonObject, readObject } from './response/field.ts';

/** The class that decides how long an answer is fresh; `upstream/freshness-window.ts` has the durations. */
export type FreshnessClass = 'departuresNow' | 'departuresAtTime' | 'trips' | 'nearby' | 'search';

/** Parameters of every request: the answer's format and its coordinate system. */
const RAPID_JSON = { outputFormat: 'rapidJSON', coordOutputFormat: 'EPSG:4326' };

/**
 * The kinds of questions that the authority is asked: endpoint, fixed parameters, how the question is written as the
 * other parameters, the reader of the answer, what the answer has to hold, and its freshness class. A new kind is one
 * entry.
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
    read: readDepartureMonitor,
    expected: EXPECTED_BOARD,
    freshness: ({ at, isForNow }: DepartureMonitorRequest) =>
      at === null || isForNow ? 'departuresNow' : 'departuresAtTime',
  },
  /**
   * `BUS_POINT` lists platforms of all modes, with the distance to where a rider boards; `STOP` lists stops with modes.
   */
  coord: {
    endpoint: 'coord',
    parameters: { ...RAPID_JSON, inclFilter: '1', type_1: 'BUS_POINT', type_2: 'STOP' },
    toQuery: toCoordQuery,
    read: readLocations,
    expected: EXPECTED_NEARBY,
    freshness: () => 'nearby',
  },
  /** Type "any", because type "stop" answers free text with a list without coordinates, or with nothing. */
  stopFinder: {
    endpoint: 'stop_finder',
    parameters: { ...RAPID_JSON, type_sf: 'any', TfNSWSF: 'true' },
    toQuery: toStopFinderQuery,
    read: readLocations,
    expected: EXPECTED_NAMES,
    freshness: () => 'search',
  },
  trip: {
    endpoint: 'trip',
    parameters: { ...RAPID_JSON, type_origin: 'any', type_destination: 'any', TfNSWTR: 'true' },
    toQuery: toTripQuery,
    read: readTrip,
    expected: EXPECTED_TRIP,
    freshness: () => 'trips',
  },
} as const satisfies Record<string, RequestKind>;

interface RequestKind {
  endpoint: string;
  parameters: EfaQuery;
  toQuery: (request: never) => EfaQuery;
  read: (response: JsonObject) => object;
  expected: ExpectedResponse;
  freshness: (request: never) => FreshnessClass;
}

type Kinds = typeof KINDS;
type Kind = keyof Kinds;

/** A question to the authority, told apart by `kind`. */
export type UpstreamRequest = { [Name in Kind]: { kind: Name } & Parameters<Kinds[Name]['toQuery']>[0] }[Kind];

/** What the authority answers to such a question. */
export type PayloadOf<Asked extends UpstreamRequest> = ReturnType<Kinds[Asked['kind']]['read']>;

/** The request to send. */
export function toRequest(request: UpstreamRequest): { endpoint: string; query: EfaQuery } {
  const { endpoint, parameters } = KINDS[request.kind];
  return { endpoint, query: { ...parameters, ...writeQuery(request) } };
}

/** False for the answer of another endpoint, and for the board of another stop. */
export function isResponseTo<Asked extends UpstreamRequest>(
  request: Asked,
  json: object,
  payload: PayloadOf<Asked>,
): boolean {
  if (!isExpected(KINDS[request.kind].expected, json, payload)) return false;
  return request.kind !== 'departureMonitor' || isBoardOf(request.stopId, payload as DepartureMonitorPayload);
}

/** `json` is the answer as received; what is no object reads as an answer without anything. */
export function readResponse<Asked extends UpstreamRequest>({ kind }: Asked, json: unknown): PayloadOf<Asked> {
  return KINDS[kind].read(readObject(json) ?? {}) as PayloadOf<Asked>;
}

export function freshnessClassOf(request: UpstreamRequest): FreshnessClass {
  return KINDS[request.kind].freshness(request as never);
}

/** UpstreamRequests with the same key share one answer. The key is the freshness class and the request to the authority. */
export function requestKey(request: UpstreamRequest): string {
  const { endpoint } = KINDS[request.kind];
  return ownText(`${freshnessClassOf(request)}:${endpoint}?${new URLSearchParams(writeQuery(request))}`);
}

function writeQuery(request: UpstreamRequest): EfaQuery {
  return KINDS[request.kind].toQuery(request as never);
}
