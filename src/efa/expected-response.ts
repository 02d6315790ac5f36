import { isBoardOfAnotherStop } from './known-stop.ts';
import type { DepartureMonitorPayload } from './payload.ts';
import { readStopPoint } from './response/place.ts';

/** What a response to one kind of request has to hold. */
export interface ExpectedResponse {
  /** The list of records that answers of this endpoint have. */
  list: ListName;
  /** Codes of the system messages that may stand in place of the list: they say why there is none. */
  messages: readonly number[];
  /** True when the endpoint may leave out an empty list without a message. */
  mayLeaveOutList?: boolean;
  /** Tells apart endpoints whose lists have the same name, by the first record. */
  isOwnRecord?: (record: object) => boolean;
}

type ListName = 'stopEvents' | 'journeys' | 'locations';

/** Each of these lists belongs to one endpoint only; `locations` stands in responses of several. */
const LISTS_OF_ONE_ENDPOINT: readonly ListName[] = ['stopEvents', 'journeys'];

/** -4000 to -4199: no connection, day outside the timetable, no departures, and the like. */
const TIMETABLE_MESSAGES = Array.from({ length: 200 }, (_, index) => -4000 - index);
const NO_MATCH_MESSAGES = [-8020, -2000];
/** The name has one match or several, which follow as `locations`. */
const MATCH_MESSAGES = [-8010, -8011, 1];
/** Only trips have an origin and a destination. */
const TEXT_OF_TRIPS = /^(origin|destination|via):/;

export const EXPECTED_BOARD: ExpectedResponse = {
  list: 'stopEvents',
  messages: [...NO_MATCH_MESSAGES, ...MATCH_MESSAGES, ...TIMETABLE_MESSAGES],
};

/** A place without stops around it was never recorded; the other endpoints leave out lists that are empty. */
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

/** -302 is "no connection" too, -9999 "trip cancelled". */
export const EXPECTED_TRIP: ExpectedResponse = {
  list: 'journeys',
  messages: [...NO_MATCH_MESSAGES, ...TIMETABLE_MESSAGES, -302, -9999],
};

/** What all responses have in common. */
interface AnyPayload {
  systemMessages: readonly { code?: number | undefined; text?: string | undefined }[];
  locations?: readonly unknown[];
  stopEvents?: readonly unknown[];
  journeys?: readonly unknown[];
}

/** Whether the response is one of the expected endpoint; `json` as received, `payload` as read from it. */
export function isExpected(expected: ExpectedResponse, json: object, payload: AnyPayload): boolean {
  const { list, messages, mayLeaveOutList = false, isOwnRecord } = expected;
  if (LISTS_OF_ONE_ENDPOINT.some((name) => name !== list && name in json)) return false;
  if (list in json) {
    const [first] = payload[list] ?? [];
    return !isOwnRecord || typeof first !== 'object' || first === null || isOwnRecord(first);
  }
  const isKnown = ({ code = 0, text = '' }: AnyPayload['systemMessages'][number]) =>
    messages.includes(code) && (list === 'journeys' || !TEXT_OF_TRIPS.test(text));
  return payload.systemMessages.some(isKnown) || (mayLeaveOutList && payload.systemMessages.length === 0);
}

/**
 * Whether the response is the board of the stop asked for. A list of names with a best match is the response to a search; on
 * a board, names stand for an unknown stop.
 */
export function isBoardOf(stopId: string, payload: DepartureMonitorPayload): boolean {
  const { systemMessages, locations, stopEvents } = payload;
  const isListOfNames = systemMessages.some(({ code = 0 }) => MATCH_MESSAGES.includes(code));
  const hasBestMatch = locations.some((location) => readStopPoint(location)?.isBest);
  const isSearch = stopEvents.length === 0 && isListOfNames && hasBestMatch;
  return !isSearch && !isBoardOfAnotherStop(payload, stopId);
}

function hasDistance(record: object): boolean {
  const { properties } = record as { properties?: unknown };
  return typeof properties === 'object' && properties !== null && 'distance' in properties;
}
