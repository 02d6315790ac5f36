import { withoutG } from '../transit/region.ts';
import { type DepartureMonitorPayload, findUnknownStopMessage, saysDateInvalid } from './payload.ts';
import { parseTimes } from './realtime.ts';
import { parseObject } from './response/field.ts';
import { listIds, parseStopPoint, type StopPoint } from './stop-point.ts';

/** How to recognise a response to one kind of request. */
export interface ExpectedResponse {
  /** The list that contains the records of this endpoint. */
  list: 'stopEvents' | 'journeys' | 'locations' | 'infos';
  /** Codes of system messages that may replace the list and explain why it is missing. */
  messages: readonly number[];
  /** True if the endpoint may omit an empty list without a message. */
  mayLeaveOutList?: boolean;
  /** Distinguishes endpoints with the same list, by its first record. */
  isOwnRecord?: (record: object) => boolean;
}

/** Each of these lists belongs to one endpoint; `locations` is used by several. */
const LISTS_OF_ONE_ENDPOINT: readonly ExpectedResponse['list'][] = ['stopEvents', 'journeys', 'infos'];

/** -4000 to -4199: no connection, day outside the timetable, no departures, and the like. */
const TIMETABLE_MESSAGES = Array.from({ length: 200 }, (_, index) => -4000 - index);
const NO_MATCH_MESSAGES = [-8020, -2000];
/** The name has one or more matches, which follow as `locations`. */
const MATCH_MESSAGES = [-8010, -8011, 1];
/** Only trips have an origin and a destination. */
const TEXT_OF_TRIPS = /^(origin|destination|via):/;

export const EXPECTED_BOARD: ExpectedResponse = {
  list: 'stopEvents',
  messages: [...NO_MATCH_MESSAGES, ...MATCH_MESSAGES, ...TIMETABLE_MESSAGES],
};

/** The list may be missing: no response without stops was recorded, but other endpoints omit empty lists. */
export const EXPECTED_NEARBY: ExpectedResponse = {
  list: 'locations',
  messages: NO_MATCH_MESSAGES,
  mayLeaveOutList: true,
  isOwnRecord: (record) => hasDistance(record) || !('matchQuality' in record),
};

export const EXPECTED_NAMES: ExpectedResponse = {
  list: 'locations',
  messages: NO_MATCH_MESSAGES,
  isOwnRecord: (record) => 'matchQuality' in record || !hasDistance(record),
};

/** -302 also means "no connection"; -9999 means "trip cancelled". */
export const EXPECTED_TRIP: ExpectedResponse = {
  list: 'journeys',
  messages: [...NO_MATCH_MESSAGES, ...TIMETABLE_MESSAGES, -302, -9999],
};

export const EXPECTED_NOTICES: ExpectedResponse = { list: 'infos', messages: [] };

/** Whether the response came from the expected endpoint; `json` as received, `payload` as parsed from it. */
export function isExpected(
  expected: ExpectedResponse,
  json: object,
  payload: Pick<DepartureMonitorPayload, 'systemMessages'> & {
    [List in ExpectedResponse['list']]?: readonly unknown[];
  },
): boolean {
  const { list, messages, mayLeaveOutList = false, isOwnRecord } = expected;
  if (LISTS_OF_ONE_ENDPOINT.some((name) => name !== list && name in json)) return false;
  if (list in json) {
    const [first] = payload[list] ?? [];
    return !isOwnRecord || typeof first !== 'object' || first === null || isOwnRecord(first);
  }
  const isKnown = ({ code = 0, text = '' }: (typeof payload.systemMessages)[number]) =>
    messages.includes(code) && (list === 'journeys' || !TEXT_OF_TRIPS.test(text));
  return payload.systemMessages.some(isKnown) || (mayLeaveOutList && payload.systemMessages.length === 0);
}

/**
 * Whether the response is the board of the requested stop. A list of names with a best match is the response to a search. Without
 * a best match, it is the board of an unknown stop.
 */
