import { type StopPoint, stopEventSchema, stopPointSchema } from '../payload.ts';

/** What an answer to one kind of question has to hold. */
export interface ExpectedAnswer {
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

/** Each of these lists belongs to one endpoint only; `locations` stands in answers of several. */
const LISTS_OF_ONE_ENDPOINT: readonly ListName[] = ['stopEvents', 'journeys'];

/** -4000 to -4199: no connection, day outside the timetable, no departures, and the like. */
const TIMETABLE_MESSAGES = Array.from({ length: 200 }, (_, index) => -4000 - index);
const NO_MATCH_MESSAGES = [-8020, -2000];
/** The name has one match or several, which follow as `locations`. */
const MATCH_MESSAGES = [-8010, -8011, 1];
/** Only trips have an origin and a destination. */
const TEXT_OF_TRIPS = /^(origin|destination|via):/;

export const EXPECTED_BOARD: ExpectedAnswer = {
  list: 'stopEvents',
  messages: [...NO_MATCH_MESSAGES, ...MATCH_MESSAGES, ...TIMETABLE_MESSAGES],
};

/** A place without stops around it was never recorded; the other endpoints leave out lists that are empty. */
export const EXPECTED_NEARBY: ExpectedAnswer = {
  list: 'locations',
  messages: NO_MATCH_MESSAGES,
  mayLeaveOutList: true,
  isOwnRecord: (record) => hasDistance(record) || !('matchQuality' in record),
};

export const EXPECTED_NAMES: ExpectedAnswer = {
  list: 'locations',
  messages: NO_MATCH_MESSAGES,
  isOwnRecord: (record) => 'matchQuality' in record || !hasDistance(record),
};

/** -302 is "no connection" too, -9999 "trip cancelled". */
export const EXPECTED_TRIP: ExpectedAnswer = {
  list: 'journeys',
  messages: [...NO_MATCH_MESSAGES, ...TIMETABLE_MESSAGES, -302, -9999],
};

/** What all answers have in common. */
interface AnyPayload {
  systemMessages: readonly { code?: number | undefined; text?: string | undefined }[];
  locations?: readonly unknown[];
  stopEvents?: readonly unknown[];
  journeys?: readonly unknown[];
}

/** Whether the answer is one of the expected endpoint; `json` as received, `payload` as read from it. */
export function isExpected(expected: ExpectedAnswer, json: object, payload: AnyPayload): boolean {
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
 * Whether a board can be that of the stop asked for. The authority answers for the stop of a platform, and under its
 * global identifier when asked for its internal one, so it is enough that one identifier on the board is the one asked
 * for or is of the same area (the first two digits of a global identifier, from the postcode).
 */
export function isBoardOf(stopId: string, payload: AnyPayload): boolean {
  const { systemMessages, locations = [], stopEvents = [] } = payload;
  if (stopEvents.length === 0) {
    // A list of names with a best match is a search's answer. On a board, names stand for an unknown stop.
    const isListOfNames = systemMessages.some(({ code = 0 }) => MATCH_MESSAGES.includes(code));
    return !(isListOfNames && locations.some((location) => stopPointSchema.safeParse(location).data?.isBest));
  }
  const asked = stopId.toUpperCase();
  const ids = [
    ...locations.flatMap((location) => identifiersOf(stopPointSchema.safeParse(location).data)),
    ...stopEvents.flatMap((event) => identifiersOf(stopEventSchema.safeParse(event).data?.location)),
  ];
  return ids.length === 0 || ids.some((id) => id === asked || areaOf(id) === areaOf(asked));
}

function identifiersOf(point: StopPoint | undefined): string[] {
  if (!point) return [];
  const own = [point.id, point.properties?.stopId].filter((id) => id !== undefined);
  return [...own, ...identifiersOf(point.parent)];
}

function areaOf(id: string): string {
  return id.replace(/^G/, '').slice(0, 2);
}

function hasDistance(record: object): boolean {
  const { properties } = record as { properties?: unknown };
  return typeof properties === 'object' && properties !== null && 'distance' in properties;
}
