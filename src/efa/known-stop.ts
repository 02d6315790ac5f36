import { type DepartureMonitorPayload, findUnknownStopMessage, saysDateInvalid } from './payload.ts';
import { readObject } from './response/field.ts';
import { readStopPoint, type StopPoint } from './response/place.ts';
import { listIds } from './stop-point.ts';

/**
 * The stop of a board without departures; null when upstream does not know the stop asked for. A location that is
 * not the best match is only a guess at what the caller meant.
 */
export function findKnownStop(payload: DepartureMonitorPayload, stopId: string): StopPoint | null {
  const location = readLocations(payload)[0];
  const isMeant = location?.isBest || (location && isStop(location, stopId));
  const isRefused = findUnknownStopMessage(payload.systemMessages) || saysDateInvalid(payload.systemMessages);
  return location && isMeant && !isRefused && !isBoardOfAnotherStop(payload, stopId) ? location : null;
}

/**
 * Whether the response is a board, but not that of the stop asked for. Upstream may resolve an identifier to another
 * one of the same stop: an internal number to the stop, a platform to the stop it belongs to. A platform at which
 * nothing leaves is not mentioned on the board of its stop, so that a number of the same region has to do.
 */
export function isBoardOfAnotherStop(payload: DepartureMonitorPayload, stopId: string): boolean {
  const locations = readLocations(payload);
  if (payload.stopEvents.length === 0 && !locations[0]?.isBest) return false;
  const isAsked = (point: StopPoint) => isStop(point, stopId);
  if (locations.some(isAsked) || readEventLocations(payload).some(isAsked)) return false;
  if (STATION.test(stopId) || STREET_STOP.test(stopId) || INTERNAL.test(stopId)) return true;
  return !locations.some((location) => mayBeStop(listIds(location), stopId));
}

/**
 * Whether a point with these identifiers may be the stop asked for, a platform of it or one beside it: by its number.
 * True where the identifiers are of kinds that cannot be compared.
 */
export function mayBeStop(ids: readonly string[], stopId: string): boolean {
  const asked = withoutG(stopId);
  const numbers = ids.map(withoutG).filter((id) => NUMBER.test(id));
  if (ids.includes(stopId) || !NUMBER.test(asked) || numbers.length === 0) return true;
  // A station's number begins with its postcode; platforms may have that of the neighbouring suburb.
  const length = STATION.test(asked) ? 4 : 2;
  return numbers.some((number) => number.slice(0, length) === asked.slice(0, length));
}

/** Public number of a stop or platform: the postcode and a running number. */
const NUMBER = /^\d{5,7}$/;
/** Nearly all stations and interchanges have six digits and end in zero, platforms hardly ever do. */
const STATION = /^\d{5}0$/;
const STREET_STOP = /^G/;
/** Internal number of a stop, which answers repeat. */
const INTERNAL = /^10\d{6}$/;

/** A street stop is called "G" and the number of one of its poles. */
function isStop(point: StopPoint, stopId: string): boolean {
  return listIds(point).some((id) => withoutG(id) === withoutG(stopId));
}

function withoutG(stopId: string): string {
  return stopId.replace(/^G/, '');
}

function readLocations({ locations }: DepartureMonitorPayload): StopPoint[] {
  return locations.flatMap((location) => readStopPoint(location) ?? []);
}

function readEventLocations({ stopEvents }: DepartureMonitorPayload): StopPoint[] {
  return stopEvents.flatMap((event) => readStopPoint(readObject(event)?.location) ?? []);
}
