import type { UpstreamResponse } from '../efa/ask.ts';
import type { DepartureMonitorPayload, LocationsPayload, TripPayload } from '../efa/payload.ts';
import { findMode } from '../efa/product-class.ts';
import type { UpstreamRequest } from '../efa/request.ts';
import { firstElements, type JsonObject, readFlag, readNumber, readObject } from '../efa/response/field.ts';
import {
  findLocality,
  findOwnPosition,
  isRealName,
  listModes,
  readStopPoint,
  type StopPoint,
  withoutLocality,
} from '../efa/stop-point.ts';
import type { Mode } from '../transit/mode.ts';
import type { NamedStop, StopRegister } from './register.ts';
import { STOP_ID } from './table.ts';

/** Learns every stop that a response of upstream names. */
export function learnStops(register: StopRegister) {
  return (request: UpstreamRequest, response: UpstreamResponse<unknown>) => {
    const visits = listVisits(request.kind, response.payload);
    // Journeys name the same stops again and again.
    for (const { place, mode } of new Map(visits.map((visit) => [keyOf(visit), visit])).values()) {
      const stop = readNamedStop(place, mode);
      if (stop) register.learn(stop);
    }
  };
}

/** A place of a response, unread, and the mode of the vehicle that calls there; null where none does. */
interface Visit {
  place: unknown;
  mode: Mode | null;
}

function keyOf({ place, mode }: Visit): string {
  return `${readObject(place)?.id} ${mode}`;
}

function listVisits(kind: UpstreamRequest['kind'], payload: unknown): Visit[] {
  if (kind === 'trip') {
    const legs = (payload as TripPayload).journeys.flatMap((journey) => firstElements(readObject(journey)?.legs));
    return legs.map(readObject).flatMap((leg) => {
      const places = [leg?.origin, leg?.destination, ...firstElements(leg?.stopSequence)];
      return places.map((place) => ({ place, mode: readMode(leg) }));
    });
  }
  // The stops of notices have neither positions nor modes.
  if (kind === 'notices') return [];
  const { locations, stopEvents = [] } = payload as LocationsPayload & Partial<DepartureMonitorPayload>;
  const events = stopEvents.map(readObject).map((event) => ({ place: event?.location, mode: readMode(event) }));
  return [...locations.map((place) => ({ place, mode: null })), ...events];
}

/** The mode of the vehicle of a leg or of a departure. */
function readMode(record: JsonObject | undefined): Mode | null {
  const product = readObject(readObject(record?.transportation)?.product);
  const productClass = readNumber(product?.class) ?? readNumber(product?.iconId);
  return productClass === undefined ? null : findMode(productClass);
}

/**
 * Null for what is no stop. Parents are not read: of stations they have the name of the platform. Upstream gives a platform the modes
 * of its whole station, so that its own are those of the vehicles that call there.
 */
function readNamedStop(value: unknown, mode: Mode | null): NamedStop | null {
  const point = readStopPoint(value);
  const isStop = point?.type === 'stop' || point?.type === 'platform';
  if (!point?.id || !isStop || !isGlobal(readObject(value)) || !STOP_ID.test(point.id)) return null;
  // A platform under the identifier of its station would give the station its name and position. Poles have a STOP_GLOBAL_ID.
  if (point.type === 'platform' && point.parent?.id === point.id && !point.properties?.STOP_GLOBAL_ID) return null;
  const { name, suburb } = readNames(point);
  if (!isRealName(name)) return null;
  const parentId = point.properties?.STOP_GLOBAL_ID ?? point.parent?.id ?? point.id;
  const hasParent = parentId !== point.id && STOP_ID.test(parentId);
  const position = findOwnPosition(point);
  return {
    stop_id: point.id,
    name,
    suburb,
    lat: position?.[0] ?? null,
    lng: position?.[1] ?? null,
    modes: hasParent ? (mode === null ? [] : [mode]) : listModes(point),
    parent_id: hasParent ? parentId : null,
    is_platform: hasParent,
  };
}

/** Stops of the list around a place have a name with the suburb at its end, and nothing else that tells the suburb. */
function readNames(point: StopPoint): { name: string; suburb: string } {
  const withPlace = point.type === 'stop' ? point.properties?.STOP_NAME_WITH_PLACE : undefined;
  const comma = withPlace?.lastIndexOf(', ') ?? -1;
  if (withPlace && comma > 0) return { name: withPlace.slice(0, comma), suburb: withPlace.slice(comma + 2) };
  return {
    name: withoutLocality(point, point.disassembledName ?? point.name)?.trim() ?? '',
    suburb: findLocality(point) ?? '',
  };
}

function isGlobal(place: JsonObject | undefined): boolean {
  return readFlag(place?.isGlobalId) ?? false;
}
