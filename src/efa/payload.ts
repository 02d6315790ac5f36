import { readInfos } from './alerts.ts';
import { readArrival, readDeparture } from './realtime.ts';
import {
  firstElements,
  type JsonObject,
  MAX_ELEMENTS,
  readFlag,
  readList,
  readNumber,
  readObject,
  readRawText,
  readStrings,
  readText,
} from './response/field.ts';
import { readTransportation, readVehicleProperties } from './response/run.ts';
import { readStopPoint, readTimedStopPoint } from './stop-point.ts';

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

export type DepartureMonitorPayload = ReturnType<typeof readDepartureMonitor>;
export type LocationsPayload = ReturnType<typeof readLocations>;
export type TripPayload = ReturnType<typeof readTrip>;
export type StopEvent = NonNullable<ReturnType<typeof readStopEvent>>;
export type EfaLeg = NonNullable<ReturnType<typeof readLeg>>;

export function readDepartureMonitor(response: JsonObject) {
  return {
    systemMessages: readList(response.systemMessages, readSystemMessage),
    locations: firstElements(response.locations, MAX_ELEMENTS),
    stopEvents: firstElements(response.stopEvents, MAX_STOP_EVENTS),
  };
}

export function readLocations(response: JsonObject) {
  return {
    systemMessages: readList(response.systemMessages, readSystemMessage),
    locations: firstElements(response.locations),
  };
}

export function readTrip(response: JsonObject) {
  return {
    systemMessages: readList(response.systemMessages, readSystemMessage),
    journeys: firstElements(response.journeys, MAX_JOURNEYS),
  };
}

/** The list of notices for the whole network. */
export function readAddInfo(response: JsonObject) {
  return {
    systemMessages: readList(response.systemMessages, readSystemMessage),
    infos: firstElements(readObject(response.infos)?.current, MAX_NOTICES),
  };
}

function readSystemMessage(value: unknown) {
  const message = readObject(value);
  return message && { code: readNumber(message.code), text: readText(message.text) };
}

/** Undefined for an event without a vehicle. */
export function readStopEvent(value: unknown) {
  const event = readObject(value);
  const transportation = readTransportation(event?.transportation);
  return (
    event &&
    transportation && {
      isCancelled: readFlag(event.isCancelled),
      isRealtimeControlled: readFlag(event.isRealtimeControlled),
      realtimeStatus: readStrings(event.realtimeStatus),
      arrival: readArrival(event),
      departure: readDeparture(event),
      location: readStopPoint(event.location),
      transportation,
      infos: readInfos(event.infos),
      properties: readVehicleProperties(event.properties),
    }
  );
}

/** The unparsed legs of a journey. Undefined without legs, or with more than any real journey has. */
export function readJourney(value: unknown): { legs: readonly unknown[]; isAdditional: boolean } | undefined {
  const journey = readObject(value);
  const legs = firstElements(journey?.legs);
  return legs.length > 0 && legs.length <= MAX_LEGS
    ? { legs, isAdditional: journey?.isAdditional === true }
    : undefined;
}

/** Undefined for a leg without its ends or its vehicle. */
export function readLeg(value: unknown) {
  const leg = readObject(value);
  const origin = readTimedStopPoint(leg?.origin);
  const destination = readTimedStopPoint(leg?.destination);
  const transportation = readTransportation(leg?.transportation);
  return (
    leg &&
    origin &&
    destination &&
    transportation && {
      isCancelled: readFlag(leg.isCancelled),
      isRealtimeControlled: readFlag(leg.isRealtimeControlled),
      realtimeStatus: readStrings(leg.realtimeStatus),
      /** Seconds, based on the estimates. */
      duration: readNumber(leg.duration),
      /** Metres; walks only. */
      distance: readNumber(leg.distance),
      origin,
      destination,
      transportation,
      /** The stops where the vehicle calls or that it passes, including both ends, unparsed. */
      stopSequence: firstElements(leg.stopSequence),
      coords: leg.coords,
      infos: readInfos(leg.infos),
      /** Hints for the rider, such as when gates close. */
      hints: readList(leg.hints, (hint) => readText(readObject(hint)?.content)),
      footPathInfo: readList(leg.footPathInfo, readFootPathInfo),
      interchange: readInterchange(leg.interchange),
      properties: readVehicleProperties(leg.properties),
    }
  );
}

/** Whether the vehicle stops there. Passed stations have no times; neither have the stops of some older responses. */
export function isTimedCall(value: unknown): boolean {
  const call = readObject(value);
  return readRawText(call?.arrivalTimePlanned) !== undefined || readRawText(call?.departureTimePlanned) !== undefined;
}

function readFootPathInfo(value: unknown) {
  const footPath = readObject(value);
  return footPath && { position: readRawText(footPath.position), duration: readNumber(footPath.duration) };
}

function readInterchange(value: unknown) {
  const interchange = readObject(value);
  return interchange && { coords: interchange.coords };
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
