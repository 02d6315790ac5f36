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

/*
 * The parts of upstream's responses that this service uses, in upstream's spelling. The records of a response stay
 * unread here; the mappers read them one by one (`mapRecords`), so that a bad record costs only itself. What a reader
 * cannot read is undefined. The readers are written out because a response has thousands of fields: functions that
 * zod compiles from schemas take several times as long and leave several times as much memory behind.
 */

/** Records beyond these are not looked at. The longest real lists had 40 departures, and 8 journeys of 5 legs. */
const MAX_STOP_EVENTS = 200;
const MAX_JOURNEYS = 50;
/** A journey with more legs is left out: without one of its legs it would be wrong. */
const MAX_LEGS = 20;
/** The whole list was said to have 3 MB; one of 104 kB was recorded. */
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

/** The list of notices of the whole network. */
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

/** An event without a vehicle cannot be read. */
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

/** The legs of a journey, unread. A journey without legs, or with more than any real one has, cannot be read. */
export function readJourney(value: unknown): { legs: readonly unknown[]; isAdditional: boolean } | undefined {
  const journey = readObject(value);
  const legs = firstElements(journey?.legs);
  return legs.length > 0 && legs.length <= MAX_LEGS
    ? { legs, isAdditional: journey?.isAdditional === true }
    : undefined;
}

/** A leg without its ends or without what goes there cannot be read. */
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
      /** Seconds, along the estimates. */
      duration: readNumber(leg.duration),
      /** Metres; walks only. */
      distance: readNumber(leg.distance),
      origin,
      destination,
      transportation,
      /** The stops at which the vehicle calls or that it passes, ends included, unread. */
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

/** Whether the vehicle stops there. What it passes has no times, and neither have the stops of some older responses. */
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
 * Only the system messages of a response without records are read: good responses carry "errors" too (-8011, -10015).
 * The same code means different things on different endpoints.
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
