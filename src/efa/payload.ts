import { parseInfos } from './alerts.ts';
import { parseTimes } from './realtime.ts';
import {
  firstElements,
  type JsonObject,
  MAX_ELEMENTS,
  parseFlag,
  parseList,
  parseNumber,
  parseObject,
  parseRawText,
  parseStrings,
  parseText,
} from './response/field.ts';
import { parseTransportation, parseVehicleProperties } from './response/run.ts';
import { parseStopPoint, parseTimedStopPoint } from './stop-point.ts';

/**
 * The parts of upstream's responses that this service uses, in upstream's spelling. Records stay unparsed here; mappers read
 * them one by one (`mapRecords`), so that a bad record does not affect others. Unreadable values are undefined. The readers are
 * handwritten because a response has thousands of fields: functions compiled by zod are several times slower and leave several
 * times as much garbage.
 */

/** Further records are ignored. The longest real lists had 40 departures, and 8 journeys of 5 legs. */
const MAX_STOP_EVENTS = 200;
const MAX_JOURNEYS = 50;
/** Journeys with more legs are left out: without one of its legs, a journey would be wrong. */
const MAX_LEGS = 20;
/** The whole list reportedly has 3 MB; one of 104 kB was recorded. */
const MAX_NOTICES = 5000;

/** Upstream's messages, which any response may have. */
interface AnyPayload {
  systemMessages: { code: number | undefined; text: string | undefined }[];
}

/** A response of `departure_mon`. */
export interface DepartureMonitorPayload extends AnyPayload {
  locations: readonly unknown[];
  stopEvents: readonly unknown[];
}

/** A response of `stop_finder` or `coord`. */
export interface LocationsPayload extends AnyPayload {
  locations: readonly unknown[];
}

/** A response of `trip`. */
export interface TripPayload extends AnyPayload {
  journeys: readonly unknown[];
}

export type StopEvent = NonNullable<ReturnType<typeof parseStopEvent>>;
export type EfaLeg = NonNullable<ReturnType<typeof parseLeg>>;

export function parseDepartureMonitor(response: JsonObject): DepartureMonitorPayload {
  return {
    systemMessages: parseList(response.systemMessages, parseSystemMessage),
    locations: firstElements(response.locations, MAX_ELEMENTS),
    stopEvents: firstElements(response.stopEvents, MAX_STOP_EVENTS),
  };
}

export function parseLocations(response: JsonObject): LocationsPayload {
  return {
    systemMessages: parseList(response.systemMessages, parseSystemMessage),
    locations: firstElements(response.locations),
  };
}

export function parseTrip(response: JsonObject): TripPayload {
  return {
    systemMessages: parseList(response.systemMessages, parseSystemMessage),
    journeys: firstElements(response.journeys, MAX_JOURNEYS),
  };
}

/** The list of notices for the whole network. */
export function parseAddInfo(response: JsonObject) {
  return {
    systemMessages: parseList(response.systemMessages, parseSystemMessage),
    infos: firstElements(parseObject(response.infos)?.current, MAX_NOTICES),
  };
}

function parseSystemMessage(value: unknown) {
  const message = parseObject(value);
  return message && { code: parseNumber(message.code), text: parseText(message.text) };
}

/** Undefined for an event without a vehicle. */
export function parseStopEvent(value: unknown) {
  const event = parseObject(value);
  const transportation = parseTransportation(event?.transportation);
  return (
    event &&
    transportation && {
      isCancelled: parseFlag(event.isCancelled),
      isRealtimeControlled: parseFlag(event.isRealtimeControlled),
      realtimeStatus: parseStrings(event.realtimeStatus),
      arrival: parseTimes(event, 'arrival'),
      departure: parseTimes(event, 'departure'),
      location: parseStopPoint(event.location),
      transportation,
      infos: parseInfos(event.infos),
      properties: parseVehicleProperties(event.properties),
    }
  );
}

/** The unparsed legs of a journey. Undefined without legs, or with more than any real journey has. */
export function parseJourney(value: unknown): { legs: readonly unknown[]; isAdditional: boolean } | undefined {
  const journey = parseObject(value);
  const legs = firstElements(journey?.legs);
  return legs.length > 0 && legs.length <= MAX_LEGS
    ? { legs, isAdditional: journey?.isAdditional === true }
    : undefined;
}

/** Undefined for a leg without its ends or its vehicle. */
export function parseLeg(value: unknown) {
  const leg = parseObject(value);
  const origin = parseTimedStopPoint(leg?.origin);
  const destination = parseTimedStopPoint(leg?.destination);
  const transportation = parseTransportation(leg?.transportation);
  return (
    leg &&
    origin &&
    destination &&
    transportation && {
      isCancelled: parseFlag(leg.isCancelled),
      isRealtimeControlled: parseFlag(leg.isRealtimeControlled),
      realtimeStatus: parseStrings(leg.realtimeStatus),
      /** Seconds, based on the estimates. */
      duration: parseNumber(leg.duration),
      /** Metres; walks only. */
      distance: parseNumber(leg.distance),
      origin,
      destination,
      transportation,
      /** The stops where the vehicle calls or that it passes, including both ends, unparsed. */
      stopSequence: firstElements(leg.stopSequence),
      coords: leg.coords,
      infos: parseInfos(leg.infos),
      /** Hints for the rider, such as when gates close. */
      hints: parseList(leg.hints, (hint) => parseText(parseObject(hint)?.content)),
      footPathInfo: parseList(leg.footPathInfo, parseFootPathInfo),
      interchange: parseObject(leg.interchange),
      properties: parseVehicleProperties(leg.properties),
    }
  );
}

/** Whether the vehicle stops there. Passed stations have no times; neither have the stops of some older responses. */
export function isTimedCall(value: unknown): boolean {
  const call = parseObject(value);
  return parseRawText(call?.arrivalTimePlanned) !== undefined || parseRawText(call?.departureTimePlanned) !== undefined;
}

function parseFootPathInfo(value: unknown) {
  const footPath = parseObject(value);
  return footPath && { position: parseRawText(footPath.position), duration: parseNumber(footPath.duration) };
}

/*
 * System messages are read only if a response has no records: good responses carry "errors" too (-8011, -10015). A code means
 * different things on different endpoints.
 */

const UNKNOWN_STOP_CODES: readonly (number | undefined)[] = [-8020, -2000, -4002, -4003, -4004, -4005];
const DATE_INVALID_CODE = -4001;
const SAME_PLACE_CODE = -4007;

export function findUnknownStopMessage(messages: TripPayload['systemMessages']) {
  return messages.find((message) => UNKNOWN_STOP_CODES.includes(message.code));
}

export function saysDateInvalid(messages: TripPayload['systemMessages']): boolean {
  return messages.some((message) => message.code === DATE_INVALID_CODE);
}

export function saysSamePlace(messages: TripPayload['systemMessages']): boolean {
  return messages.some((message) => message.code === SAME_PLACE_CODE);
}