export function isBoardOf(stopId: string, payload: DepartureMonitorPayload): boolean {
  const { systemMessages, locations, stopEvents } = payload;
  const isListOfNames = systemMessages.some(({ code = 0 }) => MATCH_MESSAGES.includes(code));
  const hasBestMatch = locations.some((location) => parseStopPoint(location)?.isBest);
  const isSearch = stopEvents.length === 0 && isListOfNames && hasBestMatch;
  return !isSearch && !isBoardOfAnotherStop(payload, stopId);
}

/** Whether the board has an arrival time or is empty. If `depArrMacro=arr` were ignored, it would list departures. */
export function listsArrivals({ stopEvents }: DepartureMonitorPayload): boolean {
  const arrives = (record: unknown) =>
    Object.values(parseTimes(parseObject(record) ?? {}, 'arrival')).some((time) => time !== undefined);
  return stopEvents.length === 0 || stopEvents.some(arrives);
}

function hasDistance(record: object): boolean {
  const { properties } = record as { properties?: unknown };
  return typeof properties === 'object' && properties !== null && 'distance' in properties;
}

/**
 * The stop of a board without departures; null if upstream does not know the requested stop. A location that is not the best
 * match is only a guess.
 */
export function findKnownStop(payload: DepartureMonitorPayload, stopId: string): StopPoint | null {
  const location = listLocations(payload)[0];
  const isMeant = location?.isBest || (location && isStop(location, stopId));
  const isRefused = findUnknownStopMessage(payload.systemMessages) || saysDateInvalid(payload.systemMessages);
  return location && isMeant && !isRefused && !isBoardOfAnotherStop(payload, stopId) ? location : null;
}

/**
 * Whether the response is a board of a different stop than requested. Upstream may resolve an ID to another one of the same
 * stop: an internal number to the stop, or a platform to its stop. A platform without departures is not mentioned on its stop's
 * board, so a number of the same region is accepted.
 */
export function isBoardOfAnotherStop(payload: DepartureMonitorPayload, stopId: string): boolean {
  const locations = listLocations(payload);
  if (payload.stopEvents.length === 0 && !locations[0]?.isBest) return false;
  const isRequested = (point: StopPoint) => isStop(point, stopId);
  if (locations.some(isRequested) || listEventLocations(payload).some(isRequested)) return false;
  if (STATION.test(stopId) || STREET_STOP.test(stopId) || INTERNAL.test(stopId)) return true;
  return !locations.some((location) => mayBeStop(listIds(location), stopId));
}

/**
 * Whether a point with these IDs may be the requested stop, one of its platforms or a neighbour, judging by its number. True
 * for kinds of IDs that cannot be compared.
 */
export function mayBeStop(ids: readonly string[], stopId: string): boolean {
  const requestedId = withoutG(stopId);
  const numbers = ids.map(withoutG).filter((id) => NUMBER.test(id));
  if (ids.includes(stopId) || !NUMBER.test(requestedId) || numbers.length === 0) return true;
  // A station's number begins with its postcode; its platforms may have the postcode of the neighbouring suburb.
  const length = STATION.test(requestedId) ? 4 : 2;
  return numbers.some((number) => number.slice(0, length) === requestedId.slice(0, length));
}

/** Public number of a stop or platform: postcode and serial number. */
const NUMBER = /^\d{5,7}$/;
/** Nearly all stations and interchanges have six digits ending in zero; platforms hardly ever do. */
const STATION = /^\d{5}0$/;
const STREET_STOP = /^G/;
/** Upstream's internal number of a stop. The board of such a stop repeats it. */
const INTERNAL = /^10\d{6}$/;

/** The ID of a street stop is "G" and the number of one of its poles. */
function isStop(point: StopPoint, stopId: string): boolean {
  return listIds(point).some((id) => withoutG(id) === withoutG(stopId));
}

function listLocations({ locations }: DepartureMonitorPayload): StopPoint[] {
  return locations.flatMap((location) => parseStopPoint(location) ?? []);
}

function listEventLocations({ stopEvents }: DepartureMonitorPayload): StopPoint[] {
  return stopEvents.flatMap((event) => parseStopPoint(parseObject(event)?.location) ?? []);
}
